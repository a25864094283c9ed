"""The protocol of a store of trees.

A store decides what a category stores of the lines above it, and so how the lines below it are
found. It changes only that; name, parent, position and depth are the same in every store. All calls
run in the session they are given: a fenced transaction for those that write.
"""

from collections.abc import Collection as Names
from dataclasses import dataclass
from typing import Protocol

from pymongo import DESCENDING
from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection

from chalicelib.database import Document
from chalicelib.shop.trees.rows import Ancestor, Category, StoreName


@dataclass(frozen=True)
class Rows:
    """The categories of one shop, within a session."""

    collection: MongoCollection[Category]
    site: str
    session: ClientSession

    def find(self, where: Document) -> list[Category]:
        """Return the categories that a filter selects."""
        return list(self.collection.find({"site": self.site, **where}, session=self.session))

    def update(self, where: Document, change: Document | list[Document]) -> None:
        """Change the categories that a filter selects."""
        self.collection.update_many({"site": self.site, **where}, change, session=self.session)

    def deepest(self, where: Document) -> int | None:
        """Return the depth of the deepest category that a filter selects; None if it has none."""
        found = self.collection.find({"site": self.site, **where}, session=self.session)
        deepest = next(found.sort("depth", DESCENDING).limit(1), None)
        return deepest["depth"] if deepest else None


class TreeStore(Protocol):
    """One way to store a tree."""

    name: StoreName

    def placed(self, key: str, parent: Category | None) -> Document:
        """Return what a category stores of the lines above it, below this parent."""

    def below(self, rows: Rows, category: Category, levels: int) -> Document:
        """Return the filter of every line below a category, down to some levels."""

    def above(self, rows: Rows, keys: Names[str]) -> dict[str, list[str]]:
        """Return the keys above each of these categories, root first; unknown ones are left out."""

    def breadcrumb(self, rows: Rows, category: Category) -> list[Ancestor]:
        """Return the categories above one, root first."""

    def follow(self, rows: Rows, before: Category, after: Category) -> None:
        """Make the lines below a moved or renamed category follow it.

        `before` and `after` are the category as it was, and as it is stored now.
        """

    def lift(self, rows: Rows, removed: Category) -> None:
        """Move the lines below a category up by one, as if it were not there.

        The parents of its children are changed afterwards.
        """
