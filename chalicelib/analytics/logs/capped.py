"""The capped log: one collection of a fixed size, in which the newest hits push out the oldest.

For where disk must never grow. All sites share it, so a busy site pushes out a quiet one's hits.
It cannot be written to in a transaction: receipts say what was counted.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING, IndexModel
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.analytics.hits import Dimension, StoredHit
from chalicelib.analytics.logs import rows
from chalicelib.analytics.logs.log import Position, Size, Span
from chalicelib.analytics.logs.receipts import AppendedLog, concern_of
from chalicelib.analytics.settings import LogName
from chalicelib.database import Collection, Document, insert_missing

DEFAULT_BYTES = 1 << 30
# Some room is left while the server pushes hits out.
_NEARLY_FULL = 0.9
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
        """Keep hits; one that is there stays as it is, since all of one id are alike."""
        insert_missing(self._written, hits)

    def aggregate(self, span: Span, stages: Sequence[Document]) -> Iterator[Any]:
        """Run the stages over the hits of a span."""
        pipeline = [{"$match": rows.match(span)}, *stages]
        yield from self._rows.aggregate(pipeline, allowDiskUse=True)

    def read(self, span: Span, after: Position | None, limit: int) -> list[StoredHit]:
        """Return the first hits of a span after a position."""
        return rows.page(self._rows, span, after, limit)

    def holds(self, day: datetime) -> bool:
        """Return whether nothing of a day has been pushed out by newer hits."""
        told = self._database.command("collStats", CAPPED.name)
        if told["size"] < _NEARLY_FULL * told["maxSize"]:
            return True
        oldest = self._rows.find_one({}, {"ts": 1}, sort=[("$natural", ASCENDING)])
        return oldest is not None and oldest["ts"] < day

    def forget(self, user: str, until: datetime | None = None) -> None:
        """Delete a user's hits."""
        self._rows.delete_many(rows.of_user(user, until))

    def of_user(self, user: str) -> list[tuple[MongoCollection[Any], Document]]:
        """Return where hits of a user may be."""
        return [(self._rows, {"user": user})]

    def remove(self, site: str, path: str | None = None) -> None:
        """Delete a site's hits."""
        self._rows.delete_many({"site": site, **({} if path is None else {"path": path})})

    def forget_source(self, span: Span, dimension: Dimension, value: str) -> None:
        """Take a source out of the hits of a span."""
        rows.forget_source(self._rows, span, dimension, value)

    def trim(self, now: datetime) -> int:  # noqa: ARG002 - new hits push out the old
        """Drop nothing: new hits push out the old."""
        return 0

    def size(self, site: str) -> Size:
        """Return what a site has in the collection."""
        return rows.size(self._database, CAPPED.name, site)
