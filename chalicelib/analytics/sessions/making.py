"""Sessions of a day from the log: a visitor's hits without a pause of 30 minutes.

Hits come late and out of order, so no session grows hit by hit. Each time a day is due, this
module makes all its sessions again, by `$setWindowFields`, and deletes outdated sessions.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, NotRequired, TypedDict

import pymongo
from pymongo import ASCENDING, IndexModel
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError, ExecutionTimeout, NetworkTimeout

from chalicelib import deadlines
from chalicelib.analytics import settings
from chalicelib.analytics.hits import DAY, WHOLE_SITE
from chalicelib.analytics.logs import together
from chalicelib.analytics.logs.log import Log, Span
from chalicelib.analytics.reports import queries
from chalicelib.analytics.reports.days import DAYS
from chalicelib.analytics.reports.report import Report
from chalicelib.analytics.sessions import rolling
from chalicelib.analytics.sessions.periods import SESSIONS, start_of
from chalicelib.analytics.settings import SiteAnalytics, first_day_held, kept_since
from chalicelib.database import Collection, Document, delete_some
from chalicelib.ids import new_id
from chalicelib.instants import MILLISECOND
from chalicelib.jobs.schedules import run_all
from chalicelib.runtime import LONGEST_RUN, Runtime

PAUSE = timedelta(minutes=30)
_REMOVED_AT_ONCE = 5_000
# One aggregate makes a whole day's sessions: those of a million hits took 51 s on a busy machine,
# and their sums 200 s. Other operations may take 20 s, and the schedule's function 900 s.
DAY_TIMEOUT_SECONDS = 600
# A day beyond the time-out would use up most of each run, so it waits this long.
_LARGE_PAUSE = timedelta(hours=6)


def make(database: Database[Document], log: Log, span: Span, making: str) -> None:
    """Make a site's sessions of a day from its hits in the span.

    The caller holds the lease of the day. `making` is a new id: the function deletes the day's
    sessions with any other id.
    """
    day = span.start
    for _ in log.aggregate(span, _stages(span.site, day, making)):
        """A pipeline that ends in `$merge` returns nothing."""
    stale = {"site": span.site, "day": day, "making": {"$ne": making}}
    SESSIONS.of(database).delete_many(stale)


def _stages(site: str, day: datetime, making: str) -> list[Document]:
    # The id orders hits of one instant.
    order = {"ts": 1, "_id": 1}
    visitor = {"partitionBy": "$visitor", "sortBy": order}
    previous = {"$shift": {"output": "$ts", "by": -1}}
    pause = {"$subtract": ["$ts", "$previous"]}
    is_first = {"$or": [{"$eq": ["$previous", None]}, {"$gte": [pause, PAUSE // MILLISECOND]}]}
    so_far = {
        "$sum": {"$cond": [is_first, 1, 0]},
        "window": {"documents": ["unbounded", "current"]},
    }
    return [
        {"$match": {"kind": "view", "visitor": {"$exists": True}}},
        {"$setWindowFields": {**visitor, "output": {"previous": previous}}},
        {"$setWindowFields": {**visitor, "output": {"n": so_far}}},
        {
            "$group": {
                "_id": {"visitor": "$visitor", "n": "$n"},
                "started": {"$min": "$ts"},
                "ended": {"$max": "$ts"},
                "hits": {"$sum": 1},
                "entry": {"$top": {"output": "$path", "sortBy": order}},
                "exit": {"$bottom": {"output": "$path", "sortBy": order}},
                "user": {"$max": "$user"},
            }
        },
        {"$replaceWith": _session(site, day, making)},
        {"$merge": {"into": SESSIONS.name, "whenMatched": "replace"}},
    ]


def _session(site: str, day: datetime, making: str) -> Document:
    prefix = f"{site}:{day:%Y%m%d}:"
    name = {"$concat": [prefix, "$_id.visitor", ":", {"$toString": "$_id.n"}]}
    return {
        "_id": name,
        "site": site,
        "day": day,
        "started": "$started",
        "seconds": {"$divide": [{"$subtract": ["$ended", "$started"]}, 1_000]},
        "hits": "$hits",
        "entry": "$entry",
        "exit": "$exit",
        "bounce": {"$eq": ["$hits", 1]},
        "user": {"$ifNull": ["$user", "$$REMOVE"]},
        "making": making,
    }


# A site's day is due after a change of its past hours.

# Each run reads this much time again: a batch commits after its `updated_at`, but not this much
# later.
OVERLAP = timedelta(minutes=10)
LEASE = LONGEST_RUN + timedelta(minutes=1)
_EVERYTHING = "days"


class Due(TypedDict):
    """A day with sessions to make; `_id` is `site/day`.

    `until`: the end of the hours that the day's sessions are made from. `hits`: the reports' hits
    of these hours. Two kinds of `_id` differ. In `days`, `until` is the time from which the next
    run reads changes. `site/*` has the lease of the run that makes a day of the site.
    """

    _id: str
    site: NotRequired[str]
    day: NotRequired[datetime]
    until: NotRequired[datetime]
    hits: NotRequired[int]
    leased_until: NotRequired[datetime]


DUE = Collection("hit.due", Due, indexes=(IndexModel([("leased_until", ASCENDING)]),))


class _Day(NamedTuple):
    site: str
    day: datetime


def make_due(runtime: Runtime) -> dict[str, int]:
    """Make the sessions of days with changes in past hours; return the number of days.

    An hour is past 30 minutes after its end. If the log has lost a day, its sessions stay. Two
    simultaneous runs share the sites. If a day fails, the run continues with the other days.
    """
    _note_changes(runtime.database, runtime.now())
    rows = DUE.of(runtime.database).find({"site": {"$exists": True}})
    # The days that no run has tried come first.
    due = list(rows.sort("leased_until", ASCENDING))
    made = run_all((row["_id"], partial(_make, runtime, row)) for row in due)
    return {"session_days": sum(is_made for _, is_made in made)}


def remove_old(runtime: Runtime) -> int:
    """Delete the sessions of days without raw hits; return the number of sessions.

    Reports read sums by period, which stay. A run stops after half its time; the next continues.
    """
    rows, has_time, removed = SESSIONS.of(runtime.database), deadlines.share(0.5), 0
    for site in settings.SITES.of(runtime.database).find():
        before = kept_since(site, runtime.now()) - DAY
        old: Document = {"site": site["_id"], "day": {"$lt": before}}
        while has_time():
            gone = delete_some(rows, old, _REMOVED_AT_ONCE)
            removed += gone
            if gone < _REMOVED_AT_ONCE:
                break
    return removed


def _note_changes(database: Database[Document], now: datetime) -> None:
    """Note the days with new hits since the last run."""
    state = DUE.of(database).find_one({"_id": _EVERYTHING})
    since = state["until"] if state else datetime.fromtimestamp(0, now.tzinfo)
    for site, day in _find_changes(database, since):
        noted = {"$setOnInsert": {"site": site, "day": day}}
        DUE.of(database).update_one({"_id": f"{site}/{day:%Y%m%d}"}, noted, upsert=True)
    until = {"$max": {"until": now - OVERLAP}}
    DUE.of(database).update_one({"_id": _EVERYTHING}, until, upsert=True)


def _find_changes(database: Database[Document], since: datetime) -> Iterator[_Day]:
    pipeline = [
        {"$match": {"updated_at": {"$gte": since}, "path": WHOLE_SITE}},
        {"$group": {"_id": {"site": "$site", "day": "$day"}}},
    ]
    rows: Any = DAYS.of(database)
    for row in rows.aggregate(pipeline):
        yield _Day(row["_id"]["site"], row["_id"]["day"])


def _make(runtime: Runtime, due: Due) -> bool:
    """Make a due day that no other run holds; return whether this call noted it as made.

    Raises the error of a time-out; the day then waits for _LARGE_PAUSE.
    """
    database, now = runtime.database, runtime.now()
    site, day = due["site"], due["day"]
    until = min(start_of("hour", now - PAUSE), day + DAY)
    hits = _count(database, site, day, until)
    is_over = until == day + DAY
    if (due.get("until"), due.get("hits")) == (until, hits):
        if is_over:
            DUE.of(database).delete_one({"_id": due["_id"], "hits": hits, "until": until})
        return False
    # One lease for all days of a site: they share weeks, months and years.
    if until <= day or not _lease(database, _lease_of(site), now, is_made=True):
        return False
    try:
        return _lease(database, due["_id"], now) and _make_leased(runtime, due, until, hits)
    except (ExecutionTimeout, NetworkTimeout):
        own = {"_id": due["_id"], "leased_until": now + LEASE}
        DUE.of(database).update_one(own, {"$set": {"leased_until": now + _LARGE_PAUSE}})
        raise
    finally:
        DUE.of(database).delete_one({"_id": _lease_of(site), "leased_until": now + LEASE})


def _make_leased(runtime: Runtime, due: Due, until: datetime, hits: int) -> bool:
    """Make the past hours of a leased day; return False for a site in a move.

    `hits`: the number in the reports. If the log has lost the day, note it as made.
    """
    database, now = runtime.database, runtime.now()
    site, day = due["site"], due["day"]
    found = settings.find(database, site)
    logs = together.logs_of(database, found) if found else []
    # A site in a move waits until all its hits are in one log.
    if found and len(logs) == 1 and _has_all(logs[0], found, Span(site, day, until), hits, now):
        with pymongo.timeout(DAY_TIMEOUT_SECONDS):
            make(database, logs[0], Span(site, day, until), new_id(now, runtime.random))
            rolling.roll_up(database, site, day)
    elif len(logs) > 1:
        DUE.of(database).update_one({"_id": due["_id"]}, {"$unset": {"leased_until": ""}})
        return False
    done = {"$set": {"until": until, "hits": hits}, "$unset": {"leased_until": ""}}
    DUE.of(database).update_one({"_id": due["_id"]}, done)
    return True


def _has_all(log: Log, site: SiteAnalytics, span: Span, hits: int, now: datetime) -> bool:
    """Return whether a log may have all hits of a day; the reports count `hits` of them."""
    if span.start < first_day_held(site, now) or not log.holds(span.start):
        return False
    return not hits or bool(log.read(span, None, 1))


def _lease_of(site: str) -> str:
    return f"{site}/*"


def _lease(
    database: Database[Document], row_id: str, now: datetime, *, is_made: bool = False
) -> bool:
    """Lease a row; return False if another run holds it.

    `is_made`: insert a missing row. Without it, return False for a missing row.
    """
    free = {"_id": row_id, "leased_until": {"$not": {"$gt": now}}}
    leased = {"$set": {"leased_until": now + LEASE}}
    try:
        taken = DUE.of(database).update_one(free, leased, upsert=is_made)
    except DuplicateKeyError:
        return False
    return taken.modified_count > 0 or taken.upserted_id is not None


def _count(database: Database[Document], site: str, day: datetime, until: datetime) -> int:
    """Return the number of hits in the reports of a day's past hours."""
    if until <= day:
        return 0
    report = Report(site, day, until, "year")
    rows, _ = queries.read(database, report, None, 2)
    return sum(row["hits"] for row in rows)
