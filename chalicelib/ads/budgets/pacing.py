"""Pacing: the part of a campaign's budget due by now; pure functions over time."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from chalicelib.ads.inventory.campaigns import Schedule
from chalicelib.time_zones import midnight

# The schedule's interval: the first release of a flight, and after a pause or an outage, is the
# share of a minute.
FIRST = timedelta(minutes=1)
# A longer time without a release is an outage: its hours showed nothing.
LONGEST_GAP = timedelta(minutes=15)


@dataclass(frozen=True)
class TimeSpan:
    """A stretch of time, in UTC: from `start`, up to and without `end`."""

    start: datetime
    end: datetime


class Release(NamedTuple):
    """Money that becomes due, and the instant up to which it pays for the time."""

    micros: int
    paced_at: datetime | None


def next_release(
    span: TimeSpan, left_micros: int, paced_at: datetime | None, now: datetime
) -> Release:
    """Spread the money left over the time left, from the last release; None: there was none.

    The time since then takes its part of the rest of that time. Less than a micro waits.
    """
    if now >= span.end:
        return Release(left_micros, now)
    ahead = span.end - now
    # So long does one micro need, at most.
    gap = LONGEST_GAP + ahead / max(left_micros - 1, 1)
    is_gap = paced_at is None or now - paced_at > gap
    elapsed = FIRST if paced_at is None or is_gap else now - paced_at
    elapsed = max(min(elapsed, now - span.start), timedelta(0))
    whole = (elapsed + ahead) // _STEP
    micros = left_micros * (elapsed // _STEP) // whole
    if not micros and not is_gap:
        return Release(0, paced_at)
    # The next release pays for the rest of the time, less than a micro's.
    paid = -(-whole * micros // max(left_micros, 1)) * _STEP
    return Release(micros, now - elapsed + paid)


_STEP = timedelta(milliseconds=1)


def day_of(now: datetime, time_zone: str) -> TimeSpan:
    """Return the calendar day of a time zone that holds `now`: 23 to 25 hours long."""
    return _day(now.astimezone(ZoneInfo(time_zone)).date(), time_zone)


@lru_cache(maxsize=1_024)
def _day(day: date, time_zone: str) -> TimeSpan:
    return TimeSpan(midnight(day, time_zone), midnight(day + timedelta(days=1), time_zone))


def budget_day(campaign: Schedule, now: datetime) -> TimeSpan:
    """Return the span of one release of the campaign's money: its day, or its flight."""
    if campaign["budget"]["daily_micros"] is None:
        return TimeSpan(campaign["flight"]["start"], campaign["flight"]["end"])
    return day_of(now, campaign["time_zone"])


def due_micros(campaign: Schedule, spent_before_micros: int) -> int:
    """Return the money due by the end of the budget day, from the spending before it.

    On the last day it is more than the total, which ends the campaign in the middle of the day.
    """
    budget = campaign["budget"]
    daily = budget["daily_micros"]
    return budget["total_micros"] if daily is None else spent_before_micros + daily
