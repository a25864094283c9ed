"""Stores of comments, and the move of a node from store to store.

Public face: `buckets`, `collected`, `documents`, `embedded_tree`, `promotion`.
"""

from collections.abc import Callable
from typing import TypeVar

from chalicelib.comments import nodes
from chalicelib.comments.shapes import Node, NodeGeneration
from chalicelib.comments.store import Moved, Store
from chalicelib.comments.stores.buckets import BucketStore
from chalicelib.comments.stores.documents import DocumentStore
from chalicelib.comments.stores.embedded import EmbeddedStore
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime

_READ_ATTEMPTS = 5

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
    """Return a query's result in the node's store; a moved node is read and queried again."""
    for _ in range(_READ_ATTEMPTS):
        try:
            return query(store_of(runtime, node), node)
        except Moved:
            node = nodes.find(runtime.database, node["_id"])
    raise Unavailable("The discussion is being moved")
