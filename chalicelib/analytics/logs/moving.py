"""Moves between logs, while hits are counted; a crash anywhere is taken up by the sweep.

1. A move is *announced*. From then on receipts decide what is new, in either log.
2. When no transaction of before can still be running, the site is *switched*: its generation is
   raised, which each batch reads in its transaction, and new hits go to the new log. A hit that the
   old log has is not new there.
3. When no transaction of the old generation can still be running, the old hits are *copied* day by
   day, each under its own id, and read from both logs until then.
4. The old log's hits are deleted, and the mark with them. Receipts decide for as long as a message
   of before may come again.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from pymongo.database import Database

from chalicelib.analytics import settings
from chalicelib.analytics.errors import LogCannotForget, MoveInProgress
from chalicelib.analytics.hits import DAY, OLDEST, StoredHit, day_of
from chalicelib.analytics.logs import receipts
from chalicelib.analytics.logs.choosing import log_of
from chalicelib.analytics.logs.log import Log, Position, Span
from chalicelib.analytics.settings import SITES, LogName, SiteAnalytics, kept_since
from chalicelib.database import Document
from chalicelib.runtime import Runtime

# Longer than a worker's transaction, its retries and the time between two clocks.
GRACE = timedelta(seconds=90)


def start(runtime: Runtime, site: SiteAnalytics, log: LogName) -> None:
    """Announce a move to another log; nothing is done if the hits are there.

    Raises MoveInProgress, and LogCannotForget for a time series where there are reports by user.
    """
    if site.get("moving"):
        raise MoveInProgress
    if site["log"] == log:
        return
    if log == "timeseries" and site["user_reports"]:
        raise LogCannotForget("log")
    now = runtime.now()
    moving = {"log_from": site["log"], "log_to": log, "announced_at": now}
    same = {"_id": site["_id"], "generation": site["generation"], "moving": {"$exists": False}}
    # Reports by user may have been switched on since.
    same |= {"user_reports": False} if log == "timeseries" else {}
    marked = {"$set": {"moving": moving, "receipts_until": now + receipts.KEPT}}
    if not SITES.of(runtime.database).update_one(same, marked).matched_count:
        raise MoveInProgress


def sweep(runtime: Runtime) -> dict[str, int]:
    """Take every move a step on; return how many hits were copied and moves ended.

    Two at once copy the same hits, which changes nothing.
    """
    copied = ended = 0
    for site in SITES.of(runtime.database).find({"moving": {"$exists": True}}):
        room = runtime.bounds.analytics.moved_in_a_run - copied
        if room <= 0:
            break
        copied += _step(runtime, site, room)
        left = settings.find(runtime.database, site["_id"])
        ended += left is not None and "moving" not in left
    return {"hits_copied": copied, "moves_ended": ended}


def _step(runtime: Runtime, site: SiteAnalytics, room: int) -> int:
    """Switch a site whose move was announced, or copy up to `room` hits; return how many."""
    moving, now = site["moving"], runtime.now()
    if "switched_at" not in moving:
        if now >= moving["announced_at"] + GRACE:
            _switch(runtime.database, site, now)
        return 0
    if now < moving["switched_at"] + GRACE:
        return 0
    return _copy(runtime, site, room)


def _switch(database: Database[Document], site: SiteAnalytics, now: datetime) -> None:
    moving = site["moving"]
    announced = {
        "_id": site["_id"],
        "moving.announced_at": moving["announced_at"],
        "moving.switched_at": {"$exists": False},
    }
    to_new = {"log": moving["log_to"], "moving.switched_at": now}
    SITES.of(database).update_one(announced, {"$set": to_new, "$inc": {"generation": 1}})


def _copy(runtime: Runtime, site: SiteAnalytics, room: int) -> int:
    """Copy days until there are none left, and end the move, or until the room is used up."""
    database, now, moving = runtime.database, runtime.now(), site["moving"]
    sites, name = {site["_id"]: site}, site["_id"]
    old, new = (log_of(database, moving[end], sites) for end in ("log_from", "log_to"))
    oldest = old.size(name)["oldest"]
    end = day_of(now) + DAY
    day = max(moving.get("copied", day_of(oldest or end)), kept_since(site, now))
    copied = 0
    while day < end:
        if copied >= room:
            return copied
        new.prepare([day])
        for page in _pages(old, Span(name, day, day + DAY), runtime.bounds.analytics.moved_at_once):
            copied += len(page)
            _keep(database, old, new, page, now)
        day += DAY
        SITES.of(database).update_one(_same(site), {"$set": {"moving.copied": day}})
    old.remove(name)
    SITES.of(database).update_one(_same(site), {"$unset": {"moving": ""}})
    return copied


def _keep(
    database: Database[Document], old: Log, new: Log, page: list[StoredHit], now: datetime
) -> None:
    """Put hits into the new log.

    A row of a transaction was counted: its receipt says so first, or a repeat could count again.
    Of other rows those stay behind that wait to be counted: their message comes again.
    """
    recent = [hit for hit in page if hit["ts"] >= now - OLDEST]
    if old.is_transactional:
        receipts.note(database, recent)
        new.append(page)
    else:
        left = receipts.waiting(database, recent)
        new.append([hit for hit in page if hit["_id"] not in left])


def _same(site: SiteAnalytics) -> Document:
    """Return the filter of a site while it is in this move."""
    return {"_id": site["_id"], "moving.switched_at": site["moving"]["switched_at"]}


def _pages(log: Log, span: Span, size: int) -> Iterator[list[StoredHit]]:
    """Give the hits of a span in the order of time, page by page."""
    after: Position | None = None
    while page := log.read(span, after, size):
        yield page
        after = Position(page[-1]["ts"], page[-1]["_id"])
