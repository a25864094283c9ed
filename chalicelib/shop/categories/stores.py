"""Stores of category trees: their protocol, and the stores of ancestors, parents and paths."""

from collections.abc import Collection as Names
from dataclasses import dataclass
from typing import Protocol

from pymongo import DESCENDING
from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection

from chalicelib.database import Document, prefix_range
from chalicelib.shop.categories.rows import MAX_DEPTH, Ancestor, Category, StoreName
from chalicelib.shop.ids import key_of, name_of

# A store decides the fields that record a category's ancestors, and so the filter of its
# descendants. All stores write name, parent, position and depth alike. A call with `rows` runs
# in the session of `rows`; a write needs the session of a fenced transaction.


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
        """Return the greatest depth among the categories of a filter. None: no categories."""
        found = self.collection.find({"site": self.site, **where}, session=self.session)
        deepest = next(found.sort("depth", DESCENDING).limit(1), None)
        return deepest["depth"] if deepest else None


class TreeStore(Protocol):
    """One way to store a tree."""

    name: StoreName

    def place_fields(self, key: str, parent: Category | None) -> Document:
        """Return the store's own fields of a category below a parent. Parent None: the top."""

    def below(self, rows: Rows, category: Category, levels: int) -> Document:
        """Return the filter of the categories at most `levels` levels below a category."""

    def above(self, rows: Rows, keys: Names[str]) -> dict[str, list[str]]:
        """Return the keys of each category's ancestors, root first; an unknown key is left out."""

    def breadcrumb(self, rows: Rows, category: Category) -> list[Ancestor]:
        """Return the ancestors of a category, root first."""

    def follow(self, rows: Rows, before: Category, after: Category) -> None:
        """Update the descendants of a moved or renamed category.

        `before` is the category before its change; `after` is the stored category.
        """

    def lift(self, rows: Rows, removed: Category) -> None:
        """Move the descendants of a category up by a level, before its removal.

        The caller changes the parent of its children afterwards.
        """


class AncestorsStore:
    """A store of the ancestors' names in each category: `ancestors: [{_id, name, slug}]`.

    The root comes first. A rename writes all descendants; a breadcrumb needs no query.
    """

    name: StoreName = "ancestors"

    def place_fields(self, key: str, parent: Category | None) -> Document:
        """Return the fields of a category that depend on its place."""
        del key
        if parent is None:
            return {"ancestors": []}
        nearest: Ancestor = {"_id": parent["_id"], "name": parent["name"], "slug": parent["slug"]}
        return {"ancestors": [*parent["ancestors"], nearest]}

    def below(self, rows: Rows, category: Category, levels: int) -> Document:
        """Return the filter of the categories at most `levels` levels below a category."""
        del rows
        return {"ancestors._id": category["_id"], "depth": {"$lte": category["depth"] + levels}}

    def above(self, rows: Rows, keys: Names[str]) -> dict[str, list[str]]:
        """Return the keys above each of these categories."""
        found = rows.find({"_id": {"$in": list(keys)}})
        return {each["_id"]: [above["_id"] for above in each["ancestors"]] for each in found}

    def breadcrumb(self, rows: Rows, category: Category) -> list[Ancestor]:
        """Return the ancestors of a category."""
        del rows
        return category["ancestors"]

    def follow(self, rows: Rows, before: Category, after: Category) -> None:
        """Replace the first ancestors of each descendant, and shift the depth of each."""
        names: Ancestor = {"_id": after["_id"], "name": after["name"], "slug": after["slug"]}
        skipped = len(before["ancestors"]) + 1
        shift = after["depth"] - before["depth"]
        self._rewrite(rows, before, [*after["ancestors"], names], skipped, shift)

    def lift(self, rows: Rows, removed: Category) -> None:
        """Remove a category from the ancestors of the categories below it."""
        skipped = len(removed["ancestors"]) + 1
        self._rewrite(rows, removed, removed["ancestors"], skipped, -1)

    def _rewrite(
        self, rows: Rows, top: Category, beginning: list[Ancestor], skipped: int, shift: int
    ) -> None:
        """Replace the first `skipped` ancestors of each descendant by `beginning`.

        `shift`: the change of its depth.
        """
        # A name may begin with a dollar; an expression would read it as a field.
        kept = {"$slice": ["$ancestors", skipped, MAX_DEPTH]}
        ancestors = {"$concatArrays": [{"$literal": beginning}, kept]}
        change = {"ancestors": ancestors, "depth": {"$add": ["$depth", shift]}}
        rows.update({"ancestors._id": top["_id"]}, [{"$set": change}])


