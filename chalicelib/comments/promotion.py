"""Moving a node's comments from one store to another, while people read and post.

The copy is made under a new generation, which nobody reads; one write then switches the node
to it. While the node is marked as moving, no write is confirmed (`chalicelib.comments.posting`),
so what the copy missed is written again, to the new generation. A crash leaves the old
generation served, and the mark to expire.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import ClassVar, TypedDict

from pymongo import ASCENDING, IndexModel, ReturnDocument

from chalicelib.comments import nodes
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
from chalicelib.errors import StoreTooSmall, Unavailable
from chalicelib.ids import new_id
from chalicelib.logs import log
from chalicelib.queues import Message
from chalicelib.runtime import Runtime

# A larger node is moved by a worker.
MAX_COMMENTS_INLINE = 1_000
# Longer than any reader or writer of the old generation can still be at work.
_GRACE = timedelta(minutes=15)
_SWEPT_AT_ONCE = 100


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
    node = nodes.find(runtime.database, node_id)
    if node["wanted_store"] is None:
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
        _mark_for_sweep(runtime, node, target)
        counts = {"visible": 0, "pending": 0}
        batches = _renewing(runtime, node, store_of(runtime, node).export(node))
        store_of(runtime, target).load(target, _counting(batches, counts))
        return _switch(runtime, target, counts)
    except Moved:
        raise Unavailable("Another move has taken over") from None
    except Exception as error:
        _abandon(runtime, node)
        if isinstance(error, Full):
            raise StoreTooSmall from None
        raise


def resend_wanted(runtime: Runtime) -> int:
    """Send the moves again that are still wanted; return how many."""
    where = {"wanted_store": {"$type": "string"}}
    wanted = nodes.collection(runtime.database).find(where, {"_id": 1}).limit(_SWEPT_AT_ONCE)
    messages = [MoveNode(node_id=node["_id"]) for node in wanted]
    runtime.queues.send(*messages)
    return len(messages)


def sweep(runtime: Runtime) -> int:
    """Remove generations that nobody reads any more; return how many."""
    collection = runtime.database[GENERATIONS.name]
    due = collection.find({"due": {"$lte": runtime.now()}}).sort("due").limit(_SWEPT_AT_ONCE)
    removed = 0
    for row in due:
        node = nodes.find_settled(runtime.database, row["node_id"], runtime.now())
        if node is None:
            continue
        if node["generation"] != row["generation"]:
            stale = {**node, "generation": row["generation"], "store": row["store"]}
            store_of(runtime, stale).discard(stale)
            removed += 1
        collection.delete_one({"_id": row["_id"]})
    return removed


def _lease(runtime: Runtime) -> timedelta:
    return timedelta(milliseconds=runtime.settings.lease_ms)


def _begin(runtime: Runtime, node_id: str, store: StoreName) -> Document:
    """Mark a node as moving and return it; one that is there already is returned as it is."""
    now = runtime.now()
    owner = new_id(now, runtime.random)
    nodes.find_settled(runtime.database, node_id, now)
    begun = nodes.collection(runtime.database).find_one_and_update(
        {"_id": node_id, "moving": None, "store": {"$ne": store}},
        [
            {"$set": {"last_generation": {"$add": ["$last_generation", 1]}}},
            {
                "$set": {
                    "moving": {
                        "owner": owner,
                        "expires_at": now + _lease(runtime),
                        "generation": "$last_generation",
                    }
                }
            },
        ],
        projection=nodes.WITHOUT_COMMENTS,
        return_document=ReturnDocument.AFTER,
    )
    if begun is not None:
        return begun
    node = nodes.find(runtime.database, node_id)
    if node["store"] != store:
        raise Unavailable("Another move of this node is running")
    return _arrived(runtime, node)


def _arrived(runtime: Runtime, node: Document) -> Document:
    """Forget that the node was wanted in the store that it is in."""
    nodes.collection(runtime.database).update_one(
        {"_id": node["_id"], "wanted_store": node["store"]}, {"$set": {"wanted_store": None}}
    )
    return nodes.find(runtime.database, node["_id"])


def _mark_for_sweep(runtime: Runtime, *generations: Document) -> None:
    """Note the old and the new generation before either can become waste."""
    due = runtime.now() + _lease(runtime) + _GRACE
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


def _renewing(
    runtime: Runtime, node: Document, batches: Iterable[list[Comment]]
) -> Iterator[list[Comment]]:
    """Pass batches on, keeping the mark alive; raises Moved once another owner has it."""
    for batch in batches:
        expiry = runtime.now() + _lease(runtime)
        renewed = nodes.collection(runtime.database).update_one(
            _owned(node), {"$set": {"moving.expires_at": expiry}}
        )
        if not renewed.matched_count:
            raise Moved
        yield batch


def _counting(batches: Iterable[list[Comment]], counts: dict[str, int]) -> Iterator[list[Comment]]:
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
        _owned(target),
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


def _abandon(runtime: Runtime, node: Document) -> None:
    nodes.collection(runtime.database).update_one(_owned(node), {"$set": {"moving": None}})


def _owned(node: Document) -> Document:
    return {"_id": node["_id"], "moving.owner": node["moving"]["owner"]}
