"""Threads ranked by votes: their keys, and lists of roots in the order of a key."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pymongo import ASCENDING, DESCENDING
from pymongo.database import Database

from chalicelib.comments.entries.rows import ENTRIES, FEATURED, SHADOWS
from chalicelib.comments.shapes import MOST_WAITING, Node, RankedOrder
from chalicelib.comments.store import GONE, Root
from chalicelib.database import Document

# Rank keys are whole numbers from the votes for and against, so that equal is equal and a cursor
# names a place exactly. `best` is the lower bound of Wilson's score interval for the share of votes
# for a comment, at 95% (Wilson, "Probable Inference, the Law of Succession, and Statistical
# Inference", 1927), in ten-thousandths. `top` is the difference. `contro` grows with the number of
# votes and with their balance. Each update of an entry's votes computes the keys in the server, by
# `rank_stages`; `rank_keys` is the same in Python.

# The normal distribution's 97.5th percentile: an interval of 95%.
Z = 1.96
BEST_SCALE, CONTRO_SCALE = 10_000, 100


class RankKeys(NamedTuple):
    """The keys of one entry."""

    best: int
    top: int
    contro: int


UNRANKED = RankKeys(0, 0, 0)


def rank_keys(up: int, down: int) -> RankKeys:
    """Return the keys of a comment with these votes, which include votes from before Plaza."""
    return RankKeys(_best(up, down), up - down, _contro(up, down))


def rank_stages() -> list[Document]:
    """Return the stages of an update that give an entry its keys.

    They follow the stages that set `up`, `down`, `base` or `state`. A tombstone's keys are 0.
    """
    votes = {
        side: {"$add": [f"${side}", {"$ifNull": [f"$base.{side}", 0]}]} for side in ("up", "down")
    }
    keys = {"best": _best_stage(), "top": _top_stage(), "contro": _contro_stage()}
    gone = {"$in": ["$state", list(GONE)]}
    return [
        {
            "$set": {
                name: {"$cond": [gone, 0, {"$toInt": {"$let": {"vars": votes, "in": key}}}]}
                for name, key in keys.items()
            }
        }
    ]


def _best(up: int, down: int) -> int:
    votes = up + down
    if not votes:
        return 0
    share, z2 = up / votes, Z * Z
    spread = Z * math.sqrt((share * (1 - share) + z2 / (4 * votes)) / votes)
    return round(BEST_SCALE * ((share + z2 / (2 * votes) - spread) / (1 + z2 / votes)))


def _contro(up: int, down: int) -> int:
    if not up or not down:
        return 0
    return round(CONTRO_SCALE * math.pow(up + down, min(up, down) / max(up, down)))


def _best_stage() -> Document:
    z2 = Z * Z
    variance = {"$multiply": ["$$share", {"$subtract": [1, "$$share"]}]}
    widened = {"$add": [variance, {"$divide": [z2, {"$multiply": [4, "$$votes"]}]}]}
    spread = {"$multiply": [Z, {"$sqrt": {"$divide": [widened, "$$votes"]}}]}
    centre = {"$add": ["$$share", {"$divide": [z2, {"$multiply": [2, "$$votes"]}]}]}
    bound = {
        "$divide": [
            {"$subtract": [centre, spread]},
            {"$add": [1, {"$divide": [z2, "$$votes"]}]},
        ]
    }
    scaled = {"$round": [{"$multiply": [BEST_SCALE, bound]}]}
    share = {"$divide": ["$$up", "$$votes"]}
    shared = {"$let": {"vars": {"share": share}, "in": scaled}}
    some = {"$cond": ["$$votes", shared, 0]}
    return {"$let": {"vars": {"votes": {"$add": ["$$up", "$$down"]}}, "in": some}}


def _top_stage() -> Document:
    return {"$subtract": ["$$up", "$$down"]}


def _contro_stage() -> Document:
    evenness = {"$divide": [{"$min": ["$$up", "$$down"]}, {"$max": ["$$up", "$$down"]}]}
    grown = {"$pow": [{"$add": ["$$up", "$$down"]}, evenness]}
    both = {"$and": ["$$up", "$$down"]}
    return {"$cond": [both, {"$round": [{"$multiply": [CONTRO_SCALE, grown]}]}, 0]}


# The key of each order.
KEYS: Mapping[RankedOrder, str] = {"best": "best", "top": "top", "controversial": "contro"}


class RankedRoot(NamedTuple):
    """The root of a thread with its key; `thread`: the presumed number of its comments."""

    id: str
    seq: int
    posted: datetime
    thread: int
    key: int


class Featured(NamedTuple):
    """A featured comment, and the time of its feature."""

    id: str
    seq: int
    since: datetime


def featured_comments(
    database: Database[Document], node: Node, after: tuple[datetime, int] | None, limit: int
) -> list[Featured]:
    """Return visible featured comments, the latest feature first.

    `after`: the time and the number of the last comment before the page.
    """
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
    """Return roots by their key, the highest first, then by number.

    `after`: the key and the number of the last root before the page.
    """
    key = KEYS[order]
    ranges: list[Document] = [{}]
    if after is not None:
        ranges = [{key: {"$lt": after[0]}}, {key: after[0], "seq": {"$gt": after[1]}}]
    # `ranked` is the condition of the partial index: without it, the query scans the node.
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
    """Return a person's newest roots without a rank: waiting, or hidden without their knowledge."""
    own = {"author_id": user_id, "site": node["site"], "node_id": node["_id"], "depth": 0}
    where = {"$or": [{**own, "state": "pending"}, {**own, **SHADOWS}]}
    found = ENTRIES.of(database).find(where, {"id": 1, "seq": 1}).sort("posted", DESCENDING)
    return [Root(row["id"], row["seq"]) for row in found.limit(MOST_WAITING)]
