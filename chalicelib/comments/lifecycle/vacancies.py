"""Ids without a node: the deletion of a node with everything that belongs to it.

One write makes the node vacant, which ends it for readers and writers alike: its comments lie
under a generation that is no longer served, and a mark like that of a move, which never
expires, keeps every write from being confirmed. Before it, the generation is noted for the
sweep, so that a crash leaves nothing behind; the sweep comes when no late writer is left.
"""

from datetime import UTC, datetime
from typing import Any

from pymongo import ASCENDING

from chalicelib.comments import nodes
from chalicelib.comments.moderation import queue
from chalicelib.comments.stores import promotion, store_of
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

_ATTEMPTS = 5
_SWEPT_AT_ONCE = 100
_NEVER = datetime(9999, 12, 31, tzinfo=UTC)


def delete(runtime: Runtime, node_id: str) -> None:
    """Delete a node and its comments; up to 1,000 go at once, the others by the schedule.

    Raises UnknownNode, and Unavailable if the node keeps being moved meanwhile.
    """
    for _ in range(_ATTEMPTS):
        node = nodes.find(runtime.database, node_id)
        promotion.mark_for_sweep(runtime, node)
        if _vacate(runtime, node):
            break
    else:
        raise Unavailable("The discussion is being moved")
    queue.forget(runtime.database, node)
    store_of(runtime, node).drop(node, promotion.COMMENTS_A_STEP)
    fields = {"node": node_id, "site": node["site"], "comments": node["counts"]}
    log.info("node deleted", extra={"fields": fields})


def sweep(runtime: Runtime) -> int:
    """Remove the marks of deleted nodes of which nothing is left; return how many.

    A forward to another id stays, until somebody deletes it.
    """
    collection = nodes.collection(runtime.database)
    due = collection.find({"vacant.due": {"$lte": runtime.now()}}, nodes.WITHOUT_COMMENTS)
    removed = 0
    for node in due.sort("vacant.due", ASCENDING).limit(_SWEPT_AT_ONCE):
        if promotion.has_waste(runtime, node["_id"]):
            continue
        # A post that ended between its row of the queue and its comment has left that row.
        queue.forget(runtime.database, node)
        as_read = {"_id": node["_id"], "vacant": node["vacant"]}
        if "moved_to" in node["vacant"]:
            collection.update_one(as_read, {"$set": {"vacant.due": None}})
        else:
            removed += collection.delete_one(as_read).deleted_count
    return removed


def stop_forwarding(runtime: Runtime, node_id: str) -> None:
    """Free an id that forwards to another; nothing happens if it does not."""
    nodes.collection(runtime.database).update_one(
        {"_id": node_id, "vacant.moved_to": {"$type": "string"}},
        {
            "$unset": {"vacant.moved_to": ""},
            "$set": {"vacant.due": promotion.quiet_at(runtime)},
        },
    )


def emptied(runtime: Runtime, generation: Any) -> Document:
    """Return the fields of a vacant document; `generation` is a number or an expression."""
    return {
        "title": "",
        "url": "",
        "locked": True,
        "wanted_store": None,
        "written": None,
        "counts": {"visible": 0, "pending": 0},
        "moving": held_for_ever(generation),
        "vacant": {"since": runtime.now(), "due": promotion.quiet_at(runtime)},
    }


def held_for_ever(generation: Any) -> Document:
    """Return a mark like that of a move, which never expires."""
    return {"owner": "", "expires_at": _NEVER, "generation": generation}


def vacating(runtime: Runtime, **forward: Any) -> list[Document]:
    """Return the update that leaves an id without a node, with a forward if one is given."""
    last = {"$add": ["$last_generation", 1]}
    left = emptied(runtime, last)
    left["vacant"] |= forward
    return [
        {"$set": {**left, "generation": last, "last_generation": last}},
        {"$unset": ["metadata", "wanted_id"]},
    ]


def _vacate(runtime: Runtime, node: Document) -> bool:
    """Leave the id without a node, unless its comments lie elsewhere than was read."""
    as_read = {name: node[name] for name in ("_id", "store", "generation")}
    vacated = nodes.collection(runtime.database).update_one(as_read, vacating(runtime))
    return vacated.matched_count == 1
