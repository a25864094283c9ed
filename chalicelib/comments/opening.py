"""The opening hours of a node: it takes comments from `opens_at` until `closes_at`.

The node of a page is public while the page is. Moderators of the site write at any time: to begin
a discussion before its readers, and to say a last word after them. A locked node takes no comment
at all.
"""

from datetime import UTC, datetime

from chalicelib.comments.errors import NodeClosed, NodeLocked
from chalicelib.comments.shapes import Node
from chalicelib.database import Document

# The `public_from` of a node whose page is not public, and has no time to be.
NEVER = datetime(9999, 1, 1, tzinfo=UTC)


def is_public(node: Node, now: datetime) -> bool:
    """Return whether the node's page is public at a time; a node without a page always is."""
    begin, end = node.get("public_from"), node.get("public_until")
    return (begin is None or begin <= now) and (end is None or end > now)


def is_open(node: Node, now: datetime) -> bool:
    """Return whether readers may comment in a node at a time."""
    return is_public(node, now) and not node["locked"] and _closed_error(node, now) is None


def check_open(node: Node, now: datetime, *, moderates: bool) -> None:
    """Raise NodeLocked for a locked node, and NodeClosed for readers of a closed node."""
    if node["locked"]:
        raise NodeLocked
    closed = _closed_error(node, now)
    if closed is not None and not moderates:
        raise closed


def writable_filter(now: datetime, moderated: frozenset[str] | None) -> Document:
    """Return the filter of nodes that a moderator of these sites may write to now.

    `moderated`: None for every site, empty for readers.
    """
    # A missing bound and null both mean no bound.
    begins, ends = {"$not": {"$gt": now}}, {"$not": {"$lte": now}}
    times = {"opens_at": begins, "closes_at": ends, "public_from": begins, "public_until": ends}
    if moderated is None:
        return {"locked": False}
    if not moderated:
        return {"locked": False, **times}
    return {"locked": False, "$or": [times, {"site": {"$in": sorted(moderated)}}]}


def _closed_error(node: Node, now: datetime) -> NodeClosed | None:
    """Return the error of a node that its times close to readers; None for an open node."""
    opens_at, closes_at = node.get("opens_at"), node.get("closes_at")
    if closes_at is not None and closes_at <= now:
        return NodeClosed({"closed_at": closes_at})
    if opens_at is not None and opens_at > now:
        return NodeClosed({"opens_at": opens_at})
    return None
