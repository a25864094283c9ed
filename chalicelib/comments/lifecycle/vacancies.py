"""Vacant ids: the deletion of a node with all its data.

One write makes the node vacant. Readers then find no generation of comments, and a move's mark that
never expires makes every late write fail. Before this write, the deletion notes the generation for
the sweep, so a crash leaves nothing behind. The sweep removes the generation when no late writer
remains.
"""

from datetime import UTC, datetime
from functools import partial
from typing import TypedDict

from chalicelib import deadlines, happenings
from chalicelib.comments import nodes, watches
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.entries.carrying import carry
from chalicelib.comments.entries.rows import ENTRIES, all_of
from chalicelib.comments.moderation import queue
from chalicelib.comments.shapes import CommentCounts, Node, StoreName, Vacancy
from chalicelib.comments.stores import promotion, store_of
from chalicelib.comments.terms import writing as terms
from chalicelib.comments.terms.rows import TERMS
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.jobs.sweeping import Sweep
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

_ATTEMPTS = 5
_SWEPT_AT_ONCE = 100
# The shares of the remaining time to remove one node's rows: of a request, and of a sweep's run.
_OF_REQUEST, _OF_RUN = 0.25, 0.5
_SWEEP = Sweep(nodes.NODES, "vacant.due", fields=nodes.WITHOUT_COMMENTS)
# When the mark of a vacant document expires.
NEVER = datetime(9999, 12, 31, tzinfo=UTC)


class EmptyFields(TypedDict):
    """The fields of a vacant document, emptied."""

    title: str
    url: str
    url_key: str
    locked: bool
    wanted_store: StoreName | None
    written: datetime | None
    counts: CommentCounts
    vacant: Vacancy


def insert(runtime: Runtime, node: Node) -> bool:
    """Store a new node under a free or vacant id, as `nodes.insert`; may raise Unavailable."""
    return nodes.insert(runtime.database, node, partial(clear, runtime))


def clear(runtime: Runtime, left: Node) -> None:
    """Remove the rows that the former node's deletion left at a vacant id.

    Readers and moderators of the next node would see these rows. Raises Unavailable if some remain
    when the time for them is over.
    """
    since = left["vacant"]["since"]
    queue.forget(runtime.database, left, since)
    if "moved_to" not in left["vacant"]:
        if not _forget_rows(runtime, left, since, _OF_REQUEST):
            raise Unavailable("The comments of the former discussion are still on their way out")
        watches.forget(runtime.database, left, since)


def delete(runtime: Runtime, node_id: str) -> None:
    """Delete a node and the first step of its comments; the schedule removes the rest.

    Raises UnknownNode and NodeMoved, and Unavailable if moves of the node keep interfering.
    """
    for _ in range(_ATTEMPTS):
        node = nodes.find(runtime.database, node_id)
        happenings.note(runtime, node["site"], "discussion", node_id)
        promotion.mark_for_sweep(runtime, node)
        # Only rows until now go: a later node at this id has newer rows.
        until = runtime.now()
        if _vacate(runtime, node):
            break
    else:
        raise Unavailable("The discussion is being moved")
    happenings.send(runtime, node["site"], "discussion", node_id)
    queue.forget(runtime.database, node, until)
    _forget_rows(runtime, node, until, _OF_REQUEST)
    watches.forget(runtime.database, node, until)
    store_of(runtime, node).drop(node, runtime.bounds.comments.removal_step_comments)
    fields = {"node": node_id, "site": node["site"], "comments": node["counts"]}
    log.info("node deleted", extra={"fields": fields})


