"""The roots of a node's threads in the order of a key, read from their entries."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pymongo import ASCENDING, DESCENDING
from pymongo.database import Database

from chalicelib.comments.entries.rows import ENTRIES, FEATURED, SHADOWS
from chalicelib.comments.shapes import MOST_WAITING, Node, RankedOrder
from chalicelib.comments.store import Root
from chalicelib.database import Document

# The key of each order.
KEYS: Mapping[RankedOrder, str] = {"best": "best", "top": "top", "controversial": "contro"}


class RankedRoot(NamedTuple):
    """The root of a thread with its key; `thread` is how many comments it may have."""

    id: str
    seq: int
    posted: datetime
    thread: int
    key: int


class Featured(NamedTuple):
    """A comment that is featured, and since when."""

    id: str
    seq: int
    since: datetime


def featured(
    database: Database[Document], node: Node, after: tuple[datetime, int] | None, limit: int
) -> list[Featured]:
    """Return visible comments that are featured, the last that was first; `after` is of those."""
    dated = FEATURED["featured"]
    ranges: list[Document] = [FEATURED]
    if after is not None:
        same = {"featured": {**dated, "$eq": after[0]}, "seq": {"$gt": after[1]}}
        ranges = [{"featured": {**dated, "$lt": after[0]}}, same]
    listed = {"site": node["site"], "node_id": node["_id"], "state": "visible"}
    where = {"$or": [{**listed, **part} for part in ranges]}
    found: Any = ENTRIES.of(database).find(where, dict.fromkeys(("id", "seq", "featured"), 1))
    rows = found.sort([("featured", DESCENDING), ("seq", ASCENDING)]).limit(limit)
    return [Featured(row["id"], row["seq"], row["featured"]) for row in rows]


def roots(
    database: Database[Document],
    node: Node,
    order: RankedOrder,
    after: tuple[int, int] | None,
    limit: int,
) -> list[RankedRoot]:
    """Return roots by their key, the highest first, and then by number; `after` is of those."""
    key = KEYS[order]
    ranges: list[Document] = [{}]
    if after is not None:
        ranges = [{key: {"$lt": after[0]}}, {key: after[0], "seq": {"$gt": after[1]}}]
    # With `ranked`, or the index, which is partial by it, would not be used.
    listed = {"site": node["site"], "node_id": node["_id"], "ranked": True}
    fields = dict.fromkeys(("id", "seq", "posted", "thread", key), 1)
    found: Any = ENTRIES.of(database).find({"$or": [{**listed, **part} for part in ranges]}, fields)
    sort = [(key, DESCENDING), ("seq", ASCENDING)]
    # A flat discussion has no threads, whatever a hint says.
    return [
        RankedRoot(
            row["id"], row["seq"], row["posted"], row["thread"] if node["threaded"] else 1, row[key]
        )
        for row in found.sort(sort).limit(limit)
    ]


def waiting_roots(database: Database[Document], node: Node, user_id: str) -> list[Root]:
    """Return the newest roots of a person that have no rank: they wait, or are hidden untold."""
    own = {"author_id": user_id, "site": node["site"], "node_id": node["_id"], "depth": 0}
    where = {"$or": [{**own, "state": "pending"}, {**own, **SHADOWS}]}
    found = ENTRIES.of(database).find(where, {"id": 1, "seq": 1}).sort("posted", DESCENDING)
    return [Root(row["id"], row["seq"]) for row in found.limit(MOST_WAITING)]
