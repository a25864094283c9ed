"""Rolling reports up: days into weeks, days into months, months into years.

Weeks straddle months, so the two have ways of their own. A period is always made anew from
what it is made of and put in its place whole (`$merge`), so doing it again changes nothing,
and only the periods whose days have changed since the last run are made. Source: "MongoDB
Applied Design Patterns", ch. 4, hierarchical aggregation.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

from pymongo.database import Database

from chalicelib.ads import estimates
from chalicelib.ads.counts import COUNTS, DAYS, KEYS, MONTHS, WEEKS, YEARS
from chalicelib.database import Collection, Document


class Progress(TypedDict):
    """Until when a schedule has seen everything."""

    _id: str
    until: datetime


# How far each of the schedules that look at what is new has come.
PROGRESS = Collection("ad.progress", Progress)
# Looked at again in each run: longer than any batch, and any run of this, can take.
OVERLAP = timedelta(minutes=10)
# What click rates are estimated from.
ESTIMATED_FROM = timedelta(days=30)
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_LARGEST = 2**63 - 1


def roll_up(database: Database[Document], now: datetime) -> dict[str, int]:
    """Bring weeks, months and years up to date; return how many of each were made anew."""
    state = database[PROGRESS.name].find_one({"_id": "days"}) or {"until": _FIRST}
    changed = database[DAYS.name].distinct("period", {"updated_at": {"$gte": state["until"]}})
    weeks = {week_of(day) for day in changed}
    months = {month_of(day) for day in changed}
    years = {year_of(month) for month in months}
    _make(database, DAYS, WEEKS, ((week, week + 7 * _DAY) for week in weeks))
    _make(database, DAYS, MONTHS, ((month, _next_month(month)) for month in months))
    _make(database, MONTHS, YEARS, ((year, year.replace(year=year.year + 1)) for year in years))
    if changed:
        until = {"$max": {"until": now - OVERLAP}}
        database[PROGRESS.name].update_one({"_id": "days"}, until, upsert=True)
    return {"weeks": len(weeks), "months": len(months), "years": len(years)}


def estimate(database: Database[Document], now: datetime) -> None:
    """Put the impressions and clicks of each ad in each zone where click rates are estimated."""
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - ESTIMATED_FROM
    pipeline = [
        {"$match": {"period": {"$gte": since}}},
        {"$group": {"_id": _place(), **_sums(("impressions", "clicks"))}},
        {
            "$replaceWith": {
                "$mergeObjects": ["$_id", {n: f"${n}" for n in ("impressions", "clicks")}]
            }
        },
        {
            "$merge": {
                "into": estimates.COUNTS.name,
                "on": ["site_id", "zone_id", "campaign_id", "ad_unit_id"],
            }
        },
    ]
    database[DAYS.name].aggregate(pipeline)


def week_of(day: datetime) -> datetime:
    """Return the Monday of a day's week (ISO 8601)."""
    return day - day.weekday() * _DAY


def month_of(day: datetime) -> datetime:
    """Return the first day of a day's month."""
    return day.replace(day=1)


def year_of(day: datetime) -> datetime:
    """Return the first day of a day's year."""
    return day.replace(month=1, day=1)


def _next_month(month: datetime) -> datetime:
    return month_of(month + 31 * _DAY)


def _make(
    database: Database[Document],
    source: Collection,
    target: Collection,
    periods: Iterable[tuple[datetime, datetime]],
) -> None:
    """Make each period of the target anew from those of the source within it."""
    for start, end in sorted(periods):
        name: list[Any] = [part for key in KEYS for part in (f"$_id.{key}", "/")]
        row = {"_id": {"$concat": [*name, f"{start:%Y%m%d}"]}, "period": start}
        pipeline = [
            {"$match": {"period": {"$gte": start, "$lt": end}}},
            {"$group": {"_id": _place(), **_sums(COUNTS)}},
            {"$replaceWith": {"$mergeObjects": ["$_id", _whole(COUNTS), row]}},
            {"$merge": {"into": target.name, "whenMatched": "replace"}},
        ]
        database[source.name].aggregate(pipeline)


def _place() -> Document:
    return {key: f"${key}" for key in KEYS}


def _whole(names: Iterable[str]) -> Document:
    """Return the sums as whole numbers: one beyond 64 bits is the largest there is.

    The server makes such a sum a fraction, and the values that conversions name are anyone's.
    """
    return {name: {"$min": [f"${name}", _LARGEST]} for name in names}


def _sums(names: Iterable[str]) -> Document:
    return {name: {"$sum": f"${name}"} for name in names}
