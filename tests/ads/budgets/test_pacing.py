"""Money is released along the day of the campaign's own time zone, at most the total."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.ads.budgets.pacing import TimeSpan, day_of, releasable_micros

DAY = datetime(2026, 3, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)


def campaign(zone: str = "UTC", **budget: object) -> Any:
    return {
        "time_zone": zone,
        "flight": {"start": DAY, "end": DAY + timedelta(days=10)},
        "budget": {"total_micros": 10_000, "daily_micros": None, "pacing": "asap", **budget},
    }


@pytest.mark.parametrize(
    ("hours", "released"), [(0, 0), (1, 41), (6, 250), (12, 500), (23, 958), (24, 0)]
)
def test_even_pacing_releases_the_day_s_budget_with_the_day(hours: int, released: int) -> None:
    even = campaign(daily_micros=1_000, pacing="even")

    assert releasable_micros(even, 0, DAY + hours * HOUR) == released


def test_asap_releases_the_day_s_budget_at_the_day_s_start() -> None:
    asap = campaign(daily_micros=1_000)

    assert releasable_micros(asap, 300, DAY) == 1_300


def test_a_budget_without_days_is_released_at_once_or_along_the_flight() -> None:
    assert releasable_micros(campaign(), 0, DAY) == 10_000
    assert releasable_micros(campaign(pacing="even"), 0, DAY + timedelta(days=1)) == 1_000


def test_no_more_is_released_than_the_total() -> None:
    daily = campaign(daily_micros=1_000)

    assert releasable_micros(daily, 9_500, DAY) == 10_000


@pytest.mark.parametrize(
    ("zone", "date", "hours"),
    [
        ("Europe/Copenhagen", datetime(2026, 3, 28, 12, tzinfo=UTC), 24),
        ("Europe/Copenhagen", datetime(2026, 3, 29, 12, tzinfo=UTC), 23),
        ("Europe/Copenhagen", datetime(2026, 10, 25, 12, tzinfo=UTC), 25),
        # Where midnight itself is skipped, and where it comes twice.
        ("Africa/Cairo", datetime(2026, 4, 24, 12, tzinfo=UTC), 23),
        ("America/Havana", datetime(2026, 11, 1, 12, tzinfo=UTC), 25),
        ("Australia/Lord_Howe", datetime(2026, 4, 5, 3, tzinfo=UTC), 24.5),
        ("Asia/Kathmandu", datetime(2026, 4, 5, 3, tzinfo=UTC), 24),
    ],
)
def test_a_day_is_as_long_as_its_time_zone_has_it(zone: str, date: datetime, hours: float) -> None:
    day = day_of(date, zone)

    assert (day.end - day.start) / HOUR == hours
    assert day.start <= date < day.end
    assert day_of(day.start, zone) == day
    assert day_of(day.end, zone).start == day.end


def test_on_the_day_of_23_hours_half_of_the_money_is_out_after_half_of_them() -> None:
    spring = campaign("Europe/Copenhagen", daily_micros=1_000, pacing="even")
    start = datetime(2026, 3, 28, 23, tzinfo=UTC)

    assert releasable_micros(spring, 0, start) == 0
    assert releasable_micros(spring, 0, start + 11.5 * HOUR) == 500
    assert releasable_micros(spring, 0, start + 22.999 * HOUR) == 999
    assert releasable_micros(spring, 0, start + 23 * HOUR) == 0


ZONES = ["UTC", "Europe/Copenhagen", "America/Havana", "Pacific/Apia", "Australia/Lord_Howe"]


@given(
    zone=st.sampled_from(ZONES),
    now=st.integers(0, 10 * 365 * 24 * 60).map(lambda m: DAY + timedelta(minutes=m)),
    micros=st.integers(0, 10**15),
)
def test_the_curve_of_any_day_never_falls_and_never_passes_its_budget(
    zone: str, now: datetime, micros: int
) -> None:
    day = day_of(now, zone)
    later = min(now + HOUR, day.end)

    assert day.start <= now < day.end
    assert 0 <= day.share_of(micros, now) <= day.share_of(micros, later) <= micros
    assert (day.share_of(micros, day.start), day.share_of(micros, day.end)) == (0, micros)


def test_a_span_s_share_is_nothing_before_it_and_all_after_it() -> None:
    span = TimeSpan(DAY, DAY + HOUR)

    assert span.share_of(7, DAY - HOUR) == 0
    assert span.share_of(7, DAY + 2 * HOUR) == 7
