"""Cost of a shop's catalogue: lists with facets by layout, and moves of categories by subtree.

The floor of a list is the raw driver's find by the same filter and order, and one pipeline that
counts the same values; that of a move, one update of as many lines.
"""

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

from bench.calls import AppCalls
from bench.case import Case
from bench.stage import Stage
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.layouts.stores import LAYOUTS
from chalicelib.shop.products.rows import PRODUCTS, under
from chalicelib.shop.search import stored_tokens
from chalicelib.shop.sites import settings
from chalicelib.shop.sites.models import ShopSettings
from chalicelib.shop.sites.settings import LayoutName
from chalicelib.shop.tree import changes, copies
from chalicelib.shop.tree.copies import CategoryCopy
from chalicelib.shop.tree.models import Move
from chalicelib.shop.trees.stores import STORES

PAGE = 50
BRANDS, COLOURS = 200, 12
# An answer through the app takes at most this many times the raw reads.
LIST_AT_MOST = 4.0


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield lists by layout and size, and moves by store and size of the subtree."""
    for size in stage.sizes(2_000, 10_000, 50_000):
        shops = [
            Shop(stage.with_database(f"{layout}-{size}").runtime, layout, size)
            for layout in LAYOUTS
        ]
        yield [case for shop in shops for case in shop.cases()]
    for size in stage.sizes(100, 1_000, 10_000):
        yield [
            Moves(stage.with_database(f"{store}-{size}").runtime, store, size).case()
            for store in STORES
        ]


class Shop:
    """A shop with clothes of many brands, in ten categories below one."""

    def __init__(self, runtime: Runtime, layout: LayoutName, size: int) -> None:
        self._runtime, self._layout, self._size = runtime, layout, size
        self._calls = AppCalls(runtime)
        settings.put(runtime.database, "shop", ShopSettings(currency="EUR"))
        settings.SITES.of(runtime.database).update_one(
            {"_id": "shop"}, {"$set": {"layout": layout}}
        )
        rng = random.Random(7)  # noqa: S311 - the same data every time
        for begin in range(0, size, 1_000):
            rows = [self._product(number, rng) for number in range(begin, begin + 1_000)]
            PRODUCTS.of(runtime.database).insert_many(rows)

    def _product(self, number: int, rng: random.Random) -> Any:
        brand = f"Brand {int(BRANDS * rng.random() ** 3)}"
        details = {"brand": brand, "colour": rng.sample([f"c{n}" for n in range(COLOURS)], 2)}
        category = f"k{rng.randrange(10)}"
        return {
            "_id": f"shop:p{number:06}",
            "site": "shop",
            "type": "clothing",
            "title": f"Shirt {number}",
            "text": "A shirt of linen. " * 20,
            "html": "<p>A shirt of linen.</p>" * 20,
            "state": "active",
            "version": 1,
            "skus": [{"sku": f"S{number}", "options": {}, "price_micros": 10_000}],
            "price_micros": rng.randrange(1, 10_000) * 10_000,
            "categories": [category],
            "under": under("clothing", [], [["wear", category]]),
            "tags": [],
            "assets": [],
            "search": stored_tokens(f"Shirt {number}", [brand], "A shirt of linen"),
            "added": self._runtime.now(),
            "updated": self._runtime.now(),
            **LAYOUTS[self._layout].stored(details),
        }

    def cases(self) -> Iterator[Case]:
        """Give a page of a category, one of a rare brand, two values, and counted facets."""
        lists: dict[str, tuple[str, dict[str, list[Any]]]] = {
            "a page of a category by price": ("category=wear&order=price", {}),
            "a page of a rare brand by price": (
                "category=wear&order=price&f.brand=Brand 150",
                {"brand": ["Brand 150"]},
            ),
            "a page of a brand and a colour by price": (
                "category=wear&order=price&f.brand=Brand 0&f.colour=c1",
                {"brand": ["Brand 0"], "colour": ["c1"]},
            ),
        }
        for title, (query, chosen) in lists.items():
            yield self._case(title, query, chosen, counts=False)
        yield self._case("the same, with counts", f"{query}&facets=1", chosen, counts=True)

    def _case(self, title: str, query: str, chosen: dict[str, list[Any]], *, counts: bool) -> Case:
        given = {"limit": str(PAGE), **dict(each.split("=") for each in query.split("&"))}
        call = ("GET", "/shops/{site}/products", {"site": "shop"}, given)
        return Case(
            title,
            partial(self._calls, *call),
            partial(self._floor, chosen, counts=counts),
            floor_is="the same find" + (", and the same counts in one pipeline each" * counts),
            store=self._layout,
            size=self._size,
            unit="products",
            samples_at_most=100,
            ratio_at_most=LIST_AT_MOST,
        )

    def _floor(self, chosen: dict[str, list[Any]], *, counts: bool) -> None:
        rows = self._runtime.database["shop.product"]
        layout = LAYOUTS[self._layout].matching(chosen) if chosen else {}
        where: Document = {"site": "shop", "state": "active", "under": "wear", **layout}
        fields = {"text": 0, "html": 0, "search": 0, "under": 0}
        order = [("price_micros", 1), ("_id", 1)]
        list(rows.find(where, fields).sort(order).limit(PAGE + 1))
        for name in ("material", *chosen) if counts else ():
            others = {each: chosen[each] for each in chosen if each != name}
            own = LAYOUTS[self._layout].matching(others)
            list(rows.aggregate(self._counting({**where, **own}, name)))

    def _counting(self, where: Document, name: str) -> list[Document]:
        value = f"$details.{name}" if self._layout == "details" else "$attributes"
        pair: list[Document] = [{"$project": {"v": value}}, {"$unwind": "$v"}]
        if self._layout == "attributes":
            pair += [{"$match": {"v.k": name}}, {"$set": {"v": "$v.v"}}]
        group = {"$group": {"_id": "$v", "n": {"$sum": 1}}}
        return [{"$match": where}, {"$limit": 10_000}, *pair, group]


class Moves:
    """A category with many below it, which is moved to and fro."""

    def __init__(self, runtime: Runtime, store: Any, size: int) -> None:
        self._runtime, self._store, self._size = runtime, store, size
        self._turn = 0
        settings.put(runtime.database, "shop", ShopSettings(currency="EUR"))
        copies.store_in(runtime.database, "shop", store)
        tops: list[CategoryCopy] = [_copy("one", None), _copy("two", None), _copy("top", "one")]
        below = [_copy(f"n{n}", f"n{(n - 1) // 10}" if n else "top") for n in range(size - 1)]
        copies.load(runtime.database, "shop", [*tops, *below])
        self._raw: Any = runtime.database["bench.raw_category"]
        self._raw.create_index("top")
        lines = [{"top": "top", "line": f"shop:0/one/top/{each['id']}"} for each in below]
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
            samples_at_most=40,
        )

    def _move(self) -> None:
        self._turn += 1
        where = Move(parent=("one", "two")[self._turn % 2])
        changes.move(self._runtime, "shop", "top", where)

    def _floor(self) -> None:
        self._turn += 1
        line = {"$concat": [f"shop:{self._turn % 2}", {"$substrBytes": ["$line", 6, -1]}]}
        self._raw.update_many({"top": "top"}, [{"$set": {"line": line}}])


def _copy(name: str, parent: str | None) -> CategoryCopy:
    return {"id": name, "name": name.title(), "slug": name, "parent": parent}
