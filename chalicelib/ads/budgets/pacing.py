"""Pacing: the part of a campaign's budget due by now; pure functions over time."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from chalicelib.ads.inventory.campaigns import Schedule


@dataclass(frozen=True)
class TimeSpan:
    """A stretch of time, in UTC: from `start`, up to and without `end`."""

    start: datetime
    end: datetime

    def share_of(self, micros: int, now: datetime) -> int:
        """Return an amount's part in proportion to the time elapsed, rounded down."""
        elapsed = min(max(now - self.start, timedelta(0)), self.end - self.start)
        return micros * (elapsed // _STEP) // ((self.end - self.start) // _STEP)


_STEP = timedelta(milliseconds=1)


def day_of(now: datetime, time_zone: str) -> TimeSpan:
    """Return the calendar day of a time zone that holds `now`: 23 to 25 hours long."""
    return _day(now.astimezone(ZoneInfo(time_zone)).date(), time_zone)


@lru_cache(maxsize=1_024)
def _day(day: date, time_zone: str) -> TimeSpan:
    return TimeSpan(_midnight(day, time_zone), _midnight(day + timedelta(days=1), time_zone))


def _midnight(day: date, time_zone: str) -> datetime:
    """Return a day's first instant, also where the clock jumps over midnight or repeats it."""
    local = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(time_zone))
    return local.astimezone(UTC)


def budget_day(campaign: Schedule, now: datetime) -> TimeSpan:
    """Return the span of one release of the campaign's money: its day, or its flight."""
    if campaign["budget"]["daily_micros"] is None:
        return TimeSpan(campaign["flight"]["start"], campaign["flight"]["end"])
    return day_of(now, campaign["time_zone"])


def releasable_micros(campaign: Schedule, spent_before_micros: int, now: datetime) -> int:
    """Return the money due by now, from the spending before the day; at most the total.

    even: in proportion to the time elapsed. asap: at once. Both apply to the day's budget, or
    without days to the total.
    """
    budget = campaign["budget"]
    total, daily = budget["total_micros"], budget["daily_micros"]
    amount = total if daily is None else daily
    if budget["pacing"] == "even":
        amount = budget_day(campaign, now).share_of(amount, now)
    return min(total, amount if daily is None else spent_before_micros + amount)
