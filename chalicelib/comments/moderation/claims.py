"""Claims: a moderator shows the others that they read a waiting comment.

A claim ends after ten minutes, when the comment leaves the queue, or by `release`. Other moderators
may still decide.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pymongo import ReturnDocument

from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import ENTRIES, QUEUED, Claim, key_of
from chalicelib.comments.errors import CommentClaimed
from chalicelib.comments.moderation.forms import ClaimAnswer
from chalicelib.comments.shapes import Node
from chalicelib.errors import UnknownComment
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import check_moderator

LEASE = timedelta(minutes=10)


def take(runtime: Runtime, node_id: str, comment_id: str, moderator: Principal) -> ClaimAnswer:
    """Claim a waiting comment for ten minutes, or extend the moderator's own claim.

    Raises UnknownNode, NodeMoved, Forbidden, UnknownComment for a comment that does not wait, and
    CommentClaimed while another moderator has the claim.
    """
    node, now = _node(runtime, node_id, moderator), runtime.now()
    free = [
        {"claimed.until": {"$exists": False}},
        {"claimed.until": {"$lte": now}},
        {"claimed.by": moderator.id},
    ]
    entries, key = ENTRIES.of(runtime.database), key_of(node, comment_id)
    claimed = {"by": moderator.id, "name": moderator.name, "until": now + LEASE}
    found = entries.find_one_and_update(
        {**key, **QUEUED, "$or": free},
        {"$set": {"claimed": claimed}},
        {"claimed": 1},
        return_document=ReturnDocument.AFTER,
    )
    if found is not None:
        return _answer(found["claimed"])
    waiting = entries.find_one({**key, **QUEUED}, {"claimed": 1})
    if waiting is None:
        raise UnknownComment
    raise CommentClaimed


def release(runtime: Runtime, node_id: str, comment_id: str, moderator: Principal) -> None:
    """End the moderator's own claim; without a claim, nothing changes.

    Raises UnknownNode, NodeMoved and Forbidden.
    """
    node = _node(runtime, node_id, moderator)
    own = {**key_of(node, comment_id), "claimed.by": moderator.id}
    ENTRIES.of(runtime.database).update_one(own, {"$unset": {"claimed": ""}})


def claim_answer(entry: Mapping[str, Any], now: datetime) -> ClaimAnswer | None:
    """Return the current claim of an entry; None: no claim, or an expired claim."""
    claimed = entry.get("claimed")
    if claimed is None or claimed["until"] <= now:
        return None
    return _answer(claimed)


def _answer(claimed: Claim) -> ClaimAnswer:
    name = claimed.get("name", claimed["by"])
    return {"by": claimed["by"], "name": name, "until": claimed["until"]}


def _node(runtime: Runtime, node_id: str, moderator: Principal) -> Node:
    node = nodes.find(runtime.database, node_id)
    check_moderator(moderator, node["site"])
    return node
