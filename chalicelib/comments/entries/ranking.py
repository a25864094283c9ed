"""Threads ranked by votes: their keys, and lists of roots in the order of a key."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pymongo import ASCENDING, DESCENDING
from pymongo.database import Database

from chalicelib.comments.entries.rows import ENTRIES, FEATURED
from chalicelib.comments.shapes import MOST_WAITING, Node, RankedOrder
from chalicelib.comments.store import GONE, Root
from chalicelib.database import Document

# Rank keys are whole numbers from the votes for and against, so equal keys compare as equal, and a
# cursor names a place exactly. `best` is the lower bound of Wilson's score interval for the share
# of votes for a comment, at 95% (Wilson, "Probable Inference, the Law of Succession, and
# Statistical Inference", 1927), in ten-thousandths. `top` is the difference. `contro` grows with
# the number of votes and with their balance. Each update of an entry's votes computes the keys in
# the server, by `rank_stages`; `rank_keys` is the same in Python.

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
                name: {"$cond": [gone, 0, {"$toLong": {"$let": {"vars": votes, "in": key}}}]}
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


class RootsPage(NamedTuple):
    """A part of a node's roots in an order; `after`: the key and the number of the root before."""

    node: Node
    order: RankedOrder
    after: tuple[int, int] | None
    limit: int


class OwnRoots(NamedTuple):
    """A shadowed person; `votes` (by comment id) and concealed roots count for them alone."""

    user_id: str
    votes: Mapping[str, int]


def roots(
    database: Database[Document], page: RootsPage, own: OwnRoots | None = None
) -> list[RankedRoot]:
    """Return roots by their key, the highest first, then by number.

    `own`: roots stand where they would if the person's comments and votes counted.
    """
    if own is None:
        return _listed_roots(database, page, {})
    moved = _own_roots(database, page, own)
    node_id = page.node["_id"]
    # Exclude them on every page: each stands on the page of its own key alone.
    others: Document = {"_id": {"$nin": [f"{node_id}/{each.id}" for each in moved]}}
    found = [
        *_listed_roots(database, page, others),
        *(each for each in moved if _is_in(each, page)),
    ]
    return sorted(found, key=lambda root: (-root.key, root.seq))[: page.limit]


def _is_in(root: RankedRoot, page: RootsPage) -> bool:
    """Return whether a root is after the beginning of a page."""
    if page.after is None:
        return True
    key, seq = page.after
    return root.key < key or (root.key == key and root.seq > seq)


def _own_roots(database: Database[Document], page: RootsPage, own: OwnRoots) -> list[RankedRoot]:
    """Return the roots whose key or presence differs for a shadowed person, with their own key."""
    node, order = page.node, page.order
    concealed = {"author_id": own.user_id, "node_id": node["_id"], "shadow": "visible", "depth": 0}
    voted = {"_id": {"$in": [f"{node['_id']}/{each}" for each in own.votes]}, "ranked": True}
    where = {"$or": [{"site": node["site"], **part} for part in (concealed, voted)]}
    fields = dict.fromkeys(("id", "seq", "posted", "thread", "up", "down", "base"), 1)
    found: Any = ENTRIES.of(database).find(where, fields)
    roots = []
    for row in found:
        vote, base = own.votes.get(row["id"], 0), row.get("base", {"up": 0, "down": 0})
        keys = rank_keys(
            row["up"] + base["up"] + (vote == 1), row["down"] + base["down"] + (vote == -1)
        )
        roots.append(_ranked_root(node, row, getattr(keys, KEYS[order])))
    return roots


def _listed_roots(
    database: Database[Document], page: RootsPage, where: Document
) -> list[RankedRoot]:
    node, key = page.node, KEYS[page.order]
    ranges: list[Document] = [{}]
    if page.after is not None:
        after, seq = page.after
        ranges = [{key: {"$lt": after}}, {key: after, "seq": {"$gt": seq}}]
    # `ranked` is the condition of the partial index: without it, the query scans the node.
    listed = {"site": node["site"], "node_id": node["_id"], "ranked": True, **where}
    fields = dict.fromkeys(("id", "seq", "posted", "thread", key), 1)
    found: Any = ENTRIES.of(database).find({"$or": [{**listed, **part} for part in ranges]}, fields)
    sort = [(key, DESCENDING), ("seq", ASCENDING)]
    return [_ranked_root(node, row, row[key]) for row in found.sort(sort).limit(page.limit)]


def _ranked_root(node: Node, row: Mapping[str, Any], key: int) -> RankedRoot:
    # A flat discussion has no threads, whatever a hint says.
    thread = row["thread"] if node["threaded"] else 1
    return RankedRoot(row["id"], row["seq"], row["posted"], thread, key)


def waiting_roots(database: Database[Document], node: Node, user_id: str) -> list[Root]:
    """Return a person's newest unranked roots: pending, or pending in the person's own view."""
    own = {"author_id": user_id, "site": node["site"], "node_id": node["_id"], "depth": 0}
    where = {
        "$or": [
            {**own, "state": "pending"},
            {**own, "shadow": {"$type": "string", "$eq": "pending"}},
        ]
    }
    found = ENTRIES.of(database).find(where, {"id": 1, "seq": 1}).sort("posted", DESCENDING)
    return [Root(row["id"], row["seq"]) for row in found.limit(MOST_WAITING)]
