"""Moves of a node's comments from store to store, while people read and post.

A move copies the comments under a new generation, which no request reads; one write then switches
the node to it. While the node has the mark of a move, no write is confirmed
(`writing/post.py`), so a write that the copy missed repeats in the new generation. After a
crash the old generation still serves, and the mark expires.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypedDict

from pymongo import ASCENDING, IndexModel, ReturnDocument

from chalicelib.comments import nodes
from chalicelib.comments.errors import StoreTooSmall
from chalicelib.comments.shapes import (
    MAX_EMBEDDED_COMMENTS,
    Comment,
    CommentCounts,
    Node,
    NodeGeneration,
    NodeMove,
    StoreName,
)
from chalicelib.comments.store import Full, Moved, is_shadow
from chalicelib.comments.stores import store_of
from chalicelib.database import Collection, Document, prefix_range
from chalicelib.errors import Unavailable
from chalicelib.ids import new_id
from chalicelib.jobs.sweeping import Sweep
from chalicelib.messaging import Message
from chalicelib.observability.logs import log
from chalicelib.runtime import LONGEST_RUN, Runtime

_SWEPT_AT_ONCE = 100


class Generation(TypedDict):
    """A generation of a node's comments in a store; `due`: when `sweep` may remove it."""

    _id: str
    node_id: str
    generation: int
    store: StoreName
    due: datetime


# Generations that `sweep` removes unless the node serves them.
GENERATIONS = Collection(
    "comments.generation",
    Generation,
    indexes=(IndexModel([("due", ASCENDING)]),),
)
_SWEEP = Sweep(GENERATIONS, "due")


class MoveNode(Message):
    """Move a node to its wanted store, or to its wanted id."""

    queue: ClassVar[str] = "promotion"

    node_id: str


def request_move(runtime: Runtime, node: Node, store: StoreName) -> Node:
    """Move a small node at once, or queue the move of a large node; return the node.

    A queued move stays in `wanted_store` until its end: if its message is lost, the schedule sends
    another. Raises CannotThread, StoreTooSmall, and Unavailable while another move runs.
    """
    nodes.check_threads(store, threaded=node["threaded"])
    if (
        store == "embedded"
        and sum(store_of(runtime, node).count(node).values()) > MAX_EMBEDDED_COMMENTS
    ):
        raise StoreTooSmall
    if node["last_seq"] <= runtime.bounds.comments.inline_move_comments:
        return move(runtime, node["_id"], store)
    wanted = nodes.want_store(runtime.database, node["_id"], store)
    runtime.queues.send(MoveNode(node_id=node["_id"]))
    return wanted


def move_wanted(runtime: Runtime, node_id: str) -> None:
    """Move a node to its `wanted_store`, if it still has one."""
    node = nodes.look(runtime.database, node_id)
    if node is None or node["wanted_store"] is None:
        return
    try:
        move(runtime, node_id, node["wanted_store"])
    except StoreTooSmall:
        nodes.end_want(runtime.database, node_id, {"wanted_store": node["wanted_store"]})
        log.warning("node does not fit its store", extra={"fields": {"node": node_id}})


def move(runtime: Runtime, node_id: str, store: StoreName) -> Node:
    """Move a node's comments to a store; return the node.

    Raises StoreTooSmall if they do not fit, and Unavailable if another move runs or replaces this
    move.
    """
    node = _begin(runtime, node_id, store)
    if node["store"] == store:
        return node
    target: Node = {**node, "generation": mark_of(node)["generation"], "store": store}
    try:
        mark_for_sweep(runtime, node, target)
        tally = MoveTally()
        batches = renewing(runtime, node, store_of(runtime, node).export(node))
        store_of(runtime, target).load(target, tally.of(batches))
        return _switch(runtime, target, tally)
    except Moved:
        raise Unavailable("Another move of this node has taken over") from None
    except Exception as error:
        abandon(runtime, node)
        if isinstance(error, Full):
            raise StoreTooSmall from None
        raise


