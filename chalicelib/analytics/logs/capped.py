"""The capped log: one collection of a fixed size, in which the newest hits push out the oldest.

For disks that must never grow. All sites share it, so a busy site pushes out a quiet site's hits.
A transaction cannot write to it: receipts show which hits have counted.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING, IndexModel
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.analytics.hits import Dimension, StoredHit
from chalicelib.analytics.logs import rows
from chalicelib.analytics.logs.log import HitPosition, LogUsage, Span
from chalicelib.analytics.logs.receipts import AppendedLog, concern_of
from chalicelib.analytics.settings import LogName
from chalicelib.database import Collection, Document, insert_missing

DEFAULT_BYTES = 1 << 30
# The server pushes hits out while some room is still free.
_NEARLY_FULL = 0.9
# The oldest hits that `holds` reads: so many that a few late hits do not matter.
_FIRST_HITS = 1_000
CAPPED = Collection(
    "hit.capped",
    StoredHit,
    indexes=(
        IndexModel([("site", ASCENDING), ("path", ASCENDING), ("ts", ASCENDING)]),
        IndexModel([("site", ASCENDING), ("ts", ASCENDING)]),
        IndexModel([("user", ASCENDING)], sparse=True),
    ),
    # The server shards no capped collection.
    shard_key={},
    options={"capped": True, "size": DEFAULT_BYTES},
)


class CappedLog(AppendedLog):
    """Hits in a capped collection."""

    name: LogName = "capped"
    can_forget = True

    def __init__(self, database: Database[Document], concern: str = "majority") -> None:
        self._database = database
        self._rows = CAPPED.of(database)
        self._written = self._rows.with_options(write_concern=concern_of(concern))

    def append(self, hits: Sequence[StoredHit]) -> None:
        """Store hits; skip the stored ids, since all hits of one id are alike."""
        insert_missing(self._written, hits)

    def aggregate(self, span: Span, stages: Sequence[Document]) -> Iterator[Any]:
        """Run the stages over the hits of a span."""
        pipeline = [{"$match": rows.match(span)}, *stages]
        yield from self._rows.aggregate(pipeline, allowDiskUse=True)

    def read(self, span: Span, after: HitPosition | None, limit: int) -> list[StoredHit]:
        """Return the first hits of a span after a position."""
        return rows.page(self._rows, span, after, limit)

    def holds(self, day: datetime) -> bool:
        """Return whether the collection still has all hits of a day.

        The collection pushes hits out in their order of arrival. A hit may arrive a day late, so
        the latest time of the first hits is about their time of arrival.
        """
        stats = self._database.command("collStats", CAPPED.name)
        if stats["size"] < _NEARLY_FULL * stats["maxSize"]:
            return True
        first = self._rows.find({}, {"ts": 1}).sort("$natural", ASCENDING).limit(_FIRST_HITS)
        came = max((hit["ts"] for hit in first), default=None)
        return came is not None and came < day

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

    def trim(self, now: datetime) -> int:  # noqa: ARG002 - new hits push out the old
        """Drop nothing: new hits push out the old."""
        return 0

    def size(self, site: str) -> LogUsage:
        """Return a site's part of the collection."""
        return rows.size(self._database, CAPPED.name, site)
