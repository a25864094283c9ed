"""Reads of a tree at one point in time, without a transaction.

A snapshot shows the tree's store and categories of the same instant, for any number of queries and
despite changes meanwhile.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import InvalidCursor
from chalicelib.http.paging import Cursors
from chalicelib.runtime import Runtime
from chalicelib.shop.categories.forms import MAX_LISTED
from chalicelib.shop.categories.rows import (
    CATEGORIES,
    MAX_DEPTH,
    TREES,
    Ancestor,
    Category,
    Tree,
    find,
)
from chalicelib.shop.categories.stores import STORES, Rows
from chalicelib.shop.ids import key_of

_NO_TREE: Tree = {"_id": "", "version": 0, "store": "ancestors", "count": 0}


class Branch(NamedTuple):
    """A part of a tree, depth first, siblings in their order."""

    version: int
    categories: list[Category]


class CategoryPlace(NamedTuple):
    """A category, its ancestors from the root, and its first children.

    `has_more`: it has more children than fit in an answer.
    """

    category: Category
    breadcrumb: list[Ancestor]
    children: list[Category]
    has_more: bool = False


def tree_of(database: Database[Document], site: str) -> Tree:
    """Return a shop's tree; before the first change, an empty tree of version 0."""
    return TREES.of(database).find_one({"_id": site}) or {**_NO_TREE, "_id": site}


def subtree(
    database: Database[Document], site: str, under: str | None, levels: int = MAX_DEPTH
) -> Branch:
    """Return the categories below `under`, `levels` deep. `under` None: from the root.

    Raises UnknownCategory.
    """
    with _at_one_time(database, site) as (tree, rows):
        if under is None:
            found, top = rows.find({"depth": {"$lte": levels}}), None
        else:
            category = find(database, site, under, rows.session)
            top = category["_id"]
            found = rows.find(STORES[tree["store"]].below(rows, category, levels))
    return Branch(tree["version"], _depth_first(found, top))


def place(database: Database[Document], site: str, category_id: str) -> CategoryPlace:
    """Return a category with its breadcrumb and its first children; raises UnknownCategory."""
    with _at_one_time(database, site) as (tree, rows):
        category = find(database, site, category_id, rows.session)
        breadcrumb = STORES[tree["store"]].breadcrumb(rows, category)
        children = _first_children(rows, category["_id"])
    return CategoryPlace(category, breadcrumb, children[:MAX_LISTED], len(children) > MAX_LISTED)


def cursors(runtime: Runtime, site: str, under: str | None, levels: int) -> Cursors:
    """Return the cursors of a part of a tree."""
    scope = f"categories:{site}:{under or ''}:{levels}"
    return Cursors(scope, runtime.settings.signing_keys)


def following(branch: Branch, site: str, after: Sequence[Any] | None) -> list[Category]:
    """Return the categories after a cursor's category, depth first.

    Raises InvalidCursor if the cursor's category is gone.
    """
    if after is None:
        return branch.categories
    key = key_of(site, str(after[0]))
    for number, each in enumerate(branch.categories, start=1):
        if each["_id"] == key:
            return branch.categories[number:]
    raise InvalidCursor


def places_above(
    database: Database[Document], site: str, keys: Sequence[str]
) -> dict[str, list[str]]:
    """Return the keys above each known category, root first."""
    if not keys:
        return {}
    with _at_one_time(database, site) as (tree, rows):
        return STORES[tree["store"]].above(rows, [key_of(site, key) for key in keys])


@contextmanager
def _at_one_time(database: Database[Document], site: str) -> Iterator[tuple[Tree, Rows]]:
    with database.client.start_session(snapshot=True) as session:
        tree = TREES.of(database).find_one({"_id": site}, session=session)
        yield tree or _NO_TREE, Rows(CATEGORIES.of(database), site, session)


def _first_children(rows: Rows, parent: str) -> list[Category]:
    """Return the first children of a category, one more than fits in an answer."""
    where = {"site": rows.site, "parent": parent}
    found = rows.collection.find(where, session=rows.session)
    return list(found.sort([("position", ASCENDING), ("_id", ASCENDING)]).limit(MAX_LISTED + 1))


def _in_order(categories: list[Category]) -> list[Category]:
    return sorted(categories, key=lambda each: (each["position"], each["_id"]))


def _depth_first(categories: list[Category], top: str | None) -> list[Category]:
    children: dict[str | None, list[Category]] = {}
    for each in _in_order(categories):
        children.setdefault(each["parent"], []).append(each)
    found: list[Category] = []
    waiting = children.get(top, [])[::-1]
    while waiting:
        each = waiting.pop()
        found.append(each)
        waiting += children.get(each["_id"], [])[::-1]
    return found
