"""Holding back what people have flagged: by the call that flags, or by a sweep after a crash.

The flag that weighs enough notes on the entry, in its own transaction, that the comment has to be
held back (`hold_at`); the note goes when it is.
"""

from datetime import timedelta
from typing import Any

from pymongo import ASCENDING

from chalicelib.comments import nodes
from chalicelib.comments.discussion.editing import hold_back
from chalicelib.comments.entries.rows import ENTRIES, key_of
from chalicelib.comments.shapes import Node
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# The call that flagged is over by then.
OVERDUE = timedelta(minutes=1)
_SWEPT_AT_ONCE = 500


def hold(runtime: Runtime, node: Node, comment_id: str) -> bool:
    """Hold a flagged comment back; return False if it was not visible any more."""
    if hold_back(runtime, node, comment_id):
        return True
    # It has been decided on, or deleted, or its entry is of a comment that is not there.
    done = {"$unset": {"hold_at": ""}}
    ENTRIES.of(runtime.database).update_one(key_of(node, comment_id), done)
    return False


def sweep(runtime: Runtime) -> int:
    """Hold back what calls have left that ended half done; return how many."""
    over = {"hold_at": {"$type": "date", "$lte": runtime.now() - OVERDUE}}
    rows: Any = ENTRIES.of(runtime.database).find(over, {"node_id": 1, "id": 1, "site": 1})
    held = 0
    for row in rows.sort("hold_at", ASCENDING).limit(_SWEPT_AT_ONCE):
        node = nodes.look(runtime.database, row["node_id"])
        if node is None or "vacant" in node:
            # A node that has moved takes its entries along, with their notes.
            continue
        try:
            held += hold(runtime, node, row["id"])
        except Unavailable:
            log.info("a flagged comment waits for the move of its node")
    return held
