"""The stores of comments, and the move of a node from one to another.

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
    """Return the store that the node's comments are in."""
    match node["store"]:
        case "embedded":
            return EmbeddedStore(runtime.database, runtime.settings.embedded_max_bytes)
        case "buckets":
            return BucketStore(runtime.database)
        case _:
            return DocumentStore(runtime.database)


def ask(runtime: Runtime, node: Node, query: Callable[[Store, Node], Answer]) -> Answer:
    """Return what a query finds in the node's store, asking again if the node moved away."""
    for _ in range(_READ_ATTEMPTS):
        try:
            return query(store_of(runtime, node), node)
        except Moved:
            node = nodes.find(runtime.database, node["_id"])
    raise Unavailable("The discussion is being moved")
