"""Money is released along the day of the campaign's own time zone, at most the total."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.ads.budgets.pacing import (
    TimeSpan,
    day_of,
    due_micros,
    next_release,
)

DAY = datetime(2026, 3, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def campaign(zone: str = "UTC", **budget: object) -> Any:
    return {
        "time_zone": zone,
        "flight": {"start": DAY, "end": DAY + timedelta(days=10)},
        "budget": {"total_micros": 10_000, "daily_micros": None, "pacing": "asap", **budget},
    }


def test_a_day_s_budget_is_due_by_the_end_of_the_day() -> None:
    daily = campaign(daily_micros=1_000)

    assert due_micros(daily, 300) == 1_300
    assert due_micros(campaign(), 300) == 10_000


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


def released_by(span: TimeSpan, micros: int, *times: datetime) -> int:
    """Return the sum of the releases at these times."""
    sum_micros, paced_at = 0, None
    for now in times:
        due = next_release(span, micros - sum_micros, paced_at, now)
        sum_micros, paced_at = sum_micros + due.micros, due.paced_at
    return sum_micros


def each_minute(start: datetime, end: datetime) -> list[datetime]:
    return [start + MINUTE * number for number in range((end - start) // MINUTE + 1)]


@pytest.mark.parametrize(
    ("hours", "released"),
    [(0, 0), (1, 10**9), (6, 6 * 10**9), (12, 12 * 10**9), (24, 24 * 10**9)],
)
def test_even_pacing_releases_the_day_s_budget_with_the_day(hours: int, released: int) -> None:
    day = TimeSpan(DAY, DAY + 24 * HOUR)

    found = released_by(day, 24 * 10**9, *each_minute(DAY, DAY + hours * HOUR))

    assert released - 24 * 60 <= found <= released
    assert found == released or hours not in {0, 24}


def test_on_the_day_of_23_hours_half_of_the_money_is_out_after_half_of_them() -> None:
    spring = day_of(datetime(2026, 3, 29, 12, tzinfo=UTC), "Europe/Copenhagen")
    half = spring.start + 11.5 * HOUR

    assert released_by(spring, 10**9, *each_minute(spring.start, half)) == pytest.approx(
        5 * 10**8, rel=1e-5
    )
    assert released_by(spring, 10**9, *each_minute(spring.start, spring.end)) == 10**9


def test_a_flight_that_begins_in_the_evening_spreads_its_day_over_the_evening() -> None:
    day = TimeSpan(DAY, DAY + 24 * HOUR)
    begun = DAY + timedelta(hours=20, minutes=20)

    assert released_by(day, 24_000, begun) == 24_000 // 221
    half = released_by(day, 24_000, *each_minute(begun, begun + 110 * MINUTE))
    assert half == pytest.approx(12_000, rel=0.01)
    assert released_by(day, 24_000, *each_minute(begun, day.end)) == 24_000


@pytest.mark.parametrize("hours_out", [0.3, 1, 6, 13])
def test_after_an_outage_the_rest_is_spread_over_the_rest(hours_out: float) -> None:
    day = TimeSpan(DAY, DAY + 24 * HOUR)
    morning = each_minute(DAY, DAY + 10 * HOUR)
    back = morning[-1] + hours_out * HOUR
    before = released_by(day, 24 * 10**6, *morning)

    at_once = released_by(day, 24 * 10**6, *morning, back) - before

    left_minutes = (day.end - back) / MINUTE
    assert 0 < at_once <= (24 * 10**6 - before) / left_minutes
    rest = each_minute(back, day.end)
    assert released_by(day, 24 * 10**6, *morning, *rest) == 24 * 10**6


@pytest.mark.parametrize("micros", [0, 1, 2, 3, 90, 1_440])
def test_amounts_below_a_micro_a_minute_are_released_along_the_day_too(micros: int) -> None:
    day = TimeSpan(DAY, DAY + 24 * HOUR)
    found = released_by(day, micros, *each_minute(DAY, DAY + 12 * HOUR))

    assert micros / 2 - 1.5 <= found <= micros / 2
    assert released_by(day, micros, *each_minute(DAY, day.end)) == micros


ZONES = ["UTC", "Europe/Copenhagen", "America/Havana", "Pacific/Apia", "Australia/Lord_Howe"]


@given(
    zone=st.sampled_from(ZONES),
    begun=st.integers(0, 10 * 365 * 24 * 60).map(lambda m: DAY + timedelta(minutes=m)),
    micros=st.integers(0, 10**15),
    gaps=st.lists(st.integers(0, 90), max_size=60),
)
def test_no_release_passes_its_share_and_all_is_released_by_the_end(
    zone: str, begun: datetime, micros: int, gaps: list[int]
) -> None:
    """Runs at any times, twice at one time or late: each releases at most a quarter of an hour's
    share of the money left over the time left."""
    day = day_of(begun, zone)
    left, paced_at, now = micros, None, begun
    for gap in gaps:
        now += gap * MINUTE
        if now >= day.end:
            break
        due = next_release(day, left, paced_at, now)
        served = min(15 * MINUTE, now - day.start)
        # A micro that needs longer than a quarter of an hour is the exception.
        assert 0 <= due.micros <= max(1, left * (served / (served + (day.end - now))) + 1)
        left, paced_at = left - due.micros, due.paced_at

    assert next_release(day, left, paced_at, day.end).micros == left


def test_nothing_is_released_before_a_flight() -> None:
    span = TimeSpan(DAY, DAY + HOUR)

    assert released_by(span, 7_000, *each_minute(DAY - HOUR, DAY)) == 0
    assert released_by(span, 6_000, *each_minute(DAY - HOUR, DAY + MINUTE)) == 100


def test_a_clock_that_is_behind_releases_nothing() -> None:
    span = TimeSpan(DAY, DAY + 24 * HOUR)

    assert next_release(span, 10**6, DAY + HOUR, DAY + HOUR - MINUTE) == (0, DAY + HOUR)
