"""The common part of the logs: filters of spans, pages of hits, and sizes of collections."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from pymongo import ASCENDING
from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.cursor import Cursor
from pymongo.database import Database

from chalicelib.analytics.hits import FIELD_OF, Dimension, StoredHit
from chalicelib.analytics.logs.log import HitPosition, LogUsage, Span
from chalicelib.database import Document

# The hits that one write deletes or changes: far fewer than a command's time limit allows.
AT_ONCE = 10_000
# The most hits of a site that a size counts: about a second's work.
MOST_COUNTED = 1_000_000
_SIZES = ("size", "storageSize", "totalIndexSize")


def match(span: Span) -> Document:
    """Return the filter of a span's hits."""
    path = {} if span.path is None else {"path": span.path}
    return {"site": span.site, **path, "ts": {"$gte": span.start, "$lt": span.end}}


def forget_source(rows: MongoCollection[Any], span: Span, dimension: Dimension, value: str) -> None:
    """Remove a source from the hits of a span."""
    field = FIELD_OF[dimension]
    for part in in_parts(rows, match(span)):
        rows.update_many({**part, field: value}, {"$unset": {field: ""}})


def remove(rows: MongoCollection[Any], site: str, path: str | None = None) -> None:
    """Delete a site's hits, of one path or all, in parts."""
    for part in in_parts(rows, {"site": site, **({} if path is None else {"path": path})}):
        rows.delete_many(part)


def of_user(user: str, until: datetime | None) -> Document:
    """Return the filter of a user's hits up to a time; None: all."""
    return {"user": user, **({} if until is None else {"ts": {"$lte": until}})}


def in_parts(rows: MongoCollection[Any], where: Document) -> Iterator[Document]:
    """Yield filters that split a filter's hits by time into parts of about AT_ONCE hits.

    So no write takes longer on a larger site. The filter needs an index that ends with `ts`. All
    hits of one instant are in one part.
    """
    while last := _last_of_part(rows, where):
        yield {**where, "ts": {**where.get("ts", {}), "$lte": last}}
        where = {**where, "ts": {**where.get("ts", {}), "$gt": last}}
    yield where


def _last_of_part(rows: MongoCollection[Any], where: Document) -> datetime | None:
    """Return the time of the last hit of a filter's first part; None: the rest is one part."""
    found = rows.find(where, {"_id": 0, "ts": 1}).sort("ts", ASCENDING).skip(AT_ONCE - 1).limit(1)
    return next((row["ts"] for row in found), None)


def page(
    rows: MongoCollection[Any], span: Span, after: HitPosition | None, limit: int
) -> list[StoredHit]:
    """Return the first hits of a span after a position, by time and id."""
    # `until`, the expiry, is internal to the log.
    found = rows.find({**match(span), **following(after, "_id")}, {"until": 0})
    return first(found, "_id", limit)


def first(found: Cursor[Any], id_field: str, limit: int) -> list[Any]:
    """Return the first rows of a query by time and id, each id once.

    The server sorts by time alone, as its index does. With the id, it would sort a whole span for
    each page. The few rows of one instant are sorted here.
    """
    rows: dict[str, Any] = {}
    last = None
    with found.sort("ts", ASCENDING).batch_size(limit + 1):
        for row in found:
            if len(rows) >= limit and row["ts"] != last:
                break
            rows.setdefault(row[id_field], row)
            last = row["ts"]
    return sorted(rows.values(), key=lambda row: (row["ts"], row[id_field]))[:limit]


def following(after: HitPosition | None, id_field: str) -> Document:
    """Return the filter of the rows after a position."""
    if after is None:
        return {}
    later = [{"ts": {"$gt": after.ts}}, {"ts": after.ts, id_field: {"$gt": after.id}}]
    # The first condition bounds the index; the second decides within one instant.
    return {"$and": [{"ts": {"$gte": after.ts}}, {"$or": later}]}


def find_known(
    rows: MongoCollection[Any], hits: Iterable[StoredHit], session: ClientSession | None
) -> set[str]:
    """Return the ids of the hits that a collection has already."""
    ids, sites = [hit["_id"] for hit in hits], sorted({hit["site"] for hit in hits})
    found = rows.find({"_id": {"$in": ids}, "site": {"$in": sites}}, {"_id": 1}, session=session)
    return {row["_id"] for row in found}


def stats(database: Database[Document], name: str) -> Document:
    """Return the storage statistics of a collection, on all shards; 0 if it does not exist."""
    found = database.command("collStats", name)
    # A time series stores buckets instead of documents.
    count = found.get("count", found.get("timeseries", {}).get("bucketCount", 0))
    sizes = {field: int(found.get(field, 0)) for field in _SIZES}
    return {"count": int(count), **sizes}


def share(whole: Document, documents: int, hits: int, oldest: datetime | None) -> LogUsage:
    """Return a site's share of a collection's bytes, by its number of documents."""
    part = documents / whole["count"] if whole["count"] else 0.0
    return {
        "hits": hits,
        "bytes": round(whole["size"] * part),
        "index_bytes": round(whole["totalIndexSize"] * part),
        "oldest": oldest,
    }


def size(database: Database[Document], name: str, site: str) -> LogUsage:
    """Return a site's part of a collection."""
    rows: MongoCollection[Any] = database[name]
    oldest = next(iter(rows.find({"site": site}, {"ts": 1}).sort("ts", ASCENDING).limit(1)), None)
    hits = rows.count_documents({"site": site}, limit=MOST_COUNTED) if oldest else 0
    return share(stats(database, name), hits, hits, oldest["ts"] if oldest else None)
