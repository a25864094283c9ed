"""Pacing: pure functions for the part of a campaign's budget that is due by now."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from chalicelib.ads.inventory.campaigns import Schedule
from chalicelib.time_zones import midnight

# The schedule's interval. The first release of a flight, and the first after a pause or an outage,
# pays for this time.
FIRST = timedelta(minutes=1)
# A longer time without a release is an outage without ads: it counts as FIRST.
LONGEST_GAP = timedelta(minutes=15)


@dataclass(frozen=True)
class TimeSpan:
    """A half-open span of time in UTC: `start` belongs to it, `end` does not."""

    start: datetime
    end: datetime


class Release(NamedTuple):
    """Money that falls due; all releases until now pay for the time up to `paced_at`."""

    micros: int
    paced_at: datetime | None


def next_release(
    span: TimeSpan, left_micros: int, paced_at: datetime | None, now: datetime
) -> Release:
    """Return the release of an even share of the money left: elapsed / (elapsed + ahead).

    elapsed: the time since `paced_at`; FIRST if `paced_at` is None (no release yet) or too long
    ago. ahead: the time left in the span. A share below one micro waits for a later release. After
    the span, return all money.
    """
    if now >= span.end:
        return Release(left_micros, now)
    ahead = span.end - now
    # At a slow pace one micro alone may take longer than LONGEST_GAP: that is no outage.
    gap = LONGEST_GAP + ahead / max(left_micros - 1, 1)
    is_gap = paced_at is None or now - paced_at > gap
    elapsed = FIRST if paced_at is None or is_gap else now - paced_at
    elapsed = max(min(elapsed, now - span.start), timedelta(0))
    whole = (elapsed + ahead) // _STEP
    micros = left_micros * (elapsed // _STEP) // whole
    if not micros and not is_gap:
        return Release(0, paced_at)
    # Advance only by the time that these whole micros pay; the next release pays for the rest.
    paid = -(-whole * micros // max(left_micros, 1)) * _STEP
    return Release(micros, now - elapsed + paid)


_STEP = timedelta(milliseconds=1)


def day_of(now: datetime, time_zone: str) -> TimeSpan:
    """Return the time zone's calendar day around `now`; usually 23 to 25 hours long."""
    return _day(now.astimezone(ZoneInfo(time_zone)).date(), time_zone)


@lru_cache(maxsize=1_024)
def _day(day: date, time_zone: str) -> TimeSpan:
    return TimeSpan(midnight(day, time_zone), midnight(day + timedelta(days=1), time_zone))


def budget_day(campaign: Schedule, now: datetime) -> TimeSpan:
    """Return the span of a campaign's budget: the present day if daily, else the flight."""
    if campaign["budget"]["daily_micros"] is None:
        return TimeSpan(campaign["flight"]["start"], campaign["flight"]["end"])
    return day_of(now, campaign["time_zone"])


def due_micros(campaign: Schedule, spent_before_micros: int) -> int:
    """Return the money due by the end of the budget day, given the commitment before that day.

    May exceed the total on the last day: that day runs at the full daily pace, and the total ends
    the campaign before midnight.
    """
    budget = campaign["budget"]
    daily = budget["daily_micros"]
    return budget["total_micros"] if daily is None else spent_before_micros + daily
