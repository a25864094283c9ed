"""Counting hits, each once: the work of the queue's worker.

A batch is one transaction: the hits that are new, the visitors, the reports. A log that cannot be
in it is appended to before it, by who has claimed the hit; so such a log may hold more than was
counted until the message comes again, and never less. Whatever dies before the commit has counted
nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from pymongo.client_session import ClientSession
from pymongo.errors import BulkWriteError

from chalicelib.analytics import settings
from chalicelib.analytics.hits import (
    OLDEST,
    VISITOR_KNOWN,
    Hits,
    StoredHit,
    day_of,
    networks_of,
    rows_of,
)
from chalicelib.analytics.logs import receipts
from chalicelib.analytics.logs.choosing import log_of
from chalicelib.analytics.logs.log import Log
from chalicelib.analytics.reports import days, losses
from chalicelib.analytics.reports.days import Group, Place, counted_of, grouped
from chalicelib.analytics.reports.layouts import LAYOUTS
from chalicelib.analytics.reports.losses import DroppedRow
from chalicelib.analytics.reports.names import NameBook, Names, Pages
from chalicelib.analytics.reports.people import Noted, Visitors
from chalicelib.analytics.settings import LogName, SiteAnalytics
from chalicelib.database import DUPLICATE_KEY, in_transaction
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log as lines
from chalicelib.observability.metrics import HITS
from chalicelib.runtime import Runtime

_ATTEMPTS = 3
Sites = Mapping[str, SiteAnalytics]
# How many hits of a place count as `*other*`, by the cause.
Causes = dict[Place, dict[str, int]]


class LogChanged(Exception):
    """A site was switched to another log after its hits were prepared for the one before."""


class _Part(NamedTuple):
    """The hits of a batch that go to one log; `before` is the one that they may be in already."""

    log: Log
    before: Log | None
    hits: list[StoredHit]
    needing_receipts: list[StoredHit]


class _Batch(NamedTuple):
    """What a transaction counts; `known` are the places that no network has to vouch for."""

    parts: Sequence[_Part]
    dropped: Sequence[DroppedRow]
    sites: Sites
    networks: Mapping[str, str]
    known: set[Place]


class _Outcome(NamedTuple):
    """What a transaction has done: how many hits were new, and what may be remembered of them."""

    counted: int
    places: set[Place]
    visitors: dict[str, Noted]


class HitCounter:
    """Counts hits; a worker's container has one, which remembers the names that are known."""

    def __init__(self, runtime: Runtime, pages: Pages) -> None:
        self._runtime = runtime
        self._names = NameBook(runtime, pages)
        self._visitors = Visitors(runtime.database, runtime.bounds.analytics)

    def count(self, messages: Sequence[Hits]) -> int:
        """Count the hits that are new, in one transaction; return how many there were.

        Counting them again changes nothing. Hits of sites without analytics, and those older than
        15 days, are dropped. Raises Unavailable where sites change their logs all the time.
        """
        now = self._runtime.now()
        hits, dropped = _distinct(messages, now), losses.rows_of(messages, now - OLDEST)
        networks = _networks(messages)
        names = {hit["site"] for hit in hits} | {each["site"] for each in dropped}
        for _ in range(_ATTEMPTS):
            sites = settings.find_all(self._runtime.database, names)
            try:
                new = self._count(
                    [hit for hit in hits if hit["site"] in sites],
                    [each for each in dropped if each["site"] in sites],
                    networks,
                    sites,
                )
            except LogChanged:
                continue
            fields = {"hits_taken": len(hits), "hits_counted": new}
            lines.info("hits counted", extra={"fields": fields, "metrics": HITS})
            return new
        raise Unavailable("A site's log is being changed; try again")

    def _count(
        self,
        hits: Sequence[StoredHit],
        dropped: Sequence[DroppedRow],
        networks: Mapping[str, str],
        sites: Sites,
    ) -> int:
        if not hits and not dropped:
            return 0
        runtime, now = self._runtime, self._runtime.now()
        parts = self._parts(hits, sites, now)
        for part in parts:
            part.log.prepare([day_of(hit["ts"]) for hit in part.hits])
            claimed = receipts.claim(runtime.database, part.needing_receipts)
            _keep_only(part, claimed)
            # After the claim, which is of all that was said, whenever that comes again.
            part.hits[:] = _kept(part.hits, sites, now)
            if not part.log.is_transactional:
                part.log.append(part.hits)
        kept = [hit for part in parts for hit in part.hits]
        known = self._names.known(kept)
        claimed_drops = receipts.claim(runtime.database, dropped)
        done = self._transacted(_Batch(parts, claimed_drops, sites, networks, known))
        self._names.remember(done.places)
        self._visitors.remember(done.visitors)
        return done.counted

    def _transacted(self, batch: _Batch) -> _Outcome:
        """Count what is new in one transaction.

        Most batches have no hit that was counted before, and are inserted without a look: the ids
        are unique. One that has is refused as a whole, and counted with a look. On a sharded
        cluster the server tells repeats of one path alone, so that all are looked for.
        """
        database, work = self._runtime.database, partial(self._work, batch)
        is_sharded = database.client.topology_description.topology_type_name == "Sharded"
        if not is_sharded:
            try:
                return in_transaction(database, partial(work, looks=False))
            except BulkWriteError as error:
                if not _is_repeat(error):
                    raise
        return in_transaction(database, partial(work, looks=True))

    def _work(self, batch: _Batch, session: ClientSession, *, looks: bool) -> _Outcome:
        _check(settings.find_all(self._runtime.database, batch.sites, session), batch.sites)
        fresh = [hit for part in batch.parts for hit in self._admitted(session, part, looks=looks)]
        if batch.dropped:
            losses.count(self._runtime.database, session, batch.dropped, self._shard())
        return self._report(session, fresh, batch) if fresh else _Outcome(0, set(), {})

    def _parts(self, hits: Sequence[StoredHit], sites: Sites, now: datetime) -> list[_Part]:
        """Return the hits by the log that they go to, and by the one that they may come from."""
        by_site: dict[str, list[StoredHit]] = {}
        for hit in hits:
            by_site.setdefault(hit["site"], []).append(hit)
        grouped_by: dict[tuple[LogName, LogName | None], list[str]] = {}
        for name in by_site:
            site = sites[name]
            grouped_by.setdefault((site["log"], _log_before(site)), []).append(name)
        database, concern = self._runtime.database, self._runtime.settings.hit_log_concern
        parts = []
        for (name, name_before), names in grouped_by.items():
            log = log_of(database, name, sites, concern)
            before = log_of(database, name_before, sites) if name_before else None
            some, noted = [hit for each in names for hit in by_site[each]], []
            for each in names:
                if sites[each].get("receipts_until", now) > now:
                    noted += by_site[each]
                else:
                    noted += [hit for hit in by_site[each] if log.needs_receipt(hit)]
            parts.append(_Part(log, before, some, noted))
        return parts

    def _admitted(self, session: ClientSession, part: _Part, *, looks: bool) -> list[StoredHit]:
        """Return the hits of a part that are new, and keep them."""
        noted = {hit["_id"] for hit in part.needing_receipts}
        fresh = receipts.settle(self._runtime.database, session, part.needing_receipts)
        known = part.log.known(session, part.hits) if looks else set()
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

    def _report(self, session: ClientSession, fresh: list[StoredHit], batch: _Batch) -> _Outcome:
        """Add new hits to the reports, in the transaction."""
        database, runtime = self._runtime.database, self._runtime
        groups = grouped(fresh, batch.networks)
        names = self._names.admit(session, groups, batch.known)
        causes: Causes = {}
        for group in groups:
            # `*other*` where a name is not admitted.
            group.places = [_counted_at(each, group, names, causes) for each in group.places]
        counted = counted_of(groups)
        new, visitors = self._visitors.note(session, groups)
        for place, ts in new:
            minutes = counted[place].setdefault("visitors", {})
            minute = 60 * ts.hour + ts.minute
            minutes[minute] = minutes.get(minute, 0) + 1
        layouts = {name: LAYOUTS[site["layout"]] for name, site in batch.sites.items()}
        added = days.Addition(counted, names.via, causes)
        days.add(database, session, added, layouts, (self._shard(), runtime.now()))
        return _Outcome(len(fresh), names.places, visitors)

    def _shard(self) -> int:
        """Draw a shard, anew in each attempt: the shard that another holds is not met twice."""
        return self._runtime.random.randrange(self._runtime.bounds.analytics.report_shards)


