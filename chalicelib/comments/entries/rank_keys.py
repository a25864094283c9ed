"""The keys by which comments are ranked: whole numbers, made of the votes for and against.

`best` is the lower bound of Wilson's score interval for the share of votes that are for a comment,
at 95% (Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", 1927), in
ten-thousandths: a comment with few votes ranks by what can be said of it. `top` is the difference,
and `contro` grows with the number of votes and with how evenly they are shared out.

Each update of an entry's votes computes them in the server, by `rank_stages`; `rank_keys` is the
same in Python. Whole numbers, so that equal is equal and a cursor names a place exactly.
"""

import math
from typing import NamedTuple

from chalicelib.comments.store import GONE
from chalicelib.database import Document

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
    """Return the keys of a comment with these votes, counts from before Plaza among them."""
    return RankKeys(_best(up, down), up - down, _contro(up, down))


def rank_stages() -> list[Document]:
    """Return the stages of an update that give an entry its keys.

    They come after the stages that set `up`, `down`, `base` or `state`; those of a tombstone are 0.
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
