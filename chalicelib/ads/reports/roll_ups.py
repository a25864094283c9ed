"""Rolling reports up: days into weeks, days into months, months into years.

Weeks straddle months, so days make both. A run sums up a period from its parts and replaces it
whole (`$merge`), so a repeat changes nothing. It makes only the periods whose days have changed
since the last run. Source: "MongoDB Applied Design Patterns", ch. 4, hierarchical aggregation.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import partial

from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.ads.reports.counters import (
    COUNTED_FIELDS,
    DAYS,
    KEYS,
    MONTHS,
    WEEKS,
    YEARS,
    StoredReport,
)
from chalicelib.ads.reports.progress import PROGRESS
from chalicelib.database import Collection, Document
from chalicelib.jobs.schedules import run_all

# The time that each run reads again: longer than any batch and any run.
OVERLAP = timedelta(minutes=10)
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_LARGEST = 2**63 - 1
_Reports = Collection[StoredReport]


def roll_up(database: Database[Document], now: datetime) -> dict[str, int]:
    """Roll changed days up into weeks, months and years; return the number of each.

    A period that cannot be made keeps no other from being made, and the next run tries it again.
    """
    state = PROGRESS.of(database).find_one({"_id": "days"})
    since = state["until"] if state else _FIRST
    changed = {*DAYS.of(database).distinct("period", {"updated_at": {"$gte": since}})}
    changed |= {*(state.get("again", []) if state else [])}
    weeks = {week_of(day) for day in changed}
    months = {month_of(day) for day in changed}
    years = {year_of(month) for month in months}
    # The newest first: readers look at them, and a former period may be too large to be made.
    periods = [
        *((DAYS, WEEKS, week, week + 7 * _DAY) for week in sorted(weeks, reverse=True)),
        *((DAYS, MONTHS, month, _next_month(month)) for month in sorted(months, reverse=True)),
        *((MONTHS, YEARS, year, _next_year(year)) for year in sorted(years, reverse=True)),
    ]
    left = [start for _, _, start, _ in periods]

    def make(source: _Reports, target: _Reports, start: datetime, end: datetime) -> None:
        with deadlines.within(0.5):
            _make(database, source, target, start, end)
        left.remove(start)

    try:
        run_all((f"{each[1].name} {each[2]:%Y-%m-%d}", partial(make, *each)) for each in periods)
    finally:
        if changed:
            seen = {"$max": {"until": now - OVERLAP}, "$set": {"again": left}}
            PROGRESS.of(database).update_one({"_id": "days"}, seen, upsert=True)
    return {"weeks": len(weeks), "months": len(months), "years": len(years)}


def week_of(day: datetime) -> datetime:
    """Return the Monday of a day's week (ISO 8601)."""
    return day - day.weekday() * _DAY


def month_of(day: datetime) -> datetime:
    """Return the first day of a day's month."""
    return day.replace(day=1)


def year_of(day: datetime) -> datetime:
    """Return the first day of a day's year."""
    return day.replace(month=1, day=1)


def _next_year(year: datetime) -> datetime:
    return year.replace(year=year.year + 1)


def _next_month(month: datetime) -> datetime:
    return month_of(month + 31 * _DAY)


def _make(
    database: Database[Document],
    source: _Reports,
    target: _Reports,
    start: datetime,
    end: datetime,
) -> None:
    """Make a period of the target from the source's periods within it."""
    name = [part for key in KEYS for part in (f"$_id.{key}", "/")]
    row = {"_id": {"$concat": [*name, f"{start:%Y%m%d}"]}, "period": start}
    pipeline = [
        {"$match": {"period": {"$gte": start, "$lt": end}}},
        {"$group": {"_id": place_of(), **sums_of(COUNTED_FIELDS)}},
        {"$replaceWith": {"$mergeObjects": ["$_id", _whole(COUNTED_FIELDS), row]}},
        {"$merge": {"into": target.name, "whenMatched": "replace"}},
    ]
    source.of(database).aggregate(pipeline)


def place_of() -> Document:
    """Return the key of a report's documents, for a pipeline's `$group`."""
    return {key: f"${key}" for key in KEYS}


def _whole(names: Iterable[str]) -> Document:
    """Return the sums as whole numbers, at most the largest of 64 bits.

    The server makes a larger sum a fraction, and any caller may choose a conversion's value.
    """
    return {name: {"$min": [f"${name}", _LARGEST]} for name in names}


def sums_of(names: Iterable[str]) -> Document:
    """Return the sums of every counted field, for a pipeline's `$group`."""
    return {name: {"$sum": f"${name}"} for name in names}
