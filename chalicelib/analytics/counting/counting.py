"""Counting hits, each once: the work of the queue's worker.

A batch is one transaction: the new hits, the visitors, the reports. Some logs cannot take part in
a transaction. The worker that has claimed a hit appends it to such a log before the transaction.
So the log may hold more than the counted hits until the message comes again, and never less. A
worker that dies before the commit has counted nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import partial
from typing import NamedTuple

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
    outdated_users,
    rows_of,
)
from chalicelib.analytics.logs import receipts
from chalicelib.analytics.logs.choosing import log_of
from chalicelib.analytics.logs.log import Log
from chalicelib.analytics.reports import days, losses
from chalicelib.analytics.reports.days import Group, Place, counted_of, group_hits
from chalicelib.analytics.reports.layouts import LAYOUTS
from chalicelib.analytics.reports.losses import DroppedRow
from chalicelib.analytics.reports.names import NameBook, Names, Pages
from chalicelib.analytics.reports.people import Noted, Visitors
from chalicelib.analytics.settings import LogName, SiteAnalytics
from chalicelib.database import in_transaction, only_duplicates
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log as lines
from chalicelib.observability.metrics import HITS
from chalicelib.runtime import Runtime

_ATTEMPTS = 3
Sites = Mapping[str, SiteAnalytics]
# The hits of a place that count as `*other*`, by the cause.
Causes = dict[Place, dict[str, int]]


class LogChanged(Exception):
    """A site's log changed after the worker prepared its hits for the old log."""


class _Part(NamedTuple):
    """The hits of a batch for one log; `before`: a move's old log, if it may have them already."""

    log: Log
    before: Log | None
    hits: list[StoredHit]
    needing_receipts: list[StoredHit]


class _Batch(NamedTuple):
    """The input of a transaction; the `known` places, such as pages, need no vote of a network."""

    parts: Sequence[_Part]
    dropped: Sequence[DroppedRow]
    sites: Sites
    networks: Mapping[str, str]
    known: set[Place]


class _Outcome(NamedTuple):
    """The result of a transaction: the number of new hits, and their places and visitors."""

    counted: int
    places: set[Place]
    visitors: dict[str, Noted]


