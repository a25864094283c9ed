"""Wiping what has stood as spam for thirty days, as a deletion by the site's staff would."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pymongo import ASCENDING

from chalicelib.comments import nodes
from chalicelib.comments.discussion.editing import change_comment
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.entries.rows import ENTRIES, QUEUED
from chalicelib.comments.people.counting import counted_again
from chalicelib.comments.shapes import Comment, CommentFields, Node
from chalicelib.comments.store import WIPED
from chalicelib.comments.stores import ask
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

KEPT = timedelta(days=30)
_SWEPT_AT_ONCE = 200


def sweep(runtime: Runtime) -> int:
    """Wipe what has been spam for long enough, the oldest first; return how many comments."""
    until, wiped = runtime.now() - KEPT, 0
    over = {"$and": [QUEUED, {"queue": "spam", "queued_at": {"$lte": until}}]}
    rows: Any = ENTRIES.of(runtime.database).find(over, {"node_id": 1, "id": 1})
    for row in rows.sort([("queued_at", ASCENDING), ("_id", ASCENDING)]).limit(_SWEPT_AT_ONCE):
        node = nodes.look(runtime.database, row["node_id"])
        if node is None or "vacant" in node:
            # A node that has moved takes its entries along.
            continue
        try:
            wiped += _wipe(runtime, node, row, until)
        except Unavailable:
            log.info("spam waits for the move of its node")
    return wiped


def _wipe(runtime: Runtime, node: Node, row: Mapping[str, Any], until: datetime) -> bool:
    """Wipe a comment that its entry calls spam; return False if it is not, any more."""
    comment_id: str = row["id"]
    found = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if found is None:
        # Of a post that ended half done: the node is compared with its entries.
        nodes.touch(runtime.database, node["_id"], runtime.now())
        return False
    if not _is_over(found, until):
        entries.settle(runtime.database, node, found)
        return False
    author = found["author"]["id"] if found["author"] else None
    with counted_again(runtime, node["site"], author):
        where: CommentFields = {"state": found["state"], "spam_since": found["spam_since"]}
        return change_comment(runtime, node, comment_id, WIPED, where) is not None


def _is_over(comment: Comment, until: datetime) -> bool:
    since = comment.get("spam_since")
    return comment["state"] == "spam" and since is not None and since <= until
