"""The time of the next letter, by the clock of its reader."""

import itertools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from chalicelib.notifications.mailing import NEVER, due_after

# North and south, halves and quarters of hours, a change of half an hour, changes at midnight, by
# another date in each half of the world, and zones that never change.
ZONES = (
    *("Europe/Berlin", "Europe/London", "Europe/Dublin", "Europe/Lisbon", "Europe/Helsinki"),
    *("Europe/Moscow", "Europe/Istanbul", "Europe/Chisinau", "Atlantic/Azores", "Africa/Cairo"),
    *("Africa/Casablanca", "America/New_York", "America/Chicago", "America/Denver"),
    *("America/Los_Angeles", "America/Anchorage", "America/St_Johns", "America/Halifax"),
    *("America/Havana", "America/Santiago", "America/Asuncion", "America/Nuuk"),
    *("Asia/Beirut", "Asia/Jerusalem", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tokyo"),
    *("Australia/Sydney", "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Chatham"),
)
YEAR = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("hour", [0, 1, 2, 3, 8, 23])
def test_a_daily_letter_comes_once_on_each_day_of_its_reader(zone: str, hour: int) -> None:
    """A whole year, so that both changes are in it."""
    rhythm, at = NEVER._replace(every="daily", hour=hour, time_zone=zone), YEAR
    seen = []
    while at < YEAR + timedelta(days=366):
        at = due_after(rhythm, at)
        seen.append(at.astimezone(ZoneInfo(zone)))

    # Where the clock skips the last hour of a day, its letter comes at midnight.
    days = [each.date() - timedelta(days=each.hour < hour) for each in seen]
    assert days == [days[0] + timedelta(days=number) for number in range(len(days))]
    late = [each for each in seen if (each.hour, each.minute) != (hour, 0)]
    assert len(late) <= 1
    for each in late:
        before = (each.astimezone(UTC) - timedelta(hours=2)).astimezone(each.tzinfo)
        assert before.utcoffset() != each.utcoffset(), "the clock has just skipped the hour"


@pytest.mark.parametrize("zone", ZONES)
def test_a_weekly_letter_comes_each_week_on_its_day(zone: str) -> None:
    rhythm, at = NEVER._replace(every="weekly", weekday=7, hour=2, time_zone=zone), YEAR
    seen = []
    for _ in range(52):
        at = due_after(rhythm, at)
        seen.append(at.astimezone(ZoneInfo(zone)).date())

    assert {each.isoweekday() for each in seen} == {7}
    assert seen[-1] - seen[0] == timedelta(weeks=51)


def test_an_hour_that_comes_twice_brings_one_letter() -> None:
    rhythm = NEVER._replace(every="daily", hour=2, time_zone="Europe/Berlin")
    first = due_after(rhythm, datetime(2025, 10, 25, 12, tzinfo=UTC))

    assert first == datetime(2025, 10, 26, 0, tzinfo=UTC)
    again = due_after(rhythm, first + timedelta(minutes=30))
    assert again == datetime(2025, 10, 27, 1, tzinfo=UTC)


def test_a_day_that_a_zone_skips_has_no_letter_and_stops_none() -> None:
    """Samoa had no 30 December 2011."""
    rhythm, at = NEVER._replace(every="daily", hour=8, time_zone="Pacific/Apia"), None
    at = datetime(2011, 12, 28, 12, tzinfo=UTC)
    seen = []
    for _ in range(4):
        at = due_after(rhythm, at)
        seen.append(at)

    assert len(set(seen)) == 4
    assert [later - earlier for earlier, later in itertools.pairwise(seen)] == [
        timedelta(days=1)
    ] * 3


def test_an_hourly_letter_comes_at_the_next_whole_hour() -> None:
    rhythm = NEVER._replace(every="hourly")

    assert due_after(rhythm, datetime(2026, 3, 1, 8, 0, tzinfo=UTC)).hour == 9
    assert due_after(rhythm, datetime(2026, 3, 1, 8, 59, 59, tzinfo=UTC)).hour == 9
