"""Changes of a person's mark: the rules in Python, and the same rules as an update pipeline."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from chalicelib.database import Document
from chalicelib.marks.errors import TooManyReactions
from chalicelib.marks.shapes import MAX_REACTIONS, State, is_key


class Vote(NamedTuple):
    """A vote that replaces the earlier vote; 0 withdraws it.

    is_shadowed: the mark counts for its person alone; None: as before.
    """

    value: Literal[-1, 0, 1]
    is_shadowed: bool | None = None

    @property
    def adds(self) -> bool:
        """Return whether the change makes a mark if the person has none."""
        return self.value != 0


class React(NamedTuple):
    """A reaction, or its withdrawal; other reactions stay.

    is_shadowed: as in a vote.
    """

    key: str
    adds: bool = True
    is_shadowed: bool | None = None


class Flag(NamedTuple):
    """A report to moderators, or its withdrawal (`adds` False).

    A repeat changes the reason and note of a waiting report, and leaves its weight. After the
    moderators' decision a report stays unchanged until the text has another `revision`.

    weight: the report's part in the counter's `flags`. is_heard: moderators have to see it.
    owes: a condition on the counter; if true, the thing must be held back or queued.
    """

    reason: str
    note: str
    weight: int
    owes: Mapping[str, Any]
    is_heard: bool = True
    adds: bool = True
    revision: int = 0


NO_FLAG = Flag("", "", 0, {}, is_heard=False, adds=False)
Change = Vote | React | Flag


class Delta(NamedTuple):
    """The changes of a thing's counts; `marks`: the number of summed changes, for the pace."""

    up: int = 0
    down: int = 0
    reactions: tuple[tuple[str, int], ...] = ()
    marks: int = 0
    flags: int = 0
    reports: int = 0

    @property
    def is_nothing(self) -> bool:
        """Return whether all counts stay the same, whatever `marks` is."""
        return not (self.up or self.down or self.reactions or self.flags or self.reports)


def apply(state: State, change: Change) -> State:
    """Return a person's state after a change; raise TooManyReactions above MAX_REACTIONS."""
    if isinstance(change, Flag):
        return _apply_flag(state, change)
    after = state._replace(vote=change.value) if isinstance(change, Vote) else _react(state, change)
    is_shadowed = state.is_shadowed if change.is_shadowed is None else change.is_shadowed
    return after._replace(is_shadowed=is_shadowed and bool(after.vote or after.reactions))


def _react(state: State, change: React) -> State:
    if change.adds == (change.key in state.reactions):
        return state
    if not change.adds:
        return state._replace(reactions=tuple(k for k in state.reactions if k != change.key))
    if len(state.reactions) >= MAX_REACTIONS:
        raise TooManyReactions
    return state._replace(reactions=(*state.reactions, change.key))


def _apply_flag(state: State, change: Flag) -> State:
    is_decided = state.is_settled and state.revision == change.revision
    if is_decided or (change.adds and state.flag is not None):
        return state
    said = State(state.vote, state.reactions, is_shadowed=state.is_shadowed)
    if not change.adds:
        return said
    return said._replace(flag=change.weight, is_heard=change.is_heard)


def delta(pairs: Iterable[tuple[State, State]]) -> Delta:
    """Return the sum of changes, each (state before, state after)."""
    up = down = marks = flags = reports = 0
    reactions: Counter[str] = Counter()
    for before, after in (map(_part_for_all, pair) for pair in pairs):
        up += (after.vote == 1) - (before.vote == 1)
        down += (after.vote == -1) - (before.vote == -1)
        reactions.update(after.reactions)
        reactions.subtract(before.reactions)
        flags += (after.flag or 0) - (before.flag or 0)
        reports += after.is_heard - before.is_heard
        marks += 1
    counted = tuple(sorted((k, n) for k, n in reactions.items() if n))
    return Delta(up, down, counted, marks, flags, reports)


def _part_for_all(state: State) -> State:
    """Return the part of a state that counts; in a shadowed state, only the flag counts."""
    return state._replace(vote=0, reactions=()) if state.is_shadowed else state


def stage(change: Change, user_id: str, now: datetime) -> Document:
    """Return the stage of an update that changes a mark as `apply` does.

    A reaction above MAX_REACTIONS changes nothing, where `apply` raises. A repeat and a flag leave
    the time `at` of an existing mark.
    """
    before: Document = {
        "vote": {"$ifNull": ["$vote", 0]},
        "reactions": {"$ifNull": ["$reactions", []]},
    }
    after = {**before}
    if isinstance(change, Vote):
        after["vote"] = {"$literal": change.value}
    elif isinstance(change, React):
        after["reactions"] = _reactions(before["reactions"], change)
    else:
        after["flag"] = _flag(change, now)
    if not isinstance(change, Flag):
        after["shadowed"] = _shadow_of(after, change)
    is_same = {"$and": [{"$eq": [before[name], after[name]]} for name in before]}
    # A new mark has no time yet.
    is_kept = {"$and": [is_same, {"$gt": ["$at", None]}]}
    at = {"$cond": [is_kept, "$at", now]}
    return {"$set": {**after, "user_id": {"$literal": user_id}, "at": at}}


def _shadow_of(after: Document, change: Vote | React) -> Document:
    """Return the new `shadowed`: none for an empty mark, the old one for a refused reaction."""
    is_so = {"$eq": ["$shadowed", True]}
    wanted: Any = is_so if change.is_shadowed is None else change.is_shadowed
    if isinstance(change, React) and change.adds:
        is_taken = {"$in": [{"$literal": change.key}, after["reactions"]]}
        wanted = {"$cond": [is_taken, wanted, is_so]}
    says = {"$or": [{"$ne": [after["vote"], 0]}, {"$ne": [after["reactions"], []]}]}
    return {"$cond": [{"$and": [wanted, says]}, True, "$$REMOVE"]}


def _flag(change: Flag, now: datetime) -> Any:
    """Return the stored flag: a repeat of a waiting flag changes its reason and note alone."""
    is_decided = {
        "$and": [
            {"$ifNull": ["$flag.outcome", False]},
            {"$eq": ["$flag.revision", change.revision]},
        ]
    }
    if not change.adds:
        return {"$cond": [is_decided, "$flag", "$$REMOVE"]}
    said = {"reason": {"$literal": change.reason}, "note": {"$literal": change.note}}
    waits = {
        "$and": [{"$gt": ["$flag.at", None]}, {"$not": [{"$ifNull": ["$flag.outcome", False]}]}]
    }
    first = {"at": now, "weight": change.weight, "is_heard": change.is_heard}
    kept = {name: {"$cond": [waits, f"$flag.{name}", value]} for name, value in first.items()}
    # `$mergeObjects` replaces the earlier flag; `$set` would merge a plain document into the flag.
    return {"$cond": [is_decided, "$flag", {"$mergeObjects": [{**said, **kept}]}]}


def _reactions(before: Document, change: React) -> Document:
    if not is_key(change.key):
        raise ValueError(f"{change.key!r} is no key of a reaction")
    key = {"$literal": change.key}
    if not change.adds:
        return {"$filter": {"input": before, "cond": {"$ne": ["$$this", key]}}}
    is_full = {"$gte": [{"$size": before}, MAX_REACTIONS]}
    stays = {"$or": [{"$in": [key, before]}, is_full]}
    return {"$cond": [stays, before, {"$concatArrays": [before, [key]]}]}
