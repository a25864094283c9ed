"""Moves between logs, while hits come; the sweep continues a move after any crash.

1. A publisher *announces* a move. From then on receipts identify new hits, in either log.
2. After the end of all earlier transactions, the sweep *switches* the site: it raises the
   generation, and new hits go to the new log. Each batch reads the generation in its transaction.
   A hit in the old log does not count again in the new log.
3. After the end of all transactions of the old generation, the sweep *copies* the old hits day by
   day, each under its own id. Reports read both logs until step 4.
4. The sweep deletes the old log's hits and the mark of the move. Receipts identify new hits for as
   long as an earlier message may come again.
"""

from datetime import UTC, datetime, timedelta

from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.analytics import settings
from chalicelib.analytics.errors import LogCannotForget, MoveInProgress
from chalicelib.analytics.hits import DAY, OLDEST, StoredHit, day_of
from chalicelib.analytics.logs import receipts
from chalicelib.analytics.logs.choosing import log_of
from chalicelib.analytics.logs.log import HitPosition, Log, Span
from chalicelib.analytics.settings import SITES, LogName, Position, SiteAnalytics, kept_since
from chalicelib.database import Document
from chalicelib.runtime import Runtime

# Longer than a worker's transaction, its retries and the difference of two clocks together.
GRACE = timedelta(seconds=90)
_ANY_TIME = datetime(1970, 1, 1, tzinfo=UTC)


def start(runtime: Runtime, site: SiteAnalytics, log: LogName) -> None:
    """Announce a move to another log; do nothing for the site's present log.

    Raises MoveInProgress, and LogCannotForget for a time series on a site with reports by user.
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
    # The publisher may have switched reports by user on since the read.
    same |= {"user_reports": False} if log == "timeseries" else {}
    marked = {"$set": {"moving": moving, "receipts_until": now + receipts.KEPT}}
    if not SITES.of(runtime.database).update_one(same, marked).matched_count:
        raise MoveInProgress


def sweep(runtime: Runtime) -> dict[str, int]:
    """Continue every move by a step; return the numbers of copied hits and of ended moves.

    Two runs at once copy the same hits, which changes nothing.
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
    """Switch a site to its new log, or copy up to `room` hits; return the number of these hits.

    The switch comes once every container knows of the move.
    """
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
    """Copy hits until the end of the move, or until the room or half of the time is used up.

    Return the number of copied hits. A day may have more hits than a run can copy, so each page
    notes its position. `held_since` moves past a day that the old log has partly lost, so that no
    run makes the day's sessions again.
    """
    database, now, moving = runtime.database, runtime.now(), site["moving"]
    sites, name, rows = {site["_id"]: site}, site["_id"], SITES.of(database)
    old, new = (log_of(database, moving[end], sites) for end in ("log_from", "log_to"))
    end, has_time = day_of(now) + DAY, deadlines.share(0.5)
    kept = kept_since(site, now)
    day = max(moving.get("copied") or _first_day(old, name, end), kept)
    if "copied" not in moving and not old.holds(kept):
        rows.update_one(_same(site), {"$max": {"held_since": day}})
    at = moving.get("position")
    after, copied = HitPosition(at["ts"], at["id"]) if at else None, 0
    while day < end:
        new.prepare([day])
        span = Span(name, day, day + DAY)
        while page := old.read(span, after, runtime.bounds.analytics.moved_at_once):
            if copied >= room or not has_time():
                return copied
            copied += len(page)
            _keep(database, old, new, page, now)
            after = HitPosition(page[-1]["ts"], page[-1]["_id"])
            position: Position = {"ts": after.ts, "id": after.id}
            rows.update_one(
                _same(site), {"$set": {"moving.copied": day, "moving.position": position}}
            )
        lost = {} if old.holds(day) else {"$max": {"held_since": day + DAY}}
        day, after = day + DAY, None
        passed = {"$set": {"moving.copied": day}, "$unset": {"moving.position": ""}}
        rows.update_one(_same(site), {**passed, **lost})
    old.remove(name)
    # `keep_days` may have changed after hits got their expiry by the former number.
    again = {"$set": {"keep_changed": True}} if moving["log_to"] == "expiring" else {}
    rows.update_one(_same(site), {**again, "$unset": {"moving": ""}})
    return copied


def _first_day(log: Log, site: str, end: datetime) -> datetime:
    """Return the day of a site's oldest hit in a log, or the last day."""
    oldest = log.read(Span(site, _ANY_TIME, end), None, 1)
    return day_of(oldest[0]["ts"]) if oldest else end - DAY


def _keep(
    database: Database[Document], old: Log, new: Log, page: list[StoredHit], now: datetime
) -> None:
    """Copy a page of hits into the new log.

    All rows of a transactional log have counted. Before the copy, receipts record these hits as
    counted: otherwise a repeat could count again. Uncounted rows of other logs stay behind, since
    their message comes again.
    """
    recent = [hit for hit in page if hit["ts"] >= now - OLDEST]
    if old.is_transactional:
        receipts.note(database, recent)
        new.append(page)
    else:
        left = receipts.waiting(database, recent)
        new.append([hit for hit in page if hit["_id"] not in left])


def _same(site: SiteAnalytics) -> Document:
    """Return the filter of a site during this move."""
    return {"_id": site["_id"], "moving.switched_at": site["moving"]["switched_at"]}