def make_room(runtime: Runtime, node: Node) -> None:
    """Move a full node to the `documents` store, unless another move of it is running."""
    with contextlib.suppress(Unavailable):
        move(runtime, node["_id"], "documents")


def resend_moves(runtime: Runtime) -> int:
    """Send messages again for nodes with a wanted store or id; return the number of messages."""
    is_text = {"$type": "string"}
    where = {"$or": [{"wanted_store": is_text}, {"wanted_id": is_text}]}
    wanted = nodes.NODES.of(runtime.database).find(where, {"_id": 1}).limit(_SWEPT_AT_ONCE)
    messages = [MoveNode(node_id=node["_id"]) for node in wanted]
    runtime.queues.send(*messages)
    return len(messages)


def sweep(runtime: Runtime) -> int:
    """Remove generations that no request reads any more; return their number.

    A run takes at most `removal_steps` steps; the next run continues a large generation.
    """
    removed, steps = 0, iter(range(runtime.bounds.comments.removal_steps))
    noted = GENERATIONS.of(runtime.database)
    for row in _SWEEP.find(runtime, _SWEPT_AT_ONCE):
        as_read: Document = {"_id": row["_id"], "due": row["due"]}
        # A move to a vacant id may fill the same generation by now, after noting it anew.
        if noted.find_one(as_read, {"_id": 1}) is None:
            continue
        node = nodes.find_settled(runtime.database, row["node_id"], runtime.now())
        node = node or nodes.look(runtime.database, row["node_id"])
        is_vacant = node is None or "vacant" in node
        if node is not None and node["moving"] is not None and not is_vacant:
            continue
        if node is None or is_vacant or node["generation"] != row["generation"]:
            if not _drop(runtime, row, steps):
                break
            removed += 1
        noted.delete_one(as_read)
    return removed


def _drop(runtime: Runtime, row: Generation, steps: Iterator[int]) -> bool:
    """Remove a noted generation in steps; return whether it is gone."""
    stale: NodeGeneration = {
        "_id": row["node_id"],
        "store": row["store"],
        "generation": row["generation"],
    }
    store, most = store_of(runtime, stale), runtime.bounds.comments.removal_step_comments
    return any(not store.drop(stale, most) for _ in steps)


def has_waste(runtime: Runtime, node_id: str) -> bool:
    """Return whether generations of a node wait for the sweep."""
    noted = {"_id": prefix_range(f"{node_id}/")}
    return GENERATIONS.of(runtime.database).find_one(noted, {"_id": 1}) is not None


def sweep_due_at(runtime: Runtime) -> datetime:
    """Return the time by which every present call that uses a node has ended."""
    return runtime.now() + _lease(runtime) + LONGEST_RUN


def _lease(runtime: Runtime) -> timedelta:
    return timedelta(milliseconds=runtime.settings.lease_ms)


def _begin(runtime: Runtime, node_id: str, store: StoreName) -> Node:
    """Mark a node as moving and return it; a node already in the store gets no mark.

    Raises Unavailable if another move runs.
    """
    begun = mark_moving(runtime, node_id, {"store": {"$ne": store}})
    if begun is not None:
        return begun
    node = nodes.find(runtime.database, node_id)
    if node["store"] != store:
        raise Unavailable("Another move of this node is running")
    return _forget_want(runtime, node)


def mark_moving(
    runtime: Runtime, node_id: str, where: Mapping[str, Any] | None = None
) -> Node | None:
    """Mark a node as moving to a new generation and return it.

    Returns None if the node is unknown, lacks the values of `where`, or if another move holds it.
    """
    now = runtime.now()
    nodes.find_settled(runtime.database, node_id, now)
    return nodes.NODES.of(runtime.database).find_one_and_update(
        {"_id": node_id, "moving": None, **(where or {})},
        [
            {"$set": {"last_generation": {"$add": ["$last_generation", 1]}}},
            {
                "$set": {
                    "moving": {
                        "owner": new_id(now, runtime.random),
                        "expires_at": now + _lease(runtime),
                        "generation": "$last_generation",
                    }
                }
            },
        ],
        projection=nodes.WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )


