"""When a node takes comments: from `opens_at` on and until `closes_at`, unless it is locked.

Moderators of the site write at any time: to begin a discussion before its readers, and to say a
last word after them. A node that is locked takes nothing from anybody.
"""

from datetime import datetime

from chalicelib.comments.errors import NodeClosed, NodeLocked
from chalicelib.comments.shapes import Node
from chalicelib.database import Document


def is_open(node: Node, now: datetime) -> bool:
    """Return whether a node takes comments of readers at a time."""
    return not node["locked"] and _closed(node, now) is None


def check_open(node: Node, now: datetime, *, moderates: bool) -> None:
    """Raise NodeLocked, or NodeClosed for readers, where nothing may be written now."""
    if node["locked"]:
        raise NodeLocked
    closed = _closed(node, now)
    if closed is not None and not moderates:
        raise closed


def taking(now: datetime, moderated: frozenset[str] | None) -> Document:
    """Return the filter of nodes that somebody may write to now, who moderates these sites.

    None stands for every site.
    """
    # A bound that is missing or null is none.
    times = {"opens_at": {"$not": {"$gt": now}}, "closes_at": {"$not": {"$lte": now}}}
    if moderated is None:
        return {"locked": False}
    if not moderated:
        return {"locked": False, **times}
    return {"locked": False, "$or": [times, {"site": {"$in": sorted(moderated)}}]}


def _closed(node: Node, now: datetime) -> NodeClosed | None:
    """Return why a node takes nothing of readers at a time, by its times alone."""
    opens_at, closes_at = node.get("opens_at"), node.get("closes_at")
    if closes_at is not None and closes_at <= now:
        return NodeClosed({"closed_at": closes_at})
    if opens_at is not None and opens_at > now:
        return NodeClosed({"opens_at": opens_at})
    return None
