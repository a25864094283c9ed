"""Rolling reports up: days into weeks, days into months, months into years.

Weeks straddle months, so days make both. A coarser report stores the counts of each of its parts.
A run sums each changed part anew and replaces the stored counts (`$merge`), so a repeat changes
nothing, and a run does not read the other days of a week or a month. Source: "MongoDB Applied
Design Patterns", ch. 4, hierarchical aggregation.
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
# The ids of the schedule's progress. Releases before 0.4.0 use the
# id `_FORMER_STATE`, and store no parts.
_STATE, _FORMER_STATE = "parts", "days"
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_LARGEST = 2**63 - 1
# The part of a run's time after which it begins no further day.
_TIME_SHARE = 0.8


class _Period(NamedTuple):
    """A period: the collection of its length, and its first day."""

    reports: Collection[StoredReport]
    start: datetime


class _Progress(NamedTuple):
    """The progress of earlier runs.

    - `until`: earlier runs have read all changes before this time
    - `again`: the days that earlier runs did not finish
    - `again_since`: the next run reads changes of these days from this time on
    """

    until: datetime
    again: list[datetime]
    again_since: datetime


def roll_up(database: Database[Document], now: datetime) -> dict[str, int]:
    """Roll changed days up into weeks, months and years; return the number of each.

    A day that fails does not stop the others. The next runs take the failed days, and the days
    that this run has no time for.
    """
    progress, has_time = _progress(database), deadlines.share(_TIME_SHARE)
    since = progress.until
    # Without a filter, the index finds each day in one step, however many reports the day has.
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
    """Store the progress after a run, and log how long its unfinished days have waited.

    The unfinished days of a simultaneous run stay in `again`.
    """
    left_since = min(progress.until, progress.again_since)
    # The first runs of a deployment have all days to do.
    if left and left_since > _FIRST:
        # Imported late: the event workers load this module, too.
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

    If a former release has run after this release, its reports have no parts: all days count as
    new.
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
    """Put a day's counts into its week, month and year, for places that changed from `since` on."""
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
    """Put a part's sums into its whole period, for each place that changed from `since` on."""
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
    """Return the sums of these fields, for a pipeline's `$group`."""
    return {name: {"$sum": f"${name}"} for name in names}


def _whole(sums: Mapping[str, Any]) -> Document:
    """Return the sums, each capped at the largest signed integer of 64 bits.

    The server makes a larger sum a double, and advertisers choose the values of conversions.
    """
    return {name: {"$min": [sum_, _LARGEST]} for name, sum_ in sums.items()}


def _sum_of_parts(name: str) -> Document:
    """Return the expression of a report's sum over its parts, or of its stored sum if larger.

    Counts only grow. A report of a former release has a whole sum, but gets its parts by and by.
    """
    parts = {"$map": {"input": {"$objectToArray": "$parts"}, "in": f"$$this.v.{name}"}}
    return {"$max": [f"${name}", {"$sum": parts}]}


# The update of an existing report; `$$new` is the same report with one part.
_WITH_PART = [
    {"$set": {"parts": {"$mergeObjects": ["$parts", "$$new.parts"]}}},
    {"$set": _whole({name: _sum_of_parts(name) for name in COUNTED_FIELDS})},
    {"$set": {"updated_at": "$$new.updated_at"}},
]