def _forget_want(runtime: Runtime, node: Node) -> Node:
    """Remove a node's `wanted_store` if it is the present store; return the node."""
    nodes.end_want(runtime.database, node["_id"], {"wanted_store": node["store"]})
    return nodes.find(runtime.database, node["_id"])


def mark_for_sweep(runtime: Runtime, *generations: NodeGeneration) -> None:
    """Note generations for the sweep, before any of them can become waste."""
    due = sweep_due_at(runtime)
    for node in generations:
        row: Generation = {
            "_id": f"{node['_id']}/{node['generation']}",
            "node_id": node["_id"],
            "generation": node["generation"],
            "store": node["store"],
            "due": due,
        }
        GENERATIONS.of(runtime.database).replace_one({"_id": row["_id"]}, row, upsert=True)


def renewing(
    runtime: Runtime, node: Node, batches: Iterable[list[Comment]]
) -> Iterator[list[Comment]]:
    """Yield each batch after extending the move's lease; raises Moved if the move has ended."""
    for batch in batches:
        expiry = runtime.now() + _lease(runtime)
        renewed = nodes.NODES.of(runtime.database).update_one(
            owner_filter(node), {"$set": {"moving.expires_at": expiry}}
        )
        if not renewed.matched_count:
            raise Moved
        yield batch


class MoveTally:
    """The counts of copied comments, and whether any of them is shown to its author alone."""

    def __init__(self) -> None:
        self.counts: CommentCounts = {"visible": 0, "pending": 0}
        self._has_shadows = False

    def of(self, batches: Iterable[list[Comment]]) -> Iterator[list[Comment]]:
        """Yield each batch after adding it to the counts that the switch will set."""
        for batch in batches:
            for comment in batch:
                match comment["state"]:
                    case "visible" | "pending" as state:
                        self.counts[state] += 1
                self._has_shadows = self._has_shadows or is_shadow(comment)
            yield batch

    @property
    def raised(self) -> Mapping[str, int]:
        """The `$inc` of the switch, for shadowed comments in the copy.

        The switch confirms a copied post, so the post itself increments nothing.
        """
        return nodes.UNSEEN if self._has_shadows else {}


def _switch(runtime: Runtime, target: Node, tally: MoveTally) -> Node:
    """Switch a node to its new generation in one write; raises Moved if this move has ended."""
    counts = tally.counts
    served = {"store": target["store"], "generation": target["generation"]}
    others: Document = {} if target["store"] == "embedded" else {"$unset": {"metadata": ""}}
    if tally.raised:
        others["$inc"] = tally.raised
    switched = nodes.NODES.of(runtime.database).find_one_and_update(
        owner_filter(target),
        {"$set": {**served, "moving": None, "counts": counts}, **others},
        projection=nodes.WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )
    if switched is None:
        raise Moved
    fields = {"node": switched["_id"], "store": switched["store"], "comments": counts}
    log.info("node moved", extra={"fields": fields})
    return _forget_want(runtime, switched)


def abandon(runtime: Runtime, node: Node) -> None:
    """Remove the mark of a move from its node, unless another move has the node."""
    nodes.NODES.of(runtime.database).update_one(owner_filter(node), {"$set": {"moving": None}})


def owner_filter(node: Node) -> Document:
    """Return the filter of a node with the mark of this move."""
    return {"_id": node["_id"], "moving.owner": mark_of(node)["owner"]}


def mark_of(node: Node) -> NodeMove:
    """Return the mark of a node's running move; raises Moved without a move."""
    if node["moving"] is None:
        raise Moved
    return node["moving"]
