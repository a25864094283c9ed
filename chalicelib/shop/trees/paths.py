"""Each category stores the ids from the root to itself: all below it is one range of an index."""

from collections.abc import Collection as Names

from chalicelib.database import Document
from chalicelib.shop.ids import key_of, name_of
from chalicelib.shop.trees.rows import Ancestor, Category, StoreName
from chalicelib.shop.trees.store import Rows

# What sorts next after the separator.
_AFTER = chr(ord("/") + 1)


class PathsStore:
    """`path: "books/novels"`."""

    name: StoreName = "paths"

    def placed(self, key: str, parent: Category | None) -> Document:
        """Return what a category stores of the lines above it."""
        own = name_of(key)
        return {"path": own if parent is None else f"{parent['path']}/{own}"}

    def below(self, rows: Rows, category: Category, levels: int) -> Document:
        """Return the filter of every line below a category."""
        del rows
        return {**_range(category), "depth": {"$lte": category["depth"] + levels}}

    def above(self, rows: Rows, keys: Names[str]) -> dict[str, list[str]]:
        """Return the keys above each of these categories."""
        found = rows.find({"_id": {"$in": list(keys)}})
        return {each["_id"]: _keys_above(each) for each in found}

    def breadcrumb(self, rows: Rows, category: Category) -> list[Ancestor]:
        """Return the categories above one."""
        keys = _keys_above(category)
        found = {each["_id"]: each for each in rows.find({"_id": {"$in": keys}})} if keys else {}
        return [
            {"_id": key, "name": found[key]["name"], "slug": found[key]["slug"]} for key in keys
        ]

    def follow(self, rows: Rows, before: Category, after: Category) -> None:
        """Give the lines below a category its new beginning."""
        shift = after["depth"] - before["depth"]
        _rewrite(rows, before, after["path"], len(before["path"]), shift)

    def lift(self, rows: Rows, removed: Category) -> None:
        """Take a category out of the paths below it."""
        beginning = removed["path"].rpartition("/")[0]
        # Without anything above it, the separator goes too.
        skipped = len(removed["path"]) + (0 if beginning else 1)
        _rewrite(rows, removed, beginning, skipped, -1)


def _range(top: Category) -> Document:
    return {"path": {"$gt": f"{top['path']}/", "$lt": f"{top['path']}{_AFTER}"}}


def _keys_above(category: Category) -> list[str]:
    return [key_of(category["site"], name) for name in category["path"].split("/")[:-1]]


def _rewrite(rows: Rows, top: Category, beginning: str, skipped: int, shift: int) -> None:
    """Replace the first characters of the paths below a category."""
    path = {"$concat": [beginning, {"$substrBytes": ["$path", skipped, -1]}]}
    rows.update(_range(top), [{"$set": {"path": path, "depth": {"$add": ["$depth", shift]}}}])
