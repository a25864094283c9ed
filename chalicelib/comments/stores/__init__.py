"""The ways to keep a node's comments, by the name that a node bears."""

from collections.abc import Callable
from typing import TypeVar

from pymongo.database import Database

from chalicelib.comments import nodes
from chalicelib.comments.store import Moved, Store
from chalicelib.comments.stores.documents import DocumentStore
from chalicelib.database import Document
from chalicelib.errors import Unavailable

STORES: dict[str, type[DocumentStore]] = {"documents": DocumentStore}
_READ_ATTEMPTS = 5

Answer = TypeVar("Answer")


def store_of(database: Database[Document], node: Document) -> Store:
    """Return the store that the node's comments are in."""
    return STORES[node["store"]](database)


def ask(
    database: Database[Document], node: Document, query: Callable[[Store, Document], Answer]
) -> Answer:
    """Return what a query finds in the node's store, asking again where the node moved away."""
    for _ in range(_READ_ATTEMPTS):
        try:
            return query(store_of(database, node), node)
        except Moved:
            node = nodes.find(database, node["_id"])
    raise Unavailable("The discussion is being moved")
