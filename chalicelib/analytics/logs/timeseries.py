"""The time-series log: hits in the server's own buckets, on very little disk.

For years of raw hits, on sites without reports by user: MongoDB 6.0 deletes from a time series by
its meta field alone, which is the site. It accepts the same id twice, and no transaction writes to
it. So receipts show which hits have counted, and readers use each id once.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NotRequired, TypedDict

from bson import ObjectId
from pymongo import ASCENDING, IndexModel
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.analytics.errors import LogCannotForget
from chalicelib.analytics.hits import Device, Dimension, Kind, StoredHit
from chalicelib.analytics.logs import rows
from chalicelib.analytics.logs.log import HitPosition, LogUsage, Span
from chalicelib.analytics.logs.receipts import AppendedLog, concern_of
from chalicelib.analytics.settings import MAX_KEEP_DAYS, LogName, SiteAnalytics, kept_for
from chalicelib.database import Collection, Document


class Meta(TypedDict):
    """The key of the server's buckets."""

    site: str


class SeriesHit(TypedDict):
    """A measurement; `hit` is the hit's id in other logs."""

    _id: NotRequired[ObjectId]
    hit: str
    meta: Meta
    ts: datetime
    path: str
    kind: Kind
    ref: NotRequired[str]
    campaign: NotRequired[str]
    visitor: NotRequired[str]
    device: NotRequired[Device]
    country: NotRequired[str]
    node: NotRequired[str]
    title: NotRequired[str]


SERIES = Collection(
    "hit.series",
    SeriesHit,
    indexes=(IndexModel([("meta.site", ASCENDING), ("ts", ASCENDING)]),),
    shard_key={"meta.site": 1},
    options={
        "timeseries": {"timeField": "ts", "metaField": "meta", "granularity": "minutes"},
        "expireAfterSeconds": MAX_KEEP_DAYS * 86_400,
    },
    # The server takes no validator for a time series.
    is_validated=False,
)


class SeriesLog(AppendedLog):
    """Hits in a time-series collection."""

    name: LogName = "timeseries"
    can_forget = False

    def __init__(
        self,
        database: Database[Document],
        sites: Mapping[str, SiteAnalytics],
        concern: str = "majority",
    ) -> None:
        self._database = database
        self._sites = sites
        self._rows = SERIES.of(database)
        self._written = self._rows.with_options(write_concern=concern_of(concern))

    def append(self, hits: Sequence[StoredHit]) -> None:
        """Store hits without their users; a repeat makes a second row."""
        if hits:
            self._written.insert_many([_to_measurement(hit) for hit in hits], ordered=False)

    def aggregate(self, span: Span, stages: Sequence[Document]) -> Iterator[Any]:
        """Run the stages over the hits of a span, each hit once."""
        once: list[Document] = [
            {"$match": _match(span)},
            {"$group": {"_id": "$hit", "row": {"$first": "$$ROOT"}}},
            {"$replaceWith": {"$mergeObjects": ["$row", {"_id": "$_id", "site": span.site}]}},
            {"$unset": ["hit", "meta"]},
        ]
        yield from self._rows.aggregate([*once, *stages], allowDiskUse=True)

    def read(self, span: Span, after: HitPosition | None, limit: int) -> list[StoredHit]:
        """Return the first hits of a span after a position."""
        found = self._rows.find({**_match(span), **rows.following(after, "hit")})
        return [_to_hit(row) for row in rows.first(found, "hit", limit)]

    def holds(self, day: datetime) -> bool:  # noqa: ARG002 - only time takes hits from it
        """Return True: only time takes hits from it."""
        return True

    def forget(self, user: str, until: datetime | None = None) -> None:
        """Do nothing: hits have no users here."""

    def of_user(self, user: str) -> list[tuple[MongoCollection[Any], Document]]:  # noqa: ARG002 - none is kept
        """Return nothing: hits have no users here."""
        return []

    def remove(self, site: str, path: str | None = None) -> None:
        """Delete a site's hits. Raises LogCannotForget for one path."""
        if path is not None:
            raise LogCannotForget("path")
        self._rows.delete_many({"meta.site": site})

    def forget_source(self, span: Span, dimension: Dimension, value: str) -> None:  # noqa: ARG002 - it cannot
        """Raise LogCannotForget: a time series changes no hit."""
        raise LogCannotForget(dimension)

    def trim(self, now: datetime) -> int:  # noqa: ARG002 - the server knows the time
        """Set the server's expiry to the longest `keep_days`; the server deletes whole buckets."""
        days = [site["keep_days"] for site in self._sites.values()]
        seconds = kept_for(max(days, default=MAX_KEEP_DAYS)).total_seconds()
        self._database.command({"collMod": SERIES.name, "expireAfterSeconds": int(seconds)})
        return 0

    def size(self, site: str) -> LogUsage:
        """Return a site's part, repeats included; a time series stores buckets, not hits."""
        where = {"meta.site": site}
        first = self._rows.find(where, {"ts": 1}).sort("ts", ASCENDING).limit(1)
        oldest = next(iter(first), None)
        hits = self._rows.count_documents(where, limit=rows.MOST_COUNTED) if oldest else 0
        buckets = f"system.buckets.{SERIES.name}"
        own = self._database[buckets].count_documents({"meta.site": site}) if oldest else 0
        whole = rows.stats(self._database, SERIES.name)
        return rows.share(whole, own, hits, oldest["ts"] if oldest else None)


def _match(span: Span) -> Document:
    path = {} if span.path is None else {"path": span.path}
    return {"meta.site": span.site, **path, "ts": {"$gte": span.start, "$lt": span.end}}


def _to_measurement(hit: StoredHit) -> SeriesHit:
    fields: Any = {key: hit[key] for key in hit if key not in ("_id", "site", "user")}  # type: ignore[literal-required]
    measured: Any = {"hit": hit["_id"], "meta": {"site": hit["site"]}, **fields}
    return measured  # type: ignore[no-any-return]


def _to_hit(row: SeriesHit) -> StoredHit:
    fields: Any = {key: row[key] for key in row if key not in ("_id", "hit", "meta")}  # type: ignore[literal-required]
    stored: Any = {"_id": row["hit"], "site": row["meta"]["site"], **fields}
    return stored  # type: ignore[no-any-return]
