"""Cost of a moved category: of its tree by store and subtree, and of its products' lists.

The floor is one update of as many documents, which knows beforehand what to write.
"""

from collections.abc import Iterator
from typing import Any

from bench.case import Case
from bench.stage import Stage
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.catalogue import relisting
from chalicelib.shop.catalogue.rows import PRODUCTS, under
from chalicelib.shop.categories import changes, copies
from chalicelib.shop.categories.copies import CategoryCopy
from chalicelib.shop.categories.forms import Move
from chalicelib.shop.categories.messages import Relist
from chalicelib.shop.categories.rows import StoreName
from chalicelib.shop.categories.stores import STORES
from chalicelib.shop.search import stored_tokens
from chalicelib.shop.settings import ShopSettings

_TOPS: list[CategoryCopy] = [
    {"id": "one", "name": "One", "slug": "one", "parent": None},
    {"id": "two", "name": "Two", "slug": "two", "parent": None},
    {"id": "top", "name": "Top", "slug": "top", "parent": "one"},
]


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield moves by store and size of the subtree, and the lists of their products."""
    for size in stage.sizes(100, 1_000, 10_000):
        yield [Moves(stage.runtime, store, size).case() for store in STORES]
    for size in stage.sizes(100, 1_000, 10_000):
        yield [Relisted(stage.runtime, size).case()]


class Moves:
    """A category with many below it, which is moved to and fro."""

    def __init__(self, runtime: Runtime, store: StoreName, size: int) -> None:
        self._runtime, self._store, self._size = runtime, store, size
        self._site, self._turn = f"{store}-{size}", 0
        settings.put(runtime.database, self._site, ShopSettings(currency="EUR"))
        copies.store_in(runtime.database, self._site, store)
        below = [_copy(n) for n in range(size - 1)]
        copies.load(runtime.database, self._site, [*_TOPS, *below])
        self._raw: Any = runtime.database["bench.raw_category"]
        self._raw.create_index("site")
        # Those without anything below them, as the move itself.
        lines = [{"site": self._site, "line": f"shop:0/one/top/{each['id']}"} for each in below]
        self._raw.insert_many(lines)

    def case(self) -> Case:
        """Return the case of a move."""
        return Case(
            "a move of a category",
            self._move,
            self._floor,
            floor_is="one update of as many lines",
            store=self._store,
            size=self._size,
            unit="categories",
            door="function",
            samples_at_most=20,
        )

    def _move(self) -> None:
        self._turn += 1
        where = Move(parent=("one", "two")[self._turn % 2])
        changes.move(self._runtime, self._site, "top", where)

    def _floor(self) -> None:
        self._turn += 1
        line = {"$concat": [f"shop:{self._turn % 2}", {"$substrBytes": ["$line", 6, -1]}]}
        self._raw.update_many({"site": self._site}, [{"$set": {"line": line}}])


class Relisted:
    """The products of a category that is moved to and fro: where they are listed follows it."""

    def __init__(self, runtime: Runtime, size: int) -> None:
        self._runtime, self._size, self._site, self._turn = runtime, size, f"listed-{size}", 0
        settings.put(runtime.database, self._site, ShopSettings(currency="EUR"))
        copies.load(runtime.database, self._site, [*_TOPS, *(_copy(n) for n in range(9))])
        rows = [self._product(number) for number in range(size)]
        PRODUCTS.of(runtime.database).insert_many(rows, ordered=False)

    def case(self) -> Case:
        """Return the case of the job that follows a move."""
        return Case(
            "the products of a moved category",
            lambda: relisting.relist(self._runtime, Relist(site=self._site, category="top")),
            self._floor,
            floor_is="one update of as many products",
            size=self._size,
            unit="products",
            door="function",
            items=self._size,
            samples_at_most=3,
            prepare=self._move,
            prepare_floor=self._move,
        )

    def _product(self, number: int) -> Any:
        category = f"n{number % 9}"
        now = self._runtime.now()
        return {
            "_id": f"{self._site}:p{number:06}",
            "site": self._site,
            "type": "clothing",
            "title": f"Shirt {number}",
            "text": "A shirt of linen. " * 20,
            "html": "<p>A shirt of linen.</p>" * 20,
            "state": "active",
            "version": 1,
            "skus": [{"sku": f"S{number}", "options": {}, "price_micros": 10_000}],
            "price_micros": 10_000 * (1 + number % 9_000),
            "categories": [category],
            "under": under("clothing", [], [["one", "top", "n0", category]]),
            "tags": [],
            "assets": [],
            "search": stored_tokens(f"Shirt {number}", ["Linnet"], "A shirt of linen"),
            "added": now,
            "updated": now,
            "layout": "details",
            "details": {"brand": "Linnet"},
        }

    def _move(self) -> None:
        self._turn += 1
        where = Move(parent=("one", "two")[self._turn % 2])
        changes.move(self._runtime, self._site, "top", where)

    def _floor(self) -> None:
        """Write the place of the other top into each product."""
        ours, others = (("one", "two"), ("two", "one"))[self._turn % 2]
        where = {"site": self._site, "state": "active", "under": others}
        self._runtime.database[PRODUCTS.name].update_many(where, {"$set": {"under.$": ours}})


def _copy(number: int) -> CategoryCopy:
    """Return a category of a tree in which each has ten below it."""
    name = f"n{number}"
    parent = f"n{(number - 1) // 10}" if number else "top"
    return {"id": name, "name": name.title(), "slug": name, "parent": parent}
