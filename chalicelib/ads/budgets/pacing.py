"""How much of a campaign's budget may be out by now: pure functions over time."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from chalicelib.ads.inventory.campaigns import Schedule


@dataclass(frozen=True)
class Span:
    """A stretch of time, in UTC: from `start`, up to and without `end`."""

    start: datetime
    end: datetime

    def share_of(self, micros: int, now: datetime) -> int:
        """Return the part of an amount that falls to the time elapsed, rounded down."""
        elapsed = min(max(now - self.start, timedelta(0)), self.end - self.start)
        return micros * (elapsed // _STEP) // ((self.end - self.start) // _STEP)


_STEP = timedelta(milliseconds=1)


def day_of(now: datetime, time_zone: str) -> Span:
    """Return the calendar day of a time zone that holds `now`: 23 to 25 hours long."""
    return _day(now.astimezone(ZoneInfo(time_zone)).date(), time_zone)


@lru_cache(maxsize=1_024)
def _day(day: date, time_zone: str) -> Span:
    return Span(_midnight(day, time_zone), _midnight(day + timedelta(days=1), time_zone))


def _midnight(day: date, time_zone: str) -> datetime:
    """Return a day's first instant, also where the clock jumps over midnight or repeats it."""
    local = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(time_zone))
    return local.astimezone(UTC)


def budget_day(campaign: Schedule, now: datetime) -> Span:
    """Return the span that the campaign's money is released for: its day, or its flight."""
    if campaign["budget"]["daily_micros"] is None:
        return Span(campaign["flight"]["start"], campaign["flight"]["end"])
    return day_of(now, campaign["time_zone"])


def releasable_micros(campaign: Schedule, spent_before_micros: int, now: datetime) -> int:
    """Return how much may have been released by now, given what was spent before the day.

    `even` releases in proportion to the time elapsed, `asap` at once: of the day's budget
    if there is one, else of the total. Never more than the total.
    """
    budget = campaign["budget"]
    total, daily = budget["total_micros"], budget["daily_micros"]
    amount = total if daily is None else daily
    if budget["pacing"] == "even":
        amount = budget_day(campaign, now).share_of(amount, now)
    return min(total, amount if daily is None else spent_before_micros + amount)
