"""Pins and features of comments, by moderators of their site.

Each change raises the version of the node, in the same write or after it.
"""

from chalicelib.comments import nodes
from chalicelib.comments.discussion import pinned
from chalicelib.comments.discussion.reading import find
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.entries.rows import ENTRIES, key_of
from chalicelib.comments.errors import CommentDeleted, TooManyPins
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import GONE
from chalicelib.comments.stores import ask
from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import check_moderator


def pin(runtime: Runtime, node_id: str, comment_id: str, moderator: Principal) -> None:
    """Show a comment above the first page; a hidden comment appears there once it is visible.

    Raises UnknownNode, Forbidden, UnknownComment, CommentDeleted and TooManyPins.
    """
    node, _ = _find_living(runtime, node_id, comment_id, moderator)
    if not pinned.put_up(runtime.database, node_id, comment_id):
        _make_room(runtime, node, comment_id)
    # A concurrent deletion removes pins after the comment, so it may have missed this pin.
    after = ask(runtime, node, lambda store, now: store.get(now, comment_id))
    if after is None or after["state"] in GONE:
        pinned.take_down(runtime.database, node_id, [comment_id])
        raise CommentDeleted


def unpin(runtime: Runtime, node_id: str, comment_id: str, moderator: Principal) -> None:
    """Remove the pin of a comment; raises UnknownNode and Forbidden."""
    _find_node(runtime, node_id, moderator)
    pinned.take_down(runtime.database, node_id, [comment_id])


def feature(runtime: Runtime, node_id: str, comment_id: str, moderator: Principal) -> None:
    """List a comment in the order `featured`; a featured comment keeps its place.

    Raises UnknownNode, Forbidden, UnknownComment and CommentDeleted.
    """
    node, comment = _find_living(runtime, node_id, comment_id, moderator)
    rows, key = ENTRIES.of(runtime.database), key_of(node, comment_id)
    if rows.find_one(key, {"_id": 1}) is None:
        # A move has not carried the entry to the new id yet.
        entries.settle(runtime.database, node, comment)
    since: list[Document] = [{"$set": {"featured": {"$ifNull": ["$featured", runtime.now()]}}}]
    if not rows.update_one({**key, "state": {"$nin": list(GONE)}}, since).matched_count:
        raise CommentDeleted
    nodes.raise_versions(runtime.database, {"_id": node_id})


def unfeature(runtime: Runtime, node_id: str, comment_id: str, moderator: Principal) -> None:
    """Remove a comment from the order `featured`; raises UnknownNode and Forbidden."""
    node = _find_node(runtime, node_id, moderator)
    ENTRIES.of(runtime.database).update_one(key_of(node, comment_id), {"$unset": {"featured": ""}})
    nodes.raise_versions(runtime.database, {"_id": node_id})


def _make_room(runtime: Runtime, node: Node, comment_id: str) -> None:
    """Pin a comment in the place of a deleted comment; raises TooManyPins."""
    ids = nodes.find(runtime.database, node["_id"]).get("pinned", [])
    if comment_id in ids:
        return
    found = ask(runtime, node, lambda store, now: store.get_many(now, ids))
    there = {each["id"] for each in found if each["state"] not in GONE}
    pinned.take_down(runtime.database, node["_id"], [each for each in ids if each not in there])
    if not pinned.put_up(runtime.database, node["_id"], comment_id):
        raise TooManyPins


def _find_node(runtime: Runtime, node_id: str, moderator: Principal) -> Node:
    node = nodes.find(runtime.database, node_id)
    check_moderator(moderator, node["site"])
    return node


def _find_living(
    runtime: Runtime, node_id: str, comment_id: str, moderator: Principal
) -> tuple[Node, Comment]:
    node = _find_node(runtime, node_id, moderator)
    comment = find(runtime, node, comment_id, moderator)
    if comment["state"] in GONE:
        raise CommentDeleted
    return node, comment
