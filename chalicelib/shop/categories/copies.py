"""Whole trees: export, load into an empty tree, and change of the store."""

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from pymongo import UpdateOne
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.shop.categories import reading, siblings
from chalicelib.shop.categories.fence import Fenced, change_fenced
from chalicelib.shop.categories.rows import Category, StoreName, Tree
from chalicelib.shop.categories.stores import STORES
from chalicelib.shop.errors import CategoryNotEmpty
from chalicelib.shop.ids import key_of, name_of

# The fields of a category that depend on the store.
_FIELDS = ("ancestors", "path")


class CategoryCopy(TypedDict):
    """A category without the fields that depend on its shop or its tree's store."""

    id: str
    name: str
    slug: str
    parent: str | None


def export(database: Database[Document], site: str) -> list[CategoryCopy]:
    """Return a shop's categories depth first, siblings in their order."""
    return [
        {
            "id": name_of(each["_id"]),
            "name": each["name"],
            "slug": each["slug"],
            "parent": name_of(each["parent"]) if each["parent"] else None,
        }
        for each in reading.subtree(database, site, None).categories
    ]


def load(database: Database[Document], site: str, copies: Sequence[CategoryCopy]) -> None:
    """Load categories, each after its parent, into a shop without categories.

    Raises UnknownShop, and CategoryNotEmpty for a shop with categories.
    """

    def change(fenced: Fenced) -> None:
        if fenced.tree["count"]:
            raise CategoryNotEmpty
        rows = list(_rows(fenced, copies))
        if rows:
            fenced.rows.collection.insert_many(rows, session=fenced.session)
        siblings.count(fenced, len(rows))

    change_fenced(database, site, change)


def store_in(database: Database[Document], site: str, name: StoreName) -> Tree:
    """Move a shop's tree to this store and return the tree; raises UnknownShop."""

    def change(fenced: Fenced) -> Tree:
        tree: Tree = {**fenced.tree, "store": name}
        if name == fenced.tree["store"]:
            return tree
        changes = list(_restore(fenced, name))
        if changes:
            fenced.rows.collection.bulk_write(changes, session=fenced.session)
        where = {"_id": fenced.tree["_id"]}
        fenced.trees.update_one(where, {"$set": {"store": name}}, session=fenced.session)
        return tree

    return change_fenced(database, site, change)


def _rows(fenced: Fenced, copies: Iterable[CategoryCopy]) -> Iterable[Category]:
    made: dict[str, Category] = {}
    for position, copy in enumerate(copies):
        key = key_of(fenced.rows.site, copy["id"])
        parent = made[copy["parent"]] if copy["parent"] else None
        row: Any = {
            "_id": key,
            "site": fenced.rows.site,
            "name": copy["name"],
            "slug": copy["slug"],
            "parent": parent["_id"] if parent else None,
            "position": position,
            "depth": parent["depth"] + 1 if parent else 1,
            **fenced.store.place_fields(key, parent),
        }
        made[copy["id"]] = row
        yield row


def _restore(fenced: Fenced, name: StoreName) -> Iterable[UpdateOne]:
    """Yield the updates that bring all categories to another store, parents first."""
    store, stored = STORES[name], dict[str, Any]()
    for each in sorted(fenced.rows.find({}), key=lambda category: category["depth"]):
        parent = stored[each["parent"]] if each["parent"] else None
        placed = store.place_fields(each["_id"], parent)
        stored[each["_id"]] = {**each, **placed}
        # The store `parents` has no fields of its own; MongoDB accepts an empty `$set`.
        unset = dict.fromkeys((field for field in _FIELDS if field not in placed), 1)
        where = {"_id": each["_id"], "site": fenced.rows.site}
        yield UpdateOne(where, {"$set": placed, "$unset": unset})