def sweep(runtime: Runtime) -> int:
    """Remove the last rows and the vacant documents of deleted nodes; return how many documents.

    Skips nodes with generations left. A forward to another id stays until `stop_forwarding`.
    """
    collection, removed = nodes.NODES.of(runtime.database), 0
    for node in _SWEEP.find(runtime, _SWEPT_AT_ONCE):
        if promotion.has_waste(runtime, node["_id"]):
            continue
        as_read, until = {"_id": node["_id"], "vacant": node["vacant"]}, runtime.now()
        # The run's earlier nodes took time: a new node may have the id now, and rows of its own.
        if collection.find_one(as_read, {"_id": 1}) is None:
            continue
        # A post that crashed after its queue row and before its comment left the row.
        queue.forget(runtime.database, node, until)
        if moved_to := node["vacant"].get("moved_to"):
            carry(runtime, node, moved_to)
            terms.carry(runtime, node, moved_to)
            watches.carry(runtime, node, moved_to)
        else:
            if not _forget_rows(runtime, node, until, _OF_RUN):
                # The next run goes on.
                continue
            watches.forget(runtime.database, node, until)
        if "moved_to" in node["vacant"]:
            collection.update_one(as_read, {"$set": {"vacant.due": None}})
        else:
            removed += collection.delete_one(as_read).deleted_count
    return removed


def _forget_rows(runtime: Runtime, node: Node, until: datetime, part: float) -> bool:
    """Remove entries and terms of a node's comments, in steps; return whether none remain.

    `until`: the latest time of posting. Ends after a `part` of the remaining time, but not before
    the first step.
    """
    has_time, most = deadlines.share(part), runtime.bounds.comments.removal_step_comments
    for forget in (entries.forget, terms.forget):
        while forget(runtime.database, node, until, most):
            if not has_time():
                return False
    return True


def stop_forwarding(runtime: Runtime, node_id: str) -> None:
    """End the forward of an id, if there is any; a sweep frees the id. Raises Unavailable."""
    check_empty(runtime, node_id)
    nodes.NODES.of(runtime.database).update_one(
        {"_id": node_id, "vacant.moved_to": {"$type": "string"}},
        {
            "$unset": {"vacant.moved_to": ""},
            "$set": {"vacant.due": promotion.sweep_due_at(runtime)},
        },
    )


def check_empty(runtime: Runtime, node_id: str) -> None:
    """Raise Unavailable while rows at a forwarding id have yet to follow its node.

    The next node at the id would remove these rows, or lose its own rows to the moved node.
    """
    node = nodes.look(runtime.database, node_id)
    if node is None or "moved_to" not in node.get("vacant", {}):
        return
    where = all_of(node, node["site"])
    for rows in (ENTRIES, TERMS, watches.WATCHES):
        if rows.of(runtime.database).find_one(where, {"_id": 1}) is not None:
            # The last sweep may have run before this row appeared: make another sweep due.
            ended = {"_id": node_id, "vacant": {**node["vacant"], "due": None}}
            again = {"$set": {"vacant.due": runtime.now()}}
            nodes.NODES.of(runtime.database).update_one(ended, again)
            raise Unavailable("The comments of the moved discussion are still on their way")


def empty_fields(runtime: Runtime) -> EmptyFields:
    """Return the fields of a vacant document, without its generation and its mark."""
    return {
        "title": "",
        "url": "",
        "url_key": "",
        "locked": True,
        "wanted_store": None,
        "written": None,
        "counts": {"visible": 0, "pending": 0},
        "vacant": {"since": runtime.now(), "due": promotion.sweep_due_at(runtime)},
    }


def vacating(runtime: Runtime, **forward: str) -> list[Document]:
    """Return the update that makes an id vacant, with the given forward."""
    last = {"$add": ["$last_generation", 1]}
    left: Document = {**empty_fields(runtime)}
    left["vacant"] |= forward
    left["moving"] = {"owner": "", "expires_at": NEVER, "generation": last}
    return [
        {"$set": {**left, "generation": last, "last_generation": last}},
        {"$unset": ["metadata", "wanted_id"]},
    ]


def _vacate(runtime: Runtime, node: Node) -> bool:
    """Make the id vacant, unless another store or generation now holds the comments."""
    as_read = {"_id": node["_id"], "store": node["store"], "generation": node["generation"]}
    vacated = nodes.NODES.of(runtime.database).update_one(as_read, vacating(runtime))
    return vacated.matched_count == 1
