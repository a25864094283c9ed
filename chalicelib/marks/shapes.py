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
# What moderators made of a flag.
Outcome = Literal["right", "wrong"]
ReactionKey = Annotated[str, StringConstraints(pattern=REACTION_KEY)]

_KEY = re.compile(REACTION_KEY)


class Said(TypedDict):
    """A vote, which is 0 for none, and the keys of reactions."""

    vote: Literal[-1, 0, 1]
    reactions: Annotated[list[str], AtMost(MAX_REACTIONS)]


class StoredFlag(TypedDict):
    """A report of a thing to its moderators, with the weight that it is counted with.

    `is_heard` says that moderators have to see it, whatever its weight. Once they have decided on
    the thing it is no longer counted, and was right or wrong; `revision` is the text that they saw.
    """

    reason: str
    note: str
    at: datetime
    weight: int
    is_heard: NotRequired[bool]
    outcome: NotRequired[Outcome]
    revision: NotRequired[int]


class Mark(Said):
    """What one person says to one thing; `_id` is the thing's and the person's.

    `counted` is what the thing's counter has of it. It is missing while that is all, and there,
    with the time at which a sweep counts it, while it is not.
    """

    _id: str
    user_id: str
    at: datetime
    flag: NotRequired[StoredFlag]
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
    """The fields that a counter has for its marks; those that count nothing may be missing.

    `flags` is the weight of the flags that wait for a decision, `reports` how many of them are
    heard, and `hold_at` since when the thing has to be held back or queued for them, until it is.
    """

    up: int
    down: int
    reactions: dict[str, int]
    flags: int
    reports: int
    hold_at: datetime
    marking: Marking


class State(NamedTuple):
    """A person's vote and reactions, in their order.

    `flag` is the weight of a flag that waits for moderators, and `is_heard` whether they have to
    see it. `is_settled` says that there is a flag on which they have decided, and `revision` on
    which text.
    """

    vote: int = 0
    reactions: tuple[str, ...] = ()
    flag: int | None = None
    is_settled: bool = False
    is_heard: bool = False
    revision: int | None = None


NOTHING = State()

# The condition of the index of flags, which its queries repeat.
BY_FLAG = [("_id", ASCENDING), ("flag.at", ASCENDING)]
FLAGGED = {"flag.at": {"$exists": True}}
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
        # The flags of a thing among all its marks.
        IndexModel(BY_FLAG, partialFilterExpression=FLAGGED),
        IndexModel(
            [("due", ASCENDING)],
            partialFilterExpression={"due": {"$exists": True}},
        ),
    ),
)


def is_key(text: str) -> bool:
    """Return whether a text may be the key of a reaction."""
    return _KEY.fullmatch(text) is not None


def wanted_of(mark: Mark) -> State:
    """Return what a person said last."""
    return _state(mark, mark)


def counted_of(mark: Mark | None) -> State:
    """Return what the counter has of a mark; a flag is always counted with its placing."""
    if mark is None:
        return NOTHING
    return _state(mark.get("counted", mark), mark)


def _state(said: Said, mark: Mark) -> State:
    vote, reactions, flag = said["vote"], tuple(said["reactions"]), mark.get("flag")
    if flag is None:
        return State(vote, reactions)
    if "outcome" in flag:
        return State(vote, reactions, is_settled=True, revision=flag.get("revision"))
    return State(vote, reactions, flag["weight"], is_heard=flag.get("is_heard", False))
