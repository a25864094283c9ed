"""Each category stores all above it, with their names: a breadcrumb is no further read."""

from collections.abc import Collection as Names

from chalicelib.database import Document
from chalicelib.shop.trees.rows import MAX_DEPTH, Ancestor, Category, StoreName
from chalicelib.shop.trees.store import Rows


class AncestorsStore:
    """`ancestors: [{_id, name, slug}]`, root first."""

    name: StoreName = "ancestors"

    def placed(self, key: str, parent: Category | None) -> Document:
        """Return what a category stores of the lines above it."""
        del key
        if parent is None:
            return {"ancestors": []}
        nearest: Ancestor = {"_id": parent["_id"], "name": parent["name"], "slug": parent["slug"]}
        return {"ancestors": [*parent["ancestors"], nearest]}

    def below(self, rows: Rows, category: Category, levels: int) -> Document:
        """Return the filter of every line below a category."""
        del rows
        return {"ancestors._id": category["_id"], "depth": {"$lte": category["depth"] + levels}}

    def above(self, rows: Rows, keys: Names[str]) -> dict[str, list[str]]:
        """Return the keys above each of these categories."""
        found = rows.find({"_id": {"$in": list(keys)}})
        return {each["_id"]: [above["_id"] for above in each["ancestors"]] for each in found}

    def breadcrumb(self, rows: Rows, category: Category) -> list[Ancestor]:
        """Return the categories above one."""
        del rows
        return category["ancestors"]

    def follow(self, rows: Rows, before: Category, after: Category) -> None:
        """Give the lines below a category its new beginning."""
        names: Ancestor = {"_id": after["_id"], "name": after["name"], "slug": after["slug"]}
        skipped = len(before["ancestors"]) + 1
        shift = after["depth"] - before["depth"]
        self._rewrite(rows, before, [*after["ancestors"], names], skipped, shift)

    def lift(self, rows: Rows, removed: Category) -> None:
        """Take a category out of the lines below it."""
        skipped = len(removed["ancestors"]) + 1
        self._rewrite(rows, removed, removed["ancestors"], skipped, -1)

    def _rewrite(
        self, rows: Rows, top: Category, beginning: list[Ancestor], skipped: int, shift: int
    ) -> None:
        """Replace the first `skipped` ancestors of the lines below a category."""
        # Names may begin with a dollar, which an expression would take for a field.
        kept = {"$slice": ["$ancestors", skipped, MAX_DEPTH]}
        ancestors = {"$concatArrays": [{"$literal": beginning}, kept]}
        change = {"ancestors": ancestors, "depth": {"$add": ["$depth", shift]}}
        rows.update({"ancestors._id": top["_id"]}, [{"$set": change}])
