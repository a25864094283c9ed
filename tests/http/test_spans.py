"""Spans of reports: days are counted as days, and the zone of a date decides what comes first."""

from datetime import UTC, date, datetime, timedelta

import pytest

from chalicelib.errors import InvalidRequest
from chalicelib.http import spans
from chalicelib.time_zones import Period

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMITS: list[tuple[Period, date]] = [
    ("minute", date(2026, 10, 24)),
    ("hour", date(2026, 9, 1)),
    ("day", date(2024, 9, 1)),
]


@pytest.mark.parametrize(("by", "start"), LIMITS)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Los_Angeles", "UTC", None])
def test_the_longest_span_of_dates_may_have_an_hour_more(
    by: Period, start: date, zone: str | None
) -> None:
    """Clocks go back in autumn: these days have an hour more than others."""
    longest = start + spans.MAX_SPAN[by]

    spans.check(start, longest, by, zone)
    with pytest.raises(ValueError, match="span at most"):
        spans.check(start, longest + timedelta(days=1), by, zone)


def test_the_longest_span_of_instants_is_exact() -> None:
    end = NOON + spans.MAX_SPAN["minute"]

    spans.check(NOON, end, "minute")
    with pytest.raises(ValueError, match="span at most"):
        spans.check(NOON, end + timedelta(milliseconds=1), "minute")


@pytest.mark.parametrize("bounds", [(NOON, NOON), (date(2026, 3, 2), date(2026, 3, 2))])
def test_an_empty_span_is_refused(bounds: tuple[date, date]) -> None:
    with pytest.raises(ValueError, match="start before it ends"):
        spans.check(*bounds, "day", None)


def test_an_instant_and_a_date_are_compared_in_the_zone_that_is_found_later() -> None:
    morning = datetime(2026, 3, 1, 6, tzinfo=UTC)
    spans.check(morning, date(2026, 3, 1), "hour", None)

    first, last = spans.span(morning, date(2026, 3, 1), "America/Los_Angeles")
    assert last - first == timedelta(hours=2)
    with pytest.raises(InvalidRequest):
        spans.span(morning, date(2026, 3, 1), "Europe/Berlin")
    with pytest.raises(ValueError, match="start before it ends"):
        spans.check(morning, date(2026, 2, 28), "hour", None)
    with pytest.raises(ValueError, match="start before it ends"):
        spans.check(morning, date(2026, 3, 1), "hour", "UTC")
