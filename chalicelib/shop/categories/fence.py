"""The fence of a tree: every change is one transaction that first raises the tree's version.

Two changes at once conflict in this write, and the second runs again after the first. Without the
fence, an addition below a category and a move of that category would both succeed and disagree
about the categories above; two moves could put two categories below each other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.database import Document, in_transaction
from chalicelib.shop import settings
from chalicelib.shop.categories.rows import CATEGORIES, TREES, Tree
from chalicelib.shop.categories.stores import STORES, Rows, TreeStore

Result = TypeVar("Result")


@dataclass(frozen=True)
class Fenced:
    """A tree within the transaction of its change."""

    tree: Tree
    store: TreeStore
    rows: Rows
    trees: MongoCollection[Tree]

    @property
    def session(self) -> ClientSession:
        """Return the session of the transaction."""
        return self.rows.session


def change_fenced(
    database: Database[Document], site: str, change: Callable[[Fenced], Result]
) -> Result:
    """Run a change of a shop's tree in a transaction, one change at a time; return its result.

    A conflict runs `change` again. Raises UnknownShop, and the errors of `change`.
    """

    def work(session: ClientSession) -> Result:
        tree = TREES.of(database).find_one_and_update(
            {"_id": site},
            {"$inc": {"version": 1}},
            return_document=ReturnDocument.AFTER,
            session=session,
        )
        if tree is None:
            raise _NoTree
        rows = Rows(CATEGORIES.of(database), site, session)
        return change(Fenced(tree, STORES[tree["store"]], rows, TREES.of(database)))

    try:
        return in_transaction(database, work)
    except _NoTree:
        _plant(database, site)
        return in_transaction(database, work)


class _NoTree(Exception):
    """The shop has no tree yet."""


def _plant(database: Database[Document], site: str) -> None:
    settings.find(database, site)
    tree: Tree = {"_id": site, "version": 0, "store": "ancestors", "count": 0}
    try:
        TREES.of(database).insert_one(tree)
    except DuplicateKeyError:
        # Another change has planted it.
        return
