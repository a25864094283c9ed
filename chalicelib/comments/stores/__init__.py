"""Stores of comments, and the move of a node from store to store.

A read follows a node that has moved. A write repeats until no move holds its node, within a budget
of time.

Public face: `buckets`, `collected`, `documents`, `embedded_tree`, `promotion`.
"""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.shapes import Node, NodeGeneration
from chalicelib.comments.store import Moved, Store
from chalicelib.comments.stores.buckets import BucketStore
from chalicelib.comments.stores.documents import DocumentStore
from chalicelib.comments.stores.embedded import EmbeddedStore
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime

_READ_ATTEMPTS = 5
_FIRST_WAIT_MS, _LONGEST_WAIT_MS = 10, 200

Answer = TypeVar("Answer")


def store_of(runtime: Runtime, node: NodeGeneration) -> Store:
    """Return the store that holds the node's comments."""
    match node["store"]:
        case "embedded":
            return EmbeddedStore(runtime.database, runtime.settings.embedded_max_bytes)
        case "buckets":
            return BucketStore(runtime.database)
        case _:
            return DocumentStore(runtime.database)


def ask(runtime: Runtime, node: Node, query: Callable[[Store, Node], Answer]) -> Answer:
    """Return a query's result in the node's store; after Moved, read the node and query again.

    Raises Unavailable after five attempts.
    """
    for _ in range(_READ_ATTEMPTS):
        try:
            return query(store_of(runtime, node), node)
        except Moved:
            node = nodes.find(runtime.database, node["_id"])
    raise Unavailable("The discussion is being moved")


def turns(runtime: Runtime, node: Node) -> Iterator[Node]:
    """Yield the node as given; then, at once and after pauses, as stored unless a move holds it.

    Ends after `post_budget_ms` of pauses. Follows a node to another id. Raises UnknownNode after
    the deletion of the node, even if a new node has its id.
    """
    yield node
    node_id, life = node["_id"], node.get("life")
    for _ in waits(runtime.settings.post_budget_ms):
        settled = nodes.find_settled(runtime.database, node_id, runtime.now())
        if settled is None:
            try:
                nodes.find(runtime.database, node_id)
            except NodeMoved as forward:
                node_id = forward.moved_to
        elif settled.get("life") != life:
            raise UnknownNode
        else:
            yield settled


def waits(budget_ms: int) -> Iterator[None]:
    """Yield one turn at once, then turns after growing pauses, within a budget of time."""
    pause_ms, spent_ms = _FIRST_WAIT_MS, 0
    yield
    while spent_ms + pause_ms <= budget_ms:
        time.sleep(pause_ms / 1000)
        spent_ms += pause_ms
        pause_ms = min(2 * pause_ms, _LONGEST_WAIT_MS)
        yield
