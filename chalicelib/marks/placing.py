"""Storing a mark by the counting design that the thing's counter names."""

from typing import Any

from chalicelib.database import Document
from chalicelib.marks import counters, direct, folded
from chalicelib.marks.changes import NO_FLAG, Change, Flag, React, Vote
from chalicelib.marks.design import Design, Marked
from chalicelib.marks.shapes import Kind, Thing
from chalicelib.runtime import Runtime

__all__ = ["DESIGNS", "NO_FLAG", "Change", "Flag", "Marked", "React", "Vote", "choose", "place"]

# By `marking.design` of a counter.
DESIGNS: dict[str | None, Design] = {None: direct, "folded": folded}


def place(runtime: Runtime, thing: Thing, user_id: str, change: Change) -> Marked:
    """Store a person's change of a mark on a thing; a repeat changes no count.

    A worker counts the marks of a hot thing in batches: its counts follow within seconds. Raises
    TooManyReactions; a change that counts at once raises the kind's problem for a missing thing.
    """
    if isinstance(change, Flag):
        # Moderators must see a flag at once, and few people flag.
        return direct.place(runtime, thing, user_id, change)
    marking: Any = thing.found.get("marking") or {}
    return DESIGNS[marking.get("design")].place(runtime, thing, user_id, change)


def choose(runtime: Runtime, kind: Kind, thing_id: str, *, is_folded: bool) -> bool:
    """Set whether a thing counts its marks in batches; return whether the thing exists.

    Later marks may change it: a hot thing goes to batches, and a quiet thing leaves them.
    """
    minute = runtime.now().replace(second=0, microsecond=0)
    marking: Document = {"minute": minute, "marks": 0}
    if is_folded:
        marking["design"] = "folded"
    found = counters.of(kind, runtime.database).update_one(
        counters.filter_of(kind, thing_id), {"$set": {"marking": marking}}
    )
    return bool(found.matched_count)
