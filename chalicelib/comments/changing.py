"""Changing a comment so that no move of its node loses the change."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from chalicelib.comments import moderation, nodes
from chalicelib.comments.posting import make_room, turns
from chalicelib.comments.store import Comment, Full, Moved, counts_change
from chalicelib.comments.stores import store_of
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime


def change_comment(
    runtime: Runtime,
    node: Document,
    comment_id: str,
    fields: Mapping[str, Any],
    where: Mapping[str, Any] | None = None,
) -> Comment | None:
    """Set fields of a comment that has the values of `where`; return it as it is then.

    Returns None for one that is unknown, deleted or otherwise. Raises Unavailable when a move
    of the node outlasts the budget of time.
    """
    nodes.touch(runtime.database, node["_id"], runtime.now())
    # What each generation's counts are owed: a write that a move kept from being confirmed.
    owed: dict[int, Counter[str]] = {}
    changed: Comment | None = None
    for current in turns(runtime, node):
        generation = current["generation"]
        try:
            result = store_of(runtime, current).change(current, comment_id, fields, where or {})
        except Moved:
            continue
        except Full:
            make_room(runtime, current)
            continue
        if result is not None:
            changed = result.after
            if not result.counted:
                delta = counts_change(result.before["state"], result.after["state"])
                owed.setdefault(generation, Counter()).update(delta)
        counted = result is not None and result.counted
        if counted or generation not in owed or _confirm(runtime, current, owed[generation]):
            return _settled(runtime, current, changed)
    raise Unavailable("The discussion is being moved")


def _confirm(runtime: Runtime, node: Document, owed: Mapping[str, int]) -> bool:
    return nodes.count(runtime.database, node, dict(owed))


def _settled(runtime: Runtime, node: Document, changed: Comment | None) -> Comment | None:
    if changed is not None:
        moderation.settle(runtime.database, node, changed)
    return changed
