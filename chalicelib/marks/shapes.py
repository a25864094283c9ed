"""The shapes of marks, of their counters, and of the things that are marked."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from pydantic import StringConstraints
from pymongo import ASCENDING, DESCENDING, IndexModel

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.errors import Problem

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


def _no_stages() -> list[Document]:
    return []


def _own_id(counter: Mapping[str, Any]) -> str:
    return str(counter["_id"])


@dataclass(frozen=True)
class Kind:
    """A kind of things: where their counters are, and when they take marks.

    `key` is the filter of a thing's counter, with its shard key. `takes` is the condition under
    which a thing takes a person's marks, and `keeps` that under which it has counts at all; one
    that has none is `missing`. `derived` are the stages that compute what follows from the counts,
    within the update that changes them, `reported` those that follow from another number of
    reports, and `id_of` is the id of a counter's thing, by the counter's shard key. A counter's
    `revision` changes with the text of its thing.
    """

    name: str
    counters: Collection[Any]
    key: Callable[[str], Document]
    takes: Callable[[str], Document]
    keeps: Mapping[str, Any]
    missing: type[Problem]
    derived: Callable[[], list[Document]] = _no_stages
    reported: Callable[[], list[Document]] = _no_stages
    id_of: Callable[[Mapping[str, Any]], str] = _own_id
    shown: tuple[str, ...] = ("up", "down", "reactions", "marking")


Kinds = Mapping[str, Kind]


class Thing(NamedTuple):
    """A thing that a person may mark, with its counter as the caller has read it."""

    kind: Kind
    id: str
    found: Mapping[str, Any]

    def mark_of(self, user_id: str) -> str:
        """Return the id of a person's mark."""
        return mark_id(self.kind, self.id, user_id)


def mark_id(kind: Kind, thing_id: str, user_id: str) -> str:
    """Return the id of a person's mark on a thing; neither of their ids has an `@`."""
    return f"{kind.name}:{thing_id}@{user_id}"


def thing_of(id_: str) -> tuple[str, str]:
    """Return the name of the kind and the id of the thing of a mark."""
    name, _, thing_id = id_.partition("@")[0].partition(":")
    return name, thing_id


def marks_on(kind: Kind, thing_id: str, after: str = "") -> Document:
    """Return the filter of a thing's marks, of people whose ids are after one."""
    # The successor of the @ ends the range.
    return {"_id": {"$gt": mark_id(kind, thing_id, after), "$lt": f"{kind.name}:{thing_id}A"}}
