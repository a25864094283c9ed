"""Moving a node's comments from one store to another, while people read and post.

The copy is made under a new generation, which nobody reads; one write then switches the node
to it. While the node is marked as moving, no write is confirmed (`discussion/posting.py`), so
what the copy missed is written again, to the new generation. A crash leaves the old generation
served, and the mark to expire.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypedDict

from pymongo import ASCENDING, IndexModel, ReturnDocument

from chalicelib.comments import nodes
from chalicelib.comments.errors import StoreTooSmall
from chalicelib.comments.store import (
    MAX_EMBEDDED_COMMENTS,
    Comment,
    Full,
    Moved,
    StoreName,
    counts_change,
)
from chalicelib.comments.stores import store_of
from chalicelib.database import Collection, Document
from chalicelib.errors import Unavailable
from chalicelib.ids import new_id
from chalicelib.messaging import Message
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# A larger node is moved by a worker.
MAX_COMMENTS_INLINE = 1_000
# Longer than any reader or writer of the old generation can still be at work.
_GRACE = timedelta(minutes=15)
_SWEPT_AT_ONCE = 100
# A run of the schedule removes at most this many comments, in steps.
_STEPS_A_SWEEP = 100
COMMENTS_A_STEP = 1_000


class Generation(TypedDict):
    """A generation of a node's comments, in its store."""

    _id: str
    node_id: str
    generation: int
    store: StoreName
    due: datetime


# Generations that are no longer read, or never came to be: what `sweep` has to remove.
GENERATIONS = Collection(
    "comments.generation",
    Generation,
    indexes=(IndexModel([("due", ASCENDING)]),),
)


class MoveNode(Message):
    """Move a node to the store that it is wanted in."""

    queue: ClassVar[str] = "promotion"

    node_id: str


def request_move(runtime: Runtime, node: Document, store: StoreName) -> Document:
    """Move a small node at once, and have a worker move a large one; return the node.

    The node's `wanted_store` stays until it is there: a schedule finds it should the message
    be lost. Raises CannotThread, StoreTooSmall, and Unavailable while another move runs.
    """
    nodes.check_threads({**node, "store": store})
    if (
        store == "embedded"
        and sum(store_of(runtime, node).count(node).values()) > MAX_EMBEDDED_COMMENTS
    ):
        raise StoreTooSmall
    if node["last_seq"] <= MAX_COMMENTS_INLINE:
        return move(runtime, node["_id"], store)
    wanted = nodes.want_store(runtime.database, node["_id"], store)
    runtime.queues.send(MoveNode(node_id=node["_id"]))
    return wanted


def move_wanted(runtime: Runtime, node_id: str) -> None:
    """Move a node to the store that it is wanted in, if it still is wanted elsewhere."""
    node = nodes.look(runtime.database, node_id)
    if node is None or node["wanted_store"] is None:
        return
    try:
        move(runtime, node_id, node["wanted_store"])
    except StoreTooSmall:
        nodes.want_store(runtime.database, node_id, None)
        log.warning("node does not fit its store", extra={"fields": {"node": node_id}})


def move(runtime: Runtime, node_id: str, store: StoreName) -> Document:
    """Move a node's comments to a store; return the node.

    Raises StoreTooSmall where they do not fit, and Unavailable while another move runs or
    when one takes this one over.
    """
    node = _begin(runtime, node_id, store)
    if node["store"] == store:
        return node
    target = {**node, "generation": node["moving"]["generation"], "store": store}
    try:
        mark_for_sweep(runtime, node, target)
        counts = {"visible": 0, "pending": 0}
        batches = renewing(runtime, node, store_of(runtime, node).export(node))
        store_of(runtime, target).load(target, counting(batches, counts))
        return _switch(runtime, target, counts)
    except Moved:
        raise Unavailable("Another move of this node has taken over") from None
    except Exception as error:
        abandon(runtime, node)
        if isinstance(error, Full):
            raise StoreTooSmall from None
        raise


def resend_wanted(runtime: Runtime) -> int:
    """Send the moves again that are still wanted, to a store or an id; return how many."""
    is_text = {"$type": "string"}
    where = {"$or": [{"wanted_store": is_text}, {"wanted_id": is_text}]}
    wanted = nodes.collection(runtime.database).find(where, {"_id": 1}).limit(_SWEPT_AT_ONCE)
    messages = [MoveNode(node_id=node["_id"]) for node in wanted]
    runtime.queues.send(*messages)
    return len(messages)


def sweep(runtime: Runtime) -> int:
    """Remove generations that nobody reads any more; return how many.

    A large one is removed in steps, and left to the next run once this one has done its part.
    """
    collection = runtime.database[GENERATIONS.name]
    due = collection.find({"due": {"$lte": runtime.now()}}).sort("due").limit(_SWEPT_AT_ONCE)
    removed, steps = 0, iter(range(_STEPS_A_SWEEP))
    for row in due:
        node = nodes.find_settled(runtime.database, row["node_id"], runtime.now())
        node = node or nodes.look(runtime.database, row["node_id"])
        is_vacant = node is None or "vacant" in node
        if node is not None and node["moving"] is not None and not is_vacant:
            continue
        if node is None or is_vacant or node["generation"] != row["generation"]:
            if not _drop(runtime, row, steps):
                break
            removed += 1
        collection.delete_one({"_id": row["_id"]})
    return removed


