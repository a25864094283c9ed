"""Counting hits, each once: the work of the queue's worker.

A batch is one transaction: the hits that are new, the visitors, the reports. A log that cannot be
in it is appended to before it, by who has claimed the hit; so such a log may hold more than was
counted until the message comes again, and never less. Whatever dies before the commit has counted
nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from pymongo.client_session import ClientSession

from chalicelib.analytics import settings
from chalicelib.analytics.hits import (
    OLDEST,
    VISITOR_KNOWN,
    Hits,
    StoredHit,
    day_of,
    rows_of,
)
from chalicelib.analytics.layouts import LAYOUTS
from chalicelib.analytics.log import Log
from chalicelib.analytics.logs import receipts
from chalicelib.analytics.logs.choosing import log_of
from chalicelib.analytics.reports import days
from chalicelib.analytics.reports.days import Counted, Place, Placed, field_of, places_of
from chalicelib.analytics.reports.names import Names
from chalicelib.analytics.reports.people import Noted, Visitors
from chalicelib.analytics.settings import LogName, SiteAnalytics
from chalicelib.database import in_transaction
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log as lines
from chalicelib.observability.metrics import HITS
from chalicelib.runtime import Runtime

_ATTEMPTS = 3
Sites = Mapping[str, SiteAnalytics]


class LogChanged(Exception):
    """A site was switched to another log after its hits were prepared for the one before."""


class _Part(NamedTuple):
    """The hits of a batch that go to one log; `before` is the one that they may be in already."""

    log: Log
    before: Log | None
    hits: list[StoredHit]
    needing_receipts: list[StoredHit]


class _Outcome(NamedTuple):
    """What a transaction has done: how many hits were new, and what may be remembered of them."""

    counted: int
    places: set[Place]
    visitors: dict[str, Noted]


class HitCounter:
    """Counts hits; a worker's container has one, which remembers the names that are known."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._names = Names(runtime.database, runtime.bounds.analytics)
        self._visitors = Visitors(runtime.database, runtime.bounds.analytics)

    def count(self, messages: Sequence[Hits]) -> int:
        """Count the hits that are new, in one transaction; return how many there were.

        Counting them again changes nothing. Hits of sites without analytics, and those older than
        15 days, are dropped. Raises Unavailable where sites change their logs all the time.
        """
        now = self._runtime.now()
        hits = _distinct(messages, now)
        names = {hit["site"] for hit in hits}
        for _ in range(_ATTEMPTS):
            sites = settings.find_all(self._runtime.database, names)
            try:
                new = self._count([hit for hit in hits if hit["site"] in sites], sites, now)
            except LogChanged:
                continue
            fields = {"hits_taken": len(hits), "hits_counted": new}
            lines.info("hits counted", extra={"fields": fields, "metrics": HITS})
            return new
        raise Unavailable("A site's log is being changed; try again")

    def _count(self, hits: Sequence[StoredHit], sites: Sites, now: datetime) -> int:
        runtime, parts = self._runtime, self._parts(hits, sites, now)
        if not hits:
            return 0
        for part in parts:
            part.log.prepare([day_of(hit["ts"]) for hit in part.hits])
            claimed = receipts.claim(runtime.database, part.needing_receipts)
            _keep_only(part, claimed)
            # After the claim, which is of all that was said, whenever that comes again.
            part.hits[:] = [_kept(hit, sites[hit["site"]], now) for hit in part.hits]
            if not part.log.is_transactional:
                part.log.append(part.hits)

        def work(session: ClientSession) -> _Outcome:
            _check(settings.find_all(runtime.database, sites, session), sites)
            fresh = [hit for part in parts for hit in self._admitted(session, part)]
            return self._report(session, fresh, sites) if fresh else _Outcome(0, set(), {})

        done = in_transaction(runtime.database, work)
        self._names.remember(done.places)
        self._visitors.remember(done.visitors)
        return done.counted

    def _parts(self, hits: Sequence[StoredHit], sites: Sites, now: datetime) -> list[_Part]:
        """Return the hits by the log that they go to, and by the one that they may come from."""
        grouped: dict[tuple[LogName, LogName | None], list[StoredHit]] = {}
        for hit in hits:
            site = sites[hit["site"]]
            grouped.setdefault((site["log"], _log_before(site)), []).append(hit)
        database, concern = self._runtime.database, self._runtime.settings.hit_log_concern
        parts = []
        for (name, name_before), some in grouped.items():
            log = log_of(database, name, sites, concern)
            before = log_of(database, name_before, sites) if name_before else None
            noted = [hit for hit in some if _needs_receipt(log, hit, sites[hit["site"]], now)]
            parts.append(_Part(log, before, some, noted))
        return parts

    def _admitted(self, session: ClientSession, part: _Part) -> list[StoredHit]:
        """Return the hits of a part that are new, and keep them."""
        noted = {hit["_id"] for hit in part.needing_receipts}
        fresh = receipts.settle(self._runtime.database, session, part.needing_receipts)
        known = part.log.known(session, part.hits)
        if part.before is not None:
            known |= part.before.known(session, part.hits)
        new = [
            hit
            for hit in part.hits
            if hit["_id"] not in known and (hit["_id"] in fresh or hit["_id"] not in noted)
        ]
        if new:
            part.log.admit(session, new)
        return new

    def _report(self, session: ClientSession, fresh: list[StoredHit], sites: Sites) -> _Outcome:
        """Add new hits to the reports, in the transaction."""
        database, runtime = self._runtime.database, self._runtime
        asked = [Placed(hit, places_of(hit)) for hit in fresh]
        places = self._names.admitted(session, {each for one in asked for each in one.places})
        placed = [Placed(hit, _counted_as(own, places)) for hit, own in asked]
        counted: list[Counted] = []
        for hit, own in placed:
            ts, field = hit["ts"], field_of(hit)
            counted += [(place, ts, field) for place in own]
        new, visitors = self._visitors.note(session, placed)
        counted += new
        layouts = {name: LAYOUTS[site["layout"]] for name, site in sites.items()}
        # Drawn again in each attempt: the shard that another holds is not met twice.
        shard = runtime.random.randrange(runtime.bounds.analytics.report_shards)
        days.add(database, session, counted, layouts, (shard, runtime.now()))
        return _Outcome(len(fresh), places, visitors)