class HitCounter:
    """The counter of hits: one per container, with a memory of names and visitors."""

    def __init__(self, runtime: Runtime, pages: Pages) -> None:
        self._runtime = runtime
        self._names = NameBook(runtime, pages)
        self._visitors = Visitors(runtime.database, runtime.bounds.analytics)

    def count(self, messages: Sequence[Hits]) -> int:
        """Count the new hits, in one transaction; return their number.

        A repeat changes nothing. Drops hits of sites without analytics, and hits older than 15
        days. Raises Unavailable if the sites change their logs at each attempt.
        """
        now = self._runtime.now()
        hits, dropped = _distinct(messages, now), losses.rows_of(messages, now - OLDEST)
        networks = _networks(messages)
        unnamed = {name for message in messages for name in outdated_users(message, now)}
        names = {hit["site"] for hit in hits} | {each["site"] for each in dropped}
        for _ in range(_ATTEMPTS):
            sites = settings.find_all(self._runtime.database, names)
            try:
                new = self._count(
                    [hit for hit in hits if hit["site"] in sites],
                    [each for each in dropped if each["site"] in sites],
                    networks,
                    unnamed,
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
        unnamed: AbstractSet[str],
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
            # After the claim: the receipt's digest is of the whole hit, at each delivery.
            part.hits[:] = _strip(part.hits, sites, unnamed, now)
            if not part.log.is_transactional:
                part.log.append(part.hits)
        kept = [hit for part in parts for hit in part.hits]
        known = self._names.find_known(kept)
        claimed_drops = receipts.claim(runtime.database, dropped)
        done = self._commit(_Batch(parts, claimed_drops, sites, networks, known))
        self._names.remember(done.places)
        self._visitors.remember(done.visitors)
        return done.counted

    def _commit(self, batch: _Batch) -> _Outcome:
        """Count the new hits in one transaction.

        Most batches have no repeat, so the first attempt inserts without a read: ids are unique.
        The server refuses a batch with a repeat as a whole; the second attempt reads the known
        ids. On a sharded cluster an id is unique within its path alone, so every batch reads.
        """
        database, work = self._runtime.database, partial(self._work, batch)
        is_sharded = database.client.topology_description.topology_type_name == "Sharded"
        if not is_sharded:
            try:
                return in_transaction(database, partial(work, looks=False))
            except BulkWriteError as error:
                if not only_duplicates(error):
                    raise
        return in_transaction(database, partial(work, looks=True))

    def _work(self, batch: _Batch, session: ClientSession, *, looks: bool) -> _Outcome:
        _check(settings.find_all(self._runtime.database, batch.sites, session), batch.sites)
        fresh = [hit for part in batch.parts for hit in self._admit(session, part, looks=looks)]
        if batch.dropped:
            losses.count(self._runtime.database, session, batch.dropped, self._shard())
        return self._report(session, fresh, batch) if fresh else _Outcome(0, set(), {})

    def _parts(self, hits: Sequence[StoredHit], sites: Sites, now: datetime) -> list[_Part]:
        """Return the hits by their log and, during a move, by the old log."""
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

    def _admit(self, session: ClientSession, part: _Part, *, looks: bool) -> list[StoredHit]:
        """Store the new hits of a part, and return them."""
        noted = {hit["_id"] for hit in part.needing_receipts}
        fresh = receipts.settle(self._runtime.database, session, part.needing_receipts)
        known = part.log.find_known(session, part.hits) if looks else set()
        if part.before is not None:
            known |= part.before.find_known(session, part.hits)
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
        groups = group_hits(fresh, batch.networks)
        names = self._names.admit(session, groups, batch.known)
        causes: Causes = {}
        for group in groups:
            # A name without admission counts as `*other*`.
            group.places = [_counted_at(each, group, names, causes) for each in group.places]
        counted = counted_of(groups)
        new, visitors = self._visitors.note(session, groups)
        for place, ts in new:
            minutes = counted[place].setdefault("visitors", {})
            minute = 60 * ts.hour + ts.minute
            minutes[minute] = minutes.get(minute, 0) + 1
        layouts = {name: LAYOUTS[site["layout"]] for name, site in batch.sites.items()}
        added = days.Addition(counted, names.via, causes)
        stamp = days.Stamp(self._shard(), runtime.now())
        days.add(database, session, added, layouts, stamp)
        return _Outcome(len(fresh), names.places, visitors)

    def _shard(self) -> int:
        """Draw a shard, anew in each attempt, so as not to meet the same locked shard twice."""
        return self._runtime.random.randrange(self._runtime.bounds.analytics.report_shards)


def _distinct(messages: Sequence[Hits], now: datetime) -> list[StoredHit]:
    """Return the hits of messages, each id once, without hits older than OLDEST."""
    found: dict[str, StoredHit] = {}
    oldest = now - OLDEST
    for message in messages:
        for hit in rows_of(message):
            if hit["ts"] >= oldest:
                found.setdefault(hit["_id"], hit)
    return list(found.values())


def _networks(messages: Iterable[Hits]) -> dict[str, str]:
    """Return the network of each hit, from the first message with the hit."""
    found: dict[str, str] = {}
    for message in messages:
        for name, network in networks_of(message).items():
            found.setdefault(name, network)
    return found


def _counted_at(place: Place, group: Group, names: Names, causes: Causes) -> Place:
    """Return the place that counts a group's hits; for `*other*`, note the cause."""
    if place in names.places:
        return place
    counts, cause = causes.setdefault(place.other(), {}), names.causes[place]
    counts[cause] = counts.get(cause, 0) + sum(group.minutes.values())
    return place.other()


def _strip(
    hits: Sequence[StoredHit], sites: Sites, unnamed: AbstractSet[str], now: datetime
) -> list[StoredHit]:
    """Return hits without outdated users and visitors; no users on sites without reports by user.

    `unnamed`: the hits whose user is outdated.
    """
    with_users = {name for name, site in sites.items() if site["user_reports"]}
    known_since = now - VISITOR_KNOWN
    kept = []
    for hit in hits:
        is_unnamed = "user" in hit and (hit["site"] not in with_users or hit["_id"] in unnamed)
        if is_unnamed or hit["ts"] < known_since:
            shown = hit.copy()
            if is_unnamed:
                shown.pop("user")
            if hit["ts"] < known_since:
                shown.pop("visitor", None)
            kept.append(shown)
        else:
            kept.append(hit)
    return kept


def _log_before(site: SiteAnalytics) -> LogName | None:
    """Return the old log of a site's move, between its switch and its end; else None."""
    moving = site.get("moving")
    return moving["log_from"] if moving and "switched_at" in moving else None


def _keep_only(part: _Part, claimed: Sequence[StoredHit]) -> None:
    """Remove from a part the hits that have counted, or differ from the first claim of their id."""
    mine = {hit["_id"] for hit in claimed}
    refused = {hit["_id"] for hit in part.needing_receipts} - mine
    part.needing_receipts[:] = claimed
    part.hits[:] = [hit for hit in part.hits if hit["_id"] not in refused]


def _check(current: Sites, sites: Sites) -> None:
    """Raise LogChanged if a site's log has changed since the worker prepared its hits."""
    for name, site in sites.items():
        if _keeping(current[name]) != _keeping(site):
            raise LogChanged


def _keeping(site: SiteAnalytics) -> tuple[object, ...]:
    return site["generation"], site.get("receipts_until"), _log_before(site)