def _distinct(messages: Sequence[Hits], now: datetime) -> list[StoredHit]:
    """Return the hits of messages, each id once, without those that come too late."""
    found: dict[str, StoredHit] = {}
    oldest = now - OLDEST
    for message in messages:
        for hit in rows_of(message):
            if hit["ts"] >= oldest:
                found.setdefault(hit["_id"], hit)
    return list(found.values())


def _networks(messages: Iterable[Hits]) -> dict[str, str]:
    """Return the network of each hit, as the first message that has the hit says."""
    found: dict[str, str] = {}
    for message in messages:
        for name, network in networks_of(message).items():
            found.setdefault(name, network)
    return found


def _counted_at(place: Place, group: Group, names: Names, causes: Causes) -> Place:
    """Return where a group's hits count; if that is `*other*`, note the cause."""
    if place in names.places:
        return place
    counts, cause = causes.setdefault(place.other(), {}), names.causes[place]
    counts[cause] = counts.get(cause, 0) + sum(group.minutes.values())
    return place.other()


def _kept(hits: Sequence[StoredHit], sites: Sites, now: datetime) -> list[StoredHit]:
    """Return hits without what their sites do not keep, or what nobody can tell any more."""
    with_users = {name for name, site in sites.items() if site["user_reports"]}
    told_since = now - VISITOR_KNOWN
    kept = []
    for hit in hits:
        if ("user" in hit and hit["site"] not in with_users) or hit["ts"] < told_since:
            shown = hit.copy()
            if hit["site"] not in with_users:
                shown.pop("user", None)
            if hit["ts"] < told_since:
                shown.pop("visitor", None)
            kept.append(shown)
        else:
            kept.append(hit)
    return kept


def _is_repeat(error: BulkWriteError) -> bool:
    """Return whether an id was there already, and nothing else was refused."""
    details: Any = error.details
    codes = {each["code"] for each in details["writeErrors"]}
    return codes == {DUPLICATE_KEY} and not details["writeConcernErrors"]


def _log_before(site: SiteAnalytics) -> LogName | None:
    """Return the log that a site's hits are being copied from."""
    moving = site.get("moving")
    return moving["log_from"] if moving and "switched_at" in moving else None


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