def _distinct(messages: Sequence[Hits], now: datetime) -> list[StoredHit]:
    """Return the hits of messages, each id once, without those that come too late."""
    found: dict[str, StoredHit] = {}
    for message in messages:
        for hit in rows_of(message):
            if hit["ts"] >= now - OLDEST:
                found.setdefault(hit["_id"], hit)
    return list(found.values())


def _kept(hit: StoredHit, site: SiteAnalytics, now: datetime) -> StoredHit:
    """Return a hit without what its site does not keep, or what nobody can tell any more."""
    kept = hit.copy()
    if not site["user_reports"]:
        kept.pop("user", None)
    if hit["ts"] < now - VISITOR_KNOWN:
        kept.pop("visitor", None)
    return kept


def _log_before(site: SiteAnalytics) -> LogName | None:
    """Return the log that a site's hits are being copied from."""
    moving = site.get("moving")
    return moving["log_from"] if moving and "switched_at" in moving else None


def _needs_receipt(log: Log, hit: StoredHit, site: SiteAnalytics, now: datetime) -> bool:
    return log.needs_receipt(hit) or site.get("receipts_until", now) > now


def _keep_only(part: _Part, claimed: Sequence[StoredHit]) -> None:
    """Take out of a part what another worker has claimed or counted."""
    mine = {hit["_id"] for hit in claimed}
    refused = {hit["_id"] for hit in part.needing_receipts} - mine
    part.needing_receipts[:] = claimed
    part.hits[:] = [hit for hit in part.hits if hit["_id"] not in refused]


def _check(current: Sites, sites: Sites) -> None:
    """Raise LogChanged unless the sites keep their hits as they did when these were prepared."""
    for name, site in sites.items():
        if _keeping(current[name]) != _keeping(site):
            raise LogChanged


def _keeping(site: SiteAnalytics) -> tuple[object, ...]:
    return site["generation"], site.get("receipts_until"), _log_before(site)


def _counted_as(own: list[Place], places: set[Place]) -> list[Place]:
    """Return the places that a hit counts for, `*other*` where a name has no room."""
    return [each if each in places else each.other() for each in own]
