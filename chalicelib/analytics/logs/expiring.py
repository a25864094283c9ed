"""The expiring log: one collection, in which a TTL index deletes each hit in time.

The default: it supports every operation. A delete costs the server about as much as the insert,
and the freed disk stays with the collection.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.analytics.hits import Dimension, StoredHit
from chalicelib.analytics.logs import rows
from chalicelib.analytics.logs.log import HitPosition, LogUsage, Span
from chalicelib.analytics.settings import SITES, LogName, SiteAnalytics, kept_for
from chalicelib.database import Collection, Document, insert_missing
from chalicelib.instants import MILLISECOND


class ExpiringHit(StoredHit):
    """A hit and its expiry, by its site's settings."""

    until: datetime


# The shard key has the path before the id: a path's hits are on few shards, yet a hot path splits.
EVENTS = Collection(
    "hit.event",
    ExpiringHit,
    indexes=(
        IndexModel([("site", ASCENDING), ("path", ASCENDING), ("ts", ASCENDING)]),
        IndexModel([("site", ASCENDING), ("ts", ASCENDING)]),
        IndexModel([("until", ASCENDING)], expireAfterSeconds=0),
        IndexModel([("user", ASCENDING)], sparse=True),
    ),
    shard_key={"site": 1, "path": 1, "_id": 1},
)


class ExpiringLog:
    """Hits in one collection with a TTL index."""

    name: LogName = "expiring"
    is_transactional = True
    can_forget = True

    def __init__(self, database: Database[Document], sites: Mapping[str, SiteAnalytics]) -> None:
        self._database = database
        self._sites = sites
        self._rows = EVENTS.of(database)

    def prepare(self, days: Sequence[datetime]) -> None:
        """Do nothing: days need no preparation."""

    def needs_receipt(self, hit: StoredHit) -> bool:  # noqa: ARG002 - its row says what is new
        """Return False: a hit's row shows whether it is new."""
        return False

    def find_known(self, session: ClientSession | None, hits: Sequence[StoredHit]) -> set[str]:
        """Return the ids of the stored hits among these."""
        return rows.find_known(self._rows, hits, session)

    def admit(self, session: ClientSession, hits: Sequence[StoredHit]) -> None:
        """Store new hits."""
        self._rows.insert_many(self._expiring(hits), session=session)

    def append(self, hits: Sequence[StoredHit]) -> None:
        """Store hits outside of any transaction, for a move."""
        insert_missing(self._rows, self._expiring(hits))

    def aggregate(self, span: Span, stages: Sequence[Document]) -> Iterator[Any]:
        """Run the stages over the hits of a span."""
        pipeline: list[Document] = [{"$match": rows.match(span)}, {"$unset": "until"}, *stages]
        yield from self._rows.aggregate(pipeline, allowDiskUse=True)

    def read(self, span: Span, after: HitPosition | None, limit: int) -> list[StoredHit]:
        """Return the first hits of a span after a position."""
        return rows.page(self._rows, span, after, limit)

    def holds(self, day: datetime) -> bool:  # noqa: ARG002 - only time takes hits from it
        """Return True: only time takes hits from it."""
        return True

    def forget(self, user: str, until: datetime | None = None) -> None:
        """Delete a user's hits up to `until`; None: all."""
        self._rows.delete_many(rows.of_user(user, until))

    def of_user(self, user: str) -> list[tuple[MongoCollection[Any], Document]]:
        """Return the collection with the filter of a user's hits."""
        return [(self._rows, {"user": user})]

    def remove(self, site: str, path: str | None = None) -> None:
        """Delete a site's hits, of one path or all."""
        rows.remove(self._rows, site, path)

    def forget_source(self, span: Span, dimension: Dimension, value: str) -> None:
        """Remove a source from the hits of a span."""
        rows.forget_source(self._rows, span, dimension, value)

    def trim(self, now: datetime) -> int:  # noqa: ARG002 - the index knows the time
        """Set new expiries for the sites with a new `keep_days`, in parts.

        A run that stops early has finished its earlier parts and sites.
        """
        for site in self._sites.values():
            if site.get("keep_changed"):
                self._set_expiries(site)
                same = {"_id": site["_id"], "keep_days": site["keep_days"], "keep_changed": True}
                SITES.of(self._database).update_one(same, {"$unset": {"keep_changed": ""}})
        return 0

    def _set_expiries(self, site: SiteAnalytics) -> None:
        until = {"$add": ["$ts", kept_for(site["keep_days"]) // MILLISECOND]}
        other = {"$expr": {"$ne": ["$until", until]}}
        for part in rows.in_parts(self._rows, {"site": site["_id"]}):
            self._rows.update_many({**part, **other}, [{"$set": {"until": until}}])

    def size(self, site: str) -> LogUsage:
        """Return a site's part of the collection."""
        return rows.size(self._database, EVENTS.name, site)

    def _expiring(self, hits: Sequence[StoredHit]) -> list[ExpiringHit]:
        kept = {name: kept_for(site["keep_days"]) for name, site in self._sites.items()}
        return [{**hit, "until": hit["ts"] + kept[hit["site"]]} for hit in hits]
