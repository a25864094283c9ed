"""The write of every change to a comment; a move of the node loses no change."""

from collections import Counter
from collections.abc import Mapping

from chalicelib import happenings
from chalicelib.comments import happened, nodes
from chalicelib.comments.discussion import pinned
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.errors import CommentChanged, CommentDeleted
from chalicelib.comments.moderation import queue
from chalicelib.comments.people.counting import recounting
from chalicelib.comments.shapes import Comment, CommentFields, Node
from chalicelib.comments.store import GONE, Full, Moved, counts_change
from chalicelib.comments.stores import store_of, turns
from chalicelib.comments.stores.promotion import make_room
from chalicelib.comments.terms import writing as terms
from chalicelib.errors import Unavailable, UnknownComment
from chalicelib.runtime import Runtime


def apply(
    runtime: Runtime,
    node: Node,
    comment: Comment,
    fields: CommentFields,
    where: CommentFields | None = None,
) -> Comment:
    """Change a comment, recount its author's comments and tell of it; return it.

    Raises CommentChanged if it lacks the values of `where` or is gone; without `where`,
    UnknownComment if it is gone.
    """
    thing = happened.name_of(node["_id"], comment["id"])
    author = comment["author"]["id"] if comment["author"] and "state" in fields else None
    with (
        happenings.telling(runtime, node["site"], happened.KIND, thing),
        recounting(runtime, node["site"], author),
    ):
        changed = change_comment(runtime, node, comment["id"], fields, where)
    if changed is None and where:
        raise CommentChanged
    if changed is None:
        # Another call has deleted it since it was found.
        raise UnknownComment
    return changed


def check_living(comment: Comment) -> Comment:
    """Return a comment; raises CommentDeleted if it is deleted."""
    if comment["state"] in GONE:
        raise CommentDeleted
    return comment


def change_comment(
    runtime: Runtime,
    node: Node,
    comment_id: str,
    fields: CommentFields,
    where: CommentFields | None = None,
) -> Comment | None:
    """Set fields of a comment that has the values of `where`; return the changed comment.

    Returns None for a comment that is unknown, deleted, or lacks these values. Raises Unavailable
    if a move of the node outlasts the budget of time.
    """
    nodes.touch(runtime, node["_id"])
    # Changes that each generation's counts still lack, since a move prevented the confirmation.
    owed: dict[tuple[str, int], Counter[str]] = {}
    changed: Comment | None = None
    raised: Mapping[str, int] = nodes.RAISED
    for current in turns(runtime, node):
        generation = (current["_id"], current["generation"])
        try:
            result = store_of(runtime, current).change(current, comment_id, fields, where or {})
        except (Moved, Full) as refused:
            if isinstance(refused, Full):
                make_room(runtime, current)
            continue
        if result is not None:
            changed = result.after
            if result.counted:
                return _settle(runtime, current, changed)
            raised = nodes.version_change(result.before, result.after)
            delta = counts_change(result.before["state"], result.after["state"])
            owed.setdefault(generation, Counter()).update(delta)
        if generation not in owed or _confirm(runtime, current, owed[generation], raised):
            return _settle(runtime, current, changed)
    raise Unavailable("The discussion is being moved")


def _confirm(
    runtime: Runtime, node: Node, owed: Mapping[str, int], raised: Mapping[str, int]
) -> bool:
    return nodes.count(runtime.database, node, dict(owed), raised)


def _settle(runtime: Runtime, node: Node, changed: Comment | None) -> Comment | None:
    if changed is not None:
        queue.settle(runtime.database, node, changed)
        if changed["state"] in GONE:
            pinned.take_down(runtime.database, node["_id"], [changed["id"]])
        entries.settle(runtime.database, node, changed, entries.owed_since(runtime, node))
        terms.settle(runtime, node, changed)
        happened.notify(runtime, node, changed["id"])
    return changed
