"""Pinned comments: beside the first page, and in their own places of the listing, too."""

from collections.abc import Sequence

from pymongo.database import Database

from chalicelib.comments import nodes
from chalicelib.comments.forms import CommentsQuery
from chalicelib.comments.shapes import MAX_PINNED, Comment, Node
from chalicelib.comments.stores import ask
from chalicelib.database import Document
from chalicelib.runtime import Runtime


def pinned_comments(
    runtime: Runtime, node: Node, query: CommentsQuery, shown: Sequence[Comment]
) -> list[Comment]:
    """Return the visible pinned comments beside a first page, in the order of the pins.

    It reads no comment again that the page shows anyway.
    """
    ids = node.get("pinned", [])
    if not ids or query.cursor is not None or query.around is not None:
        return []
    found = {each["id"]: each for each in shown}
    missing = [each for each in ids if each not in found]
    if missing:
        read = ask(runtime, node, lambda store, now: store.get_many(now, missing))
        found |= {each["id"]: each for each in read}
    return [found[each] for each in ids if each in found and found[each]["state"] == "visible"]


def put_up(database: Database[Document], node_id: str, comment_id: str) -> bool:
    """Pin a comment; return False if it is pinned already, or there is no room for a pin."""
    room = {f"pinned.{MAX_PINNED - 1}": {"$exists": False}, "pinned": {"$ne": comment_id}}
    update = {"$push": {"pinned": comment_id}, "$inc": nodes.RAISED}
    where = {"_id": node_id, **nodes.OCCUPIED, **room}
    return nodes.NODES.of(database).update_one(where, update).matched_count == 1


def take_down(database: Database[Document], node_id: str, comment_ids: Sequence[str]) -> None:
    """Remove the pins of comments; without a pin, nothing changes."""
    some = {"$in": list(comment_ids)}
    update = {"$pull": {"pinned": some}, "$inc": nodes.RAISED}
    nodes.NODES.of(database).update_one({"_id": node_id, "pinned": some}, update)
