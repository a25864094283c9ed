"""Cost of a shop's catalogue: lists with facets, and a category's page, by layout of details.

The floor of a list is the raw driver's find by the same filter and order, and one pipeline that
counts the same values.
"""

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

from bench.calls import AppCalls
from bench.case import Case, Work
from bench.stage import Stage
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.catalogue.layouts import LAYOUTS
from chalicelib.shop.catalogue.rows import PRODUCTS, under
from chalicelib.shop.categories import copies
from chalicelib.shop.categories.copies import CategoryCopy
from chalicelib.shop.categories.rows import CATEGORIES
from chalicelib.shop.search import stored_tokens
from chalicelib.shop.settings import LayoutName, ShopSettings

PAGE = 50
BRANDS, COLOURS = 200, 12
# Categories below the one that is listed.
BELOW = 10
_CATEGORIES: list[CategoryCopy] = [
    {"id": "wear", "name": "Wear", "slug": "wear", "parent": None},
    *(
        CategoryCopy(id=f"k{number}", name=f"K {number}", slug=f"k{number}", parent="wear")
        for number in range(BELOW)
    ),
]
# An answer through the app takes at most this many times the raw reads.
LIST_AT_MOST = 4.0


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield the lists by layout and size.

    Both layouts of one size are two shops of one database: no index holds products of both but
    those that begin with the shop.
    """
    for size in stage.sizes(1_000, 5_000, 50_000):
        runtime = stage.with_database(f"shop-{size}").runtime
        yield [case for layout in LAYOUTS for case in Shop(runtime, layout, size).cases()]


class Shop:
    """A shop with clothes of many brands, in ten categories below one."""

    def __init__(self, runtime: Runtime, layout: LayoutName, size: int) -> None:
        self._runtime, self._layout, self._size = runtime, layout, size
        self._calls = AppCalls(runtime)
        settings.put(runtime.database, layout, ShopSettings(currency="EUR"))
        settings.SITES.of(runtime.database).update_one(
            {"_id": layout}, {"$set": {"layout": layout}}
        )
        copies.load(runtime.database, layout, _CATEGORIES)
        rng = random.Random(7)  # noqa: S311 - the same data every time
        for begin in range(0, size, 1_000):
            rows = [self._product(number, rng) for number in range(begin, begin + 1_000)]
            PRODUCTS.of(runtime.database).insert_many(rows, ordered=False)

    def _product(self, number: int, rng: random.Random) -> Any:
        brand = f"Brand {int(BRANDS * rng.random() ** 3)}"
        details = {"brand": brand, "colour": rng.sample([f"c{n}" for n in range(COLOURS)], 2)}
        category = f"k{rng.randrange(BELOW)}"
        return {
            "_id": f"{self._layout}:p{number:06}",
            "site": self._layout,
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
            **LAYOUTS[self._layout].to_stored(details),
        }

    def cases(self) -> Iterator[Case]:
        """Give lists by category, rare brand, two values and with counts, and a category's page."""
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
        path = {"site": self._layout, "category": "wear"}
        page = partial(self._calls, "GET", "/shops/{site}/categories/{category}", path)
        yield self._beside("a category with its counts", page, self._category)

    def _case(self, title: str, query: str, chosen: dict[str, list[Any]], *, counts: bool) -> Case:
        given = {"limit": str(PAGE), **dict(each.split("=") for each in query.split("&"))}
        call = ("GET", "/shops/{site}/products", {"site": self._layout}, given)
        floor_is = "the same find" + (", and the same counts in one pipeline each" * counts)
        floor = partial(self._floor, chosen, counts=counts)
        return self._beside(title, partial(self._calls, *call), floor, floor_is)

    def _beside(
        self, title: str, work: Work, floor: Work, floor_is: str = "the same reads"
    ) -> Case:
        return Case(
            title,
            work,
            floor,
            floor_is=floor_is,
            store=self._layout,
            size=self._size,
            unit="products",
            samples_at_most=100,
            ratio_at_most=LIST_AT_MOST,
        )

    def _category(self) -> None:
        """Read the category, those below it, and how many products each has."""
        database, site = self._runtime.database, self._layout
        database[CATEGORIES.name].find_one({"_id": f"{site}:wear", "site": site})
        rows = database[CATEGORIES.name].find({"site": site, "parent": f"{site}:wear"})
        names = ["wear", *(each["_id"].partition(":")[2] for each in rows)]
        within = {"site": site, "state": "active", "under": "wear"}
        stages: list[Document] = [
            {"$match": within},
            {"$limit": 10_000},
            {"$unwind": "$under"},
            {"$match": {"under": {"$in": names}}},
            {"$group": {"_id": "$under", "n": {"$sum": 1}}},
        ]
        list(database[PRODUCTS.name].aggregate(stages))

    def _floor(self, chosen: dict[str, list[Any]], *, counts: bool) -> None:
        rows = self._runtime.database[PRODUCTS.name]
        layout = LAYOUTS[self._layout].matching(chosen) if chosen else {}
        where: Document = {"site": self._layout, "state": "active", "under": "wear", **layout}
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
