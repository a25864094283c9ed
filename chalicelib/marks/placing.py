"""Placing a mark: by the design that the thing's counter names."""

from typing import Any

from chalicelib.database import Document
from chalicelib.marks import counters, direct, folded
from chalicelib.marks.changes import NO_FLAG, Change, Flag, React, Vote
from chalicelib.marks.design import Design, Marked
from chalicelib.marks.shapes import Kind, Thing
from chalicelib.runtime import Runtime

__all__ = ["DESIGNS", "NO_FLAG", "Change", "Flag", "Marked", "React", "Vote", "choose", "place"]

# By the word that a counter has for it.
DESIGNS: dict[str | None, Design] = {None: direct, "folded": folded}


def place(runtime: Runtime, thing: Thing, user_id: str, change: Change) -> Marked:
    """Store what a person says to a thing; saying it again changes nothing.

    A thing that others mark often is counted by batch: its counts follow within seconds. Raises
    TooManyReactions, and the kind's own problem for a thing that has gone.
    """
    if isinstance(change, Flag):
        # Moderators have to learn of it at once, and few people flag.
        return direct.place(runtime, thing, user_id, change)
    marking: Any = thing.found.get("marking") or {}
    return DESIGNS[marking.get("design")].place(runtime, thing, user_id, change)


def choose(runtime: Runtime, kind: Kind, thing_id: str, *, is_folded: bool) -> bool:
    """Have the marks of a thing counted by batch, or at once; return whether there is the thing.

    A hot thing that is not to be folded is promoted again, and a quiet one falls back.
    """
    minute = runtime.now().replace(second=0, microsecond=0)
    marking: Document = {"minute": minute, "marks": 0}
    if is_folded:
        marking["design"] = "folded"
    found = counters.of(kind, runtime.database).update_one(
        counters.kept(kind, thing_id), {"$set": {"marking": marking}}
    )
    return bool(found.matched_count)