class ParentsStore:
    """A store of `parent` alone: a rename writes one category, and a read queries each level.

    `$graphLookup` would read all levels at once, but a transaction cannot use it on a sharded
    collection. A move also writes the `depth` of the descendants.
    """

    name: StoreName = "parents"

    def place_fields(self, key: str, parent: Category | None) -> Document:
        """Return no fields."""
        del key, parent
        return {}

    def below(self, rows: Rows, category: Category, levels: int) -> Document:
        """Query each level below a category; return the filter of the categories found."""
        found: list[str] = []
        level = [category["_id"]]
        for _ in range(min(levels, MAX_DEPTH)):
            level = [each["_id"] for each in rows.find({"parent": {"$in": level}})]
            if not level:
                break
            found += level
        return {"_id": {"$in": found}}

    def above(self, rows: Rows, keys: Names[str]) -> dict[str, list[str]]:
        """Return the keys above each of these categories."""
        parents = _parents(rows, keys)
        return {key: _line(parents, key) for key in keys if key in parents}

    def breadcrumb(self, rows: Rows, category: Category) -> list[Ancestor]:
        """Return the ancestors of a category."""
        found: list[Ancestor] = []
        at = category["parent"]
        while at is not None and len(found) < MAX_DEPTH:
            (above,) = rows.find({"_id": at})
            found.append({"_id": at, "name": above["name"], "slug": above["slug"]})
            at = above["parent"]
        return found[::-1]

    def follow(self, rows: Rows, before: Category, after: Category) -> None:
        """Shift the depth of the descendants, if the category's own depth has changed."""
        shift = after["depth"] - before["depth"]
        if shift:
            rows.update(self.below(rows, before, MAX_DEPTH), {"$inc": {"depth": shift}})

    def lift(self, rows: Rows, removed: Category) -> None:
        """Lower the depth of the descendants by 1."""
        rows.update(self.below(rows, removed, MAX_DEPTH), {"$inc": {"depth": -1}})


def _parents(rows: Rows, keys: Names[str]) -> dict[str, str | None]:
    """Return the parent of each existing category of `keys` and of its ancestors, by key."""
    parents: dict[str, str | None] = {}
    wanted = set(keys)
    for _ in range(MAX_DEPTH):
        if not wanted:
            break
        parents |= {each["_id"]: each["parent"] for each in rows.find({"_id": {"$in": [*wanted]}})}
        wanted = {each for each in parents.values() if each is not None and each not in parents}
    return parents


def _line(parents: dict[str, str | None], key: str) -> list[str]:
    line: list[str] = []
    above = parents[key]
    while above is not None and len(line) < MAX_DEPTH:
        line.append(above)
        above = parents[above]
    return line[::-1]


# The character after the separator: the end of the range of paths below a category.


class PathsStore:
    """A store of the path of ids, from the root to the category: `path: "books/novels"`."""

    name: StoreName = "paths"

    def place_fields(self, key: str, parent: Category | None) -> Document:
        """Return the fields of a category that depend on its place."""
        own = name_of(key)
        return {"path": own if parent is None else f"{parent['path']}/{own}"}

    def below(self, rows: Rows, category: Category, levels: int) -> Document:
        """Return the filter of the categories at most `levels` levels below a category."""
        del rows
        return {**_range(category), "depth": {"$lte": category["depth"] + levels}}

    def above(self, rows: Rows, keys: Names[str]) -> dict[str, list[str]]:
        """Return the keys above each of these categories."""
        found = rows.find({"_id": {"$in": list(keys)}})
        return {each["_id"]: _keys_above(each) for each in found}

    def breadcrumb(self, rows: Rows, category: Category) -> list[Ancestor]:
        """Return the ancestors of a category."""
        keys = _keys_above(category)
        found = {each["_id"]: each for each in rows.find({"_id": {"$in": keys}})} if keys else {}
        return [
            {"_id": key, "name": found[key]["name"], "slug": found[key]["slug"]} for key in keys
        ]

    def follow(self, rows: Rows, before: Category, after: Category) -> None:
        """Replace the beginning of every path below a category, and shift the depth."""
        shift = after["depth"] - before["depth"]
        _rewrite(rows, before, after["path"], len(before["path"]), shift)

    def lift(self, rows: Rows, removed: Category) -> None:
        """Remove a category from the paths below it."""
        beginning = removed["path"].rpartition("/")[0]
        # At the top, remove the separator, too.
        skipped = len(removed["path"]) + (0 if beginning else 1)
        _rewrite(rows, removed, beginning, skipped, -1)


def _range(top: Category) -> Document:
    return {"path": prefix_range(f"{top['path']}/")}


def _keys_above(category: Category) -> list[str]:
    return [key_of(category["site"], name) for name in category["path"].split("/")[:-1]]


def _rewrite(rows: Rows, top: Category, beginning: str, skipped: int, shift: int) -> None:
    """Replace the first `skipped` bytes of every path below a category by `beginning`.

    `shift`: the change of the depth.
    """
    path = {"$concat": [beginning, {"$substrBytes": ["$path", skipped, -1]}]}
    rows.update(_range(top), [{"$set": {"path": path, "depth": {"$add": ["$depth", shift]}}}])


STORES: dict[StoreName, TreeStore] = {
    each.name: each for each in (AncestorsStore(), PathsStore(), ParentsStore())
}
