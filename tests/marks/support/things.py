"""Things to mark that no feature has: counters with votes, reactions and a derived score."""

from typing import Any

from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.errors import Problem
from chalicelib.marks.shapes import Counted, Kind, Thing


class GoneThing(Problem):
    """Nothing takes marks here any more."""

    status = 404
    code = "gone_thing"


class StoredThing(Counted):
    """A counter, and who made what it counts."""

    _id: str
    author: str
    state: str
    score: int


def _score() -> list[Document]:
    up, down = ({"$ifNull": [f"${name}", 0]} for name in ("up", "down"))
    return [{"$set": {"score": {"$subtract": [up, down]}}}]


THINGS = Collection("test.thing", StoredThing)
KIND = Kind(
    name="thing",
    counters=THINGS,
    key=lambda id_: {"_id": id_},
    takes=lambda user_id: {"state": "visible", "author": {"$ne": user_id}},
    keeps={"state": {"$ne": "deleted"}},
    missing=GoneThing,
    derived=_score,
)
KINDS = {KIND.name: KIND}


def make(database: Database[Document], *ids: str) -> None:
    """Make things that nobody has marked."""
    rows = [{"_id": id_, "author": "author", "state": "visible", "score": 0} for id_ in ids]
    database[THINGS.name].insert_many(rows)


def read(database: Database[Document], thing_id: str) -> Thing:
    """Return a thing as a feature reads it before a mark."""
    found: Any = THINGS.of(database).find_one({"_id": thing_id})
    return Thing(KIND, thing_id, found)


def counts(database: Database[Document], thing_id: str) -> tuple[int, int, dict[str, int]]:
    """Return a thing's votes up and down, and its reactions."""
    found: Any = THINGS.of(database).find_one({"_id": thing_id})
    return found.get("up", 0), found.get("down", 0), found.get("reactions", {})


def is_folded(database: Database[Document], thing_id: str) -> bool:
    """Return whether a thing's marks are counted by batch."""
    folded = {"_id": thing_id, "marking.design": "folded"}
    return THINGS.of(database).find_one(folded) is not None
