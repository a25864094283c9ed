"""Holding back and queueing what people have flagged: by the call that flags, or by a sweep.

The flag notes on the entry, in its own transaction, that the comment has to be held back or queued
(`hold_at`); the note goes when it is. So a call that dies in between loses nothing.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pymongo import ASCENDING

from chalicelib.comments import nodes
from chalicelib.comments.discussion.editing import hold_back, show_decided
from chalicelib.comments.entries.reported import is_over, is_protected, while_reported
from chalicelib.comments.entries.rows import ENTRIES, key_of, revision_of
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.stores import ask
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# The call that flagged is over by then.
OVERDUE = timedelta(minutes=1)
_SWEPT_AT_ONCE = 500
_ATTEMPTS = 3
_READ = ("node_id", "id", "flags", "cleared", "revision", "featured")


def tend(runtime: Runtime, node: Node, comment_id: str, entry: Mapping[str, Any]) -> bool:
    """Hold a flagged comment back or queue it, by its entry; return whether it was held back.

    One that has been changed three times meanwhile is left to the sweep.
    """
    for _ in range(_ATTEMPTS):
        comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
        if comment is None or comment["state"] != "visible":
            # It has been decided on, or deleted, or its entry is of a comment that is not there.
            done = {"$unset": {"hold_at": ""}}
            ENTRIES.of(runtime.database).update_one(key_of(node, comment_id), done)
            return False
        is_held = is_over(entry, held_from(runtime, node))
        if is_held and not is_protected(node, entry, comment):
            if hold_back(runtime, node, comment):
                # Unless a moderator decided on its flags in that moment.
                return not show_decided(runtime, node, comment_id)
        elif _queue(runtime, node, comment):
            return False
    return False


def held_from(runtime: Runtime, node: Node) -> int:
    """Return the weight, in hundredths, that flags in a node need to hold a comment back."""
    return 100 * settings.in_force(runtime, node)["flags_hold"]


def _queue(runtime: Runtime, node: Node, comment: Comment) -> bool:
    """Queue a reported comment that is shown; return False if it was changed since it was read."""
    key = key_of(node, comment["id"])
    # A missing revision is 0.
    as_read = {"state": "visible", "revision": revision_of(comment) or None}
    update: list[Document] = [{"$set": while_reported(comment)}, {"$unset": "hold_at"}]
    return ENTRIES.of(runtime.database).update_one({**key, **as_read}, update).matched_count == 1


def sweep(runtime: Runtime) -> int:
    """Hold back and queue what calls have left that ended half done; return how many were held."""
    over = {"hold_at": {"$type": "date", "$lte": runtime.now() - OVERDUE}}
    rows: Any = ENTRIES.of(runtime.database).find(over, dict.fromkeys(_READ, 1))
    held = 0
    for row in rows.sort("hold_at", ASCENDING).limit(_SWEPT_AT_ONCE):
        node = nodes.look(runtime.database, row["node_id"])
        if node is None or "vacant" in node:
            # A node that has moved takes its entries along, with their notes.
            continue
        try:
            held += tend(runtime, node, row["id"], row)
        except Unavailable:
            log.info("a flagged comment waits for the move of its node")
    return held
