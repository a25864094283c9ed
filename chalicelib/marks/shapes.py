"""The shapes of marks: as stored, and what their counters bear."""

import re
from datetime import datetime
from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict

from pydantic import StringConstraints
from pymongo import ASCENDING, DESCENDING, IndexModel

from chalicelib.database import Collection
from chalicelib.database.validators import AtMost

# Different reactions of one person to one thing.
MAX_REACTIONS = 5
# A key is a field's name in counters: without dots, dollars and what a path could be.
REACTION_KEY = r"^[a-z0-9_]{1,20}$"
ReactionKey = Annotated[str, StringConstraints(pattern=REACTION_KEY)]

_KEY = re.compile(REACTION_KEY)


class Said(TypedDict):
    """A vote, which is 0 for none, and the keys of reactions."""

    vote: Literal[-1, 0, 1]
    reactions: Annotated[list[str], AtMost(MAX_REACTIONS)]


class Mark(Said):
    """What one person says to one thing; `_id` is the thing's and the person's.

    `counted` is what the thing's counter has of it. It is missing while that is all, and there,
    with the time at which a sweep counts it, while it is not.
    """

    _id: str
    user_id: str
    at: datetime
    counted: NotRequired[Said]
    due: NotRequired[datetime]
    resends: NotRequired[int]
    resent_by: NotRequired[str]


class Marking(TypedDict):
    """How the marks of a thing are counted, on its counter.

    `marks` were counted in the minute that begins at `minute`. Without a `design` each is counted
    with its placing.
    """

    minute: datetime
    marks: int
    design: NotRequired[Literal["folded"]]


class Counted(TypedDict, total=False):
    """The fields that a counter has for its marks; those that count nothing may be missing."""

    up: int
    down: int
    reactions: dict[str, int]
    marking: Marking


class State(NamedTuple):
    """A person's vote and reactions, in the order in which they came."""

    vote: int = 0
    reactions: tuple[str, ...] = ()


NOTHING = State()

# A thing's marks are a range of ids. Who reacted in one way is a range of the second index.
MARKS = Collection(
    "mark",
    Mark,
    indexes=(
        IndexModel([("user_id", ASCENDING), ("at", DESCENDING)]),
        IndexModel(
            [("reactions", ASCENDING), ("_id", ASCENDING)],
            partialFilterExpression={"reactions.0": {"$exists": True}},
        ),
        IndexModel(
            [("due", ASCENDING)],
            partialFilterExpression={"due": {"$exists": True}},
        ),
    ),
)


def is_key(text: str) -> bool:
    """Return whether a text may be the key of a reaction."""
    return _KEY.fullmatch(text) is not None


def wanted_of(mark: Said) -> State:
    """Return what a person said last."""
    return State(mark["vote"], tuple(mark["reactions"]))


def counted_of(mark: Mark | None) -> State:
    """Return what the counter has of a mark."""
    if mark is None:
        return NOTHING
    return wanted_of(mark.get("counted", mark))
