"""Rolling reports up: days into weeks, days into months, months into years.

Weeks straddle months, so days make both. A coarser report keeps the counts of each of its parts,
and a run sums up a part anew and puts it in place of the former one (`$merge`): a repeat changes
nothing, and a run reads the days that have changed, not the weeks and months around them. Source:
"MongoDB Applied Design Patterns", ch. 4, hierarchical aggregation.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

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
# The schedule's progress. A release before 0.4.0 has another, and leaves reports without parts.
_STATE, _FORMER_STATE = "parts", "days"
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_LARGEST = 2**63 - 1
# The part of a run's time after which it begins no further day.
_TIME_SHARE = 0.8


class _Period(NamedTuple):
    """A period of one length, by its first day."""

    reports: Collection[StoredReport]
    start: datetime


class _Progress(NamedTuple):
    """The time since which reports are read, the days that are left, and the time of those."""

    until: datetime
    again: list[datetime]
    again_since: datetime


def roll_up(database: Database[Document], now: datetime) -> dict[str, int]:
    """Roll changed days up into weeks, months and years; return the number of each.

    A day that cannot be rolled up keeps no other from it. The next runs do that day, and all days
    that this run has no time for.
    """
    progress, has_time = _progress(database), deadlines.share(_TIME_SHARE)
    since = progress.until
    # All days are found by their index in a step each, however many reports they have.
    changed = {} if since == _FIRST else {"updated_at": {"$gte": since}}
    # The newest first: readers look at them.
    found = DAYS.of(database).distinct("period", changed)
    days = sorted({*found, *progress.again}, reverse=True)
    left = list(days)

    def roll(day: datetime) -> None:
        begun = progress.again_since if day in progress.again else since
        with deadlines.within(0.5):
            _roll_day_up(database, day, begun, now)
        left.remove(day)

    begun_in_time = takewhile(lambda _: has_time(), days)
    try:
        run_all((f"{day:%Y-%m-%d}", partial(roll, day)) for day in begun_in_time)
    finally:
        if days:
            _note_progress(database, now, progress, left)
    done = set(days) - set(left)
    months = {month_of(day) for day in done}
    return {
        "weeks": len({week_of(day) for day in done}),
        "months": len(months),
        "years": len({year_of(month) for month in months}),
    }


def _note_progress(
    database: Database[Document], now: datetime, progress: _Progress, left: list[datetime]
) -> None:
    """Store the progress after a run, and log how long its left days have waited.

    Days that another run has left meanwhile stay.
    """
    left_since = min(progress.until, progress.again_since)
    # The first runs of a deployment have all days to do.
    if left and left_since > _FIRST:
        # Late, since the workers of events load this module, too.
        from chalicelib.jobs.sweeping import log_lag

        log_lag(DAYS.name, len(left), now - left_since)
    ended = [day for day in progress.again if day not in left]
    others = {"$setDifference": [{"$ifNull": ["$again", []]}, ended]}
    earliest = {"$min": ["$again_since", left_since]}
    fields = {
        "until": {"$max": ["$until", now - OVERLAP]},
        "again": {"$setUnion": [others, left]},
        "again_since": {"$cond": [{"$eq": [others, []]}, left_since, earliest]},
    }
    PROGRESS.of(database).update_one({"_id": _STATE}, [{"$set": fields}], upsert=True)


def _progress(database: Database[Document]) -> _Progress:
    """Return the progress of earlier runs.

    Where a former release has run since, its reports have no parts: all days make them.
    """
    ids = [_STATE, _FORMER_STATE]
    states = {row["_id"]: row for row in PROGRESS.of(database).find({"_id": {"$in": ids}})}
    state, former = states.get(_STATE), states.get(_FORMER_STATE)
    if not state or (former and former["until"] > state["until"]):
        return _Progress(_FIRST, [], _FIRST)
    until, again = state["until"], state.get("again", [])
    return _Progress(until, again, state.get("again_since", _FIRST) if again else until)


def _roll_day_up(
    database: Database[Document], day: datetime, since: datetime, now: datetime
) -> None:
    """Put a day's counts since a time into its week, its month and its year."""
    part, month = _Period(DAYS, day), _Period(MONTHS, month_of(day))
    _put(database, part, since, _Period(WEEKS, week_of(day)), now)
    _put(database, part, since, month, now)
    _put(database, month, now, _Period(YEARS, year_of(day)), now)


def week_of(day: datetime) -> datetime:
    """Return the Monday of a day's week (ISO 8601)."""
    return day - day.weekday() * _DAY


def month_of(day: datetime) -> datetime:
    """Return the first day of a day's month."""
    return day.replace(day=1)


def year_of(day: datetime) -> datetime:
    """Return the first day of a day's year."""
    return day.replace(month=1, day=1)


def _put(
    database: Database[Document],
    part: _Period,
    since: datetime,
    whole: _Period,
    now: datetime,
) -> None:
    """Put a part into its whole period, for each place that changed since."""
    place = [each for key in KEYS for each in (f"$_id.{key}", "/")]
    counts: Document = {name: f"${name}" for name in COUNTED_FIELDS}
    row = {
        "_id": {"$concat": [*place, f"{whole.start:%Y%m%d}"]},
        "period": whole.start,
        "parts": {f"{part.start:%Y%m%d}": counts},
        "updated_at": now,
    }
    newest = {"newest": {"$max": "$updated_at"}}
    pipeline = [
        {"$match": {"period": part.start}},
        {"$group": {"_id": place_of(), **sums_of(COUNTED_FIELDS), **newest}},
        {"$match": {"newest": {"$gte": since}}},
        {"$set": _whole(counts)},
        {"$replaceWith": {"$mergeObjects": ["$_id", counts, row]}},
        {"$merge": {"into": whole.reports.name, "whenMatched": _WITH_PART}},
    ]
    part.reports.of(database).aggregate(pipeline)


def place_of() -> Document:
    """Return the key of a report's documents, for a pipeline's `$group`."""
    return {key: f"${key}" for key in KEYS}


def sums_of(names: Iterable[str]) -> Document:
    """Return the sums of every counted field, for a pipeline's `$group`."""
    return {name: {"$sum": f"${name}"} for name in names}


def _whole(sums: Mapping[str, Any]) -> Document:
    """Return the sums as whole numbers, at most the largest of 64 bits.

    The server makes a larger sum a fraction, and any caller may choose a conversion's value.
    """
    return {name: {"$min": [sum_, _LARGEST]} for name, sum_ in sums.items()}


def _sum_of_parts(name: str) -> Document:
    """Return a report's sum over its parts, or its present one if that is more.

    Counts only grow. A report of a former release has its whole sum before it has all parts.
    """
    parts = {"$map": {"input": {"$objectToArray": "$parts"}, "in": f"$$this.v.{name}"}}
    return {"$max": [f"${name}", {"$sum": parts}]}


# The update of a report that is there, by `$$new` with one part.
_WITH_PART = [
    {"$set": {"parts": {"$mergeObjects": ["$parts", "$$new.parts"]}}},
    {"$set": _whole({name: _sum_of_parts(name) for name in COUNTED_FIELDS})},
    {"$set": {"updated_at": "$$new.updated_at"}},
]