def _drop(runtime: Runtime, row: Document, steps: Iterator[int]) -> bool:
    """Remove a noted generation in steps; return whether nothing is left of it."""
    stale = {**row, "_id": row["node_id"]}
    store = store_of(runtime, stale)
    return any(not store.drop(stale, COMMENTS_A_STEP) for _ in steps)


def has_waste(runtime: Runtime, node_id: str) -> bool:
    """Return whether generations of a node are noted for the sweep."""
    # An id is followed by "/" and a number, and "0" comes after "/".
    noted = {"_id": {"$gt": f"{node_id}/", "$lt": f"{node_id}0"}}
    return runtime.database[GENERATIONS.name].find_one(noted, {"_id": 1}) is not None


def quiet_at(runtime: Runtime) -> datetime:
    """Return when nobody is at work any more who has read a node up to now."""
    return runtime.now() + _lease(runtime) + _GRACE


def _lease(runtime: Runtime) -> timedelta:
    return timedelta(milliseconds=runtime.settings.lease_ms)


def _begin(runtime: Runtime, node_id: str, store: StoreName) -> Document:
    """Mark a node as moving and return it; one that is there already is returned as it is."""
    begun = mark_moving(runtime, node_id, {"store": {"$ne": store}})
    if begun is not None:
        return begun
    node = nodes.find(runtime.database, node_id)
    if node["store"] != store:
        raise Unavailable("Another move of this node is running")
    return _arrived(runtime, node)


def mark_moving(
    runtime: Runtime, node_id: str, where: Mapping[str, Any] | None = None
) -> Document | None:
    """Mark a node as moving to a generation of its own; None where one moves or is otherwise."""
    now = runtime.now()
    nodes.find_settled(runtime.database, node_id, now)
    return nodes.collection(runtime.database).find_one_and_update(
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


def _arrived(runtime: Runtime, node: Document) -> Document:
    """Forget that the node was wanted in the store that it is in."""
    nodes.collection(runtime.database).update_one(
        {"_id": node["_id"], "wanted_store": node["store"]}, {"$set": {"wanted_store": None}}
    )
    return nodes.find(runtime.database, node["_id"])


def mark_for_sweep(runtime: Runtime, *generations: Document) -> None:
    """Note the old and the new generation before either can become waste."""
    due = quiet_at(runtime)
    for node in generations:
        runtime.database[GENERATIONS.name].replace_one(
            {"_id": f"{node['_id']}/{node['generation']}"},
            {
                "node_id": node["_id"],
                "generation": node["generation"],
                "store": node["store"],
                "due": due,
            },
            upsert=True,
        )


def renewing(
    runtime: Runtime, node: Document, batches: Iterable[list[Comment]]
) -> Iterator[list[Comment]]:
    """Pass batches on, keeping the mark alive; raises Moved once another owner has it."""
    for batch in batches:
        expiry = runtime.now() + _lease(runtime)
        renewed = nodes.collection(runtime.database).update_one(
            owned(node), {"$set": {"moving.expires_at": expiry}}
        )
        if not renewed.matched_count:
            raise Moved
        yield batch


def counting(batches: Iterable[list[Comment]], counts: dict[str, int]) -> Iterator[list[Comment]]:
    """Pass batches on, adding to the counts that the node will have."""
    for batch in batches:
        for comment in batch:
            for path, number in counts_change(None, comment["state"]).items():
                counts[path.removeprefix("counts.")] += number
        yield batch


def _switch(runtime: Runtime, target: Document, counts: dict[str, int]) -> Document:
    """Let readers and writers have the new generation, all at once."""
    served = {"store": target["store"], "generation": target["generation"]}
    left_behind = {} if target["store"] == "embedded" else {"$unset": {"metadata": ""}}
    switched = nodes.collection(runtime.database).find_one_and_update(
        owned(target),
        {
            "$set": {**served, "moving": None, "counts": counts},
            **left_behind,
        },
        projection=nodes.WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )
    if switched is None:
        raise Moved
    fields = {"node": switched["_id"], "store": switched["store"], "comments": counts}
    log.info("node moved", extra={"fields": fields})
    return _arrived(runtime, switched)


def abandon(runtime: Runtime, node: Document) -> None:
    """Take the mark of a move from its node, if it is the mover's own still."""
    nodes.collection(runtime.database).update_one(owned(node), {"$set": {"moving": None}})


def owned(node: Document) -> Document:
    """Return the filter of a node that bears the mark of this very move."""
    return {"_id": node["_id"], "moving.owner": node["moving"]["owner"]}
