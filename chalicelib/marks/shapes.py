"""The shapes of marks, of their counters, and of the marked things."""

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

# The largest number of different reactions of a person to a thing.
MAX_REACTIONS = 5
# Fields of a mark only until a worker has counted its changes.
OWED = ("counted", "due", "resends", "resent_by")
# A key is a field's name in counters: a dot would make it a path, a dollar an operator.
REACTION_KEY = r"^[a-z0-9_]{1,20}$"
# The moderators' verdict on a flag.
Outcome = Literal["right", "wrong"]
ReactionKey = Annotated[str, StringConstraints(pattern=REACTION_KEY)]

_KEY = re.compile(REACTION_KEY)


class Opinion(TypedDict):
    """A vote, which is 0 for none, and the keys of reactions."""

    vote: Literal[-1, 0, 1]
    reactions: Annotated[list[str], AtMost(MAX_REACTIONS)]


NO_OPINION: Opinion = {"vote": 0, "reactions": []}


class StoredFlag(TypedDict):
    """A report of a thing to its moderators, with its weight in the counter.

    is_heard: moderators have to see it, whatever its weight.
    outcome: the moderators' decision on the flag; a decided flag does not count.
    revision: the revision of the text at the decision.
    """

    reason: str
    note: str
    at: datetime
    weight: int
    is_heard: NotRequired[bool]
    outcome: NotRequired[Outcome]
    revision: NotRequired[int]


class Mark(Opinion):
    """A person's mark on a thing; `_id` is the `mark_id` of both.

    counted: the opinion that the thing's counter has; missing: the mark's own (none if shadowed).
    due: the time at which a sweep sends the mark's message again; missing: nothing to count.
    shadowed: its vote and reactions count for its person alone; missing: they count for all.
    """

    _id: str
    user_id: str
    at: datetime
    flag: NotRequired[StoredFlag]
    shadowed: NotRequired[bool]
    counted: NotRequired[Opinion]
    due: NotRequired[datetime]
    resends: NotRequired[int]
    resent_by: NotRequired[str]


class Marking(TypedDict):
    """The pace of a thing's marks and the design that counts them, on its counter.

    minute: the start of the minute of the last counted change, a withdrawal included.
    marks: the marks counted in that minute.
    design: `folded`: a worker counts marks in batches; missing: each mark counts at once.
    """

    minute: datetime
    marks: int
    design: NotRequired[Literal["folded"]]


class Counted(TypedDict, total=False):
    """The fields of a counter for its marks; counts of 0 may be missing.

    flags: the total weight of waiting flags. reports: the number of waiting flags with `is_heard`.
    hold_at: the time since which the feature must hold the thing back or queue it; missing: it
    need not.
    """

    up: int
    down: int
    reactions: dict[str, int]
    flags: int
    reports: int
    hold_at: datetime
    marking: Marking


class State(NamedTuple):
    """A person's vote, reactions and flag; the reactions have their order of arrival.

    flag: the weight of a flag that waits for moderators; None: no flag waits.
    is_heard: moderators have to see the waiting flag.
    is_settled: moderators have decided on the flag. revision: the text's revision at the decision.
    is_shadowed: vote and reactions count for the person alone.
    """

    vote: int = 0
    reactions: tuple[str, ...] = ()
    flag: int | None = None
    is_settled: bool = False
    is_heard: bool = False
    revision: int | None = None
    is_shadowed: bool = False


NOTHING = State()

# The condition of the index of shadowed marks; its queries repeat it.
SHADOWED = {"shadowed": True}
# The index of flags and its condition; queries name the index and repeat the condition.
BY_FLAG = [("_id", ASCENDING), ("flag.at", ASCENDING)]
FLAGGED = {"flag.at": {"$exists": True}}
# A thing's marks are a range of `_id`. The marks with a certain reaction to a thing are a range of
# the second index.
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
        # A shadowed person's marks on the things of a page.
        IndexModel([("user_id", ASCENDING), ("_id", ASCENDING)], partialFilterExpression=SHADOWED),
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
    """Return a mark's latest state, counted or not; an empty opinion is never shadowed."""
    state = _state(mark, mark)
    return state._replace(is_shadowed=_is_shadowed(mark) and bool(state.vote or state.reactions))


def counted_of(mark: Mark | None) -> State:
    """Return the part of a mark that its counter has; the flag is always part of it."""
    if mark is None:
        return NOTHING
    if "counted" not in mark and _is_shadowed(mark):
        return _state(NO_OPINION, mark)
    return _state(mark.get("counted", mark), mark)


def _is_shadowed(mark: Mark) -> bool:
    return mark.get("shadowed", False)


def _state(said: Opinion, mark: Mark) -> State:
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
    """A kind of things: their counters, and their conditions for marks.

    key: returns the filter of a thing's counter, with its shard key, for the thing's id.
    takes: returns the condition on the counter under which a thing accepts a person's marks.
    keeps: the condition on the counter under which a thing has counts.
    missing: the problem of a change on a thing that `keeps` or `takes` excludes.
    derived: returns stages of each update, which compute fields from the new counts.
    reported: returns further stages for an update that changes the number of reports.
    id_of: returns the id of a counter's thing, from the counter's `_id` and shard key.
    shown: the counter's fields that a change returns.

    A counter's `revision` changes with the text of its thing.
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
    """A thing that takes marks; `found` is its counter as the caller read it."""

    kind: Kind
    id: str
    found: Mapping[str, Any]

    def mark_of(self, user_id: str) -> str:
        """Return the id of a person's mark."""
        return mark_id(self.kind, self.id, user_id)


def mark_id(kind: Kind, thing_id: str, user_id: str) -> str:
    """Return the id of a person's mark on a thing; neither id may have an `@`."""
    return f"{kind.name}:{thing_id}@{user_id}"


def thing_of(id_: str) -> tuple[str, str]:
    """Return (name of the kind, id of the thing) for a mark's id."""
    name, _, thing_id = id_.partition("@")[0].partition(":")
    return name, thing_id


def marks_on(kind: Kind, thing_id: str, after: str = "") -> Document:
    """Return the filter of a thing's marks by people with ids after `after`; "": all."""
    # The successor of the @ ends the range.
    return {"_id": {"$gt": mark_id(kind, thing_id, after), "$lt": f"{kind.name}:{thing_id}A"}}
