"""Each category stores its parent alone: a change writes little, a read goes level by level.

`$graphLookup` would read all levels at once, but not of a sharded collection in a transaction.
"""

from collections.abc import Collection as Names

from chalicelib.database import Document
from chalicelib.shop.trees.rows import MAX_DEPTH, Ancestor, Category, StoreName
from chalicelib.shop.trees.store import Rows


class ParentsStore:
    """Nothing beside `parent`."""

    name: StoreName = "parents"

    def placed(self, key: str, parent: Category | None) -> Document:
        """Return nothing."""
        del key, parent
        return {}

    def below(self, rows: Rows, category: Category, levels: int) -> Document:
        """Return the filter of every line below a category, which are looked up for it."""
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
        """Return the categories above one."""
        found: list[Ancestor] = []
        at = category["parent"]
        while at is not None and len(found) < MAX_DEPTH:
            (above,) = rows.find({"_id": at})
            found.append({"_id": at, "name": above["name"], "slug": above["slug"]})
            at = above["parent"]
        return found[::-1]

    def follow(self, rows: Rows, before: Category, after: Category) -> None:
        """Give the lines below a category their depth."""
        shift = after["depth"] - before["depth"]
        if shift:
            rows.update(self.below(rows, before, MAX_DEPTH), {"$inc": {"depth": shift}})

    def lift(self, rows: Rows, removed: Category) -> None:
        """Give the lines below a category their depth without it."""
        rows.update(self.below(rows, removed, MAX_DEPTH), {"$inc": {"depth": -1}})


def _parents(rows: Rows, keys: Names[str]) -> dict[str, str | None]:
    """Return the parent of each of these categories, and of those above them."""
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
