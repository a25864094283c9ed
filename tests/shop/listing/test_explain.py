"""What the lists of a shop with many products examine: their page, by an index that is ordered."""

import itertools
import random
from typing import Any

import pytest

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.layouts.stores import LAYOUTS
from chalicelib.shop.listing import filters, pages
from chalicelib.shop.listing.models import Order, ProductsQuery
from chalicelib.shop.products.rows import PRODUCTS, under
from chalicelib.shop.search import stored_tokens
from chalicelib.shop.sites import settings
from chalicelib.shop.sites.models import ShopSettings
from chalicelib.shop.sites.settings import LayoutName, ShopSite

PRODUCTS_OF_THE_SHOP = 2_000
PAGE = 20
SITE = "large"


def fill(runtime: Runtime, layout: LayoutName) -> ShopSite:
    """Fill a shop: one product in 100 is of a rare brand, one in 10 in a category of its own."""
    shop = settings.put(runtime.database, SITE, ShopSettings(currency="EUR"))
    settings.SITES.of(runtime.database).update_one({"_id": SITE}, {"$set": {"layout": layout}})
    rng, now = random.Random(7), runtime.now()
    rows: list[Any] = []
    for number in range(PRODUCTS_OF_THE_SHOP):
        brand = "Rare" if number % 100 == 0 else f"Brand {number % 5}"
        lines = [["wear", f"c{number % 10}"]]
        rows.append(
            {
                "_id": f"{SITE}:p{number:05}",
                "site": SITE,
                "type": "clothing",
                "title": f"Shirt {number}",
                "text": "",
                "html": "",
                "state": "active",
                "version": 1,
                "skus": [],
                "price_micros": rng.randrange(1, 1_000) * 10_000,
                "categories": [f"c{number % 10}"],
                "under": under("clothing", [f"t{number % 50}"], lines),
                "tags": [f"t{number % 50}"],
                "assets": [],
                "search": stored_tokens(f"Shirt {number}", [brand], ""),
                "added": now,
                "updated": now,
                **LAYOUTS[layout].stored({"brand": brand, "colour": [f"x{number % 4}"]}),
            }
        )
    PRODUCTS.of(runtime.database).insert_many(rows)
    return {**shop, "layout": layout}


def explained(runtime: Runtime, shop: ShopSite, order: Order, **query: Any) -> Document:
    """Return what the server did for a page."""
    asked = ProductsQuery.model_validate({"order": order, **query})
    where = filters.of(shop, asked, filters.chosen_facets(asked))
    rows = PRODUCTS.of(runtime.database).find(where).sort(pages.SORTS[order]).limit(PAGE)
    explained: Any = rows.explain()
    found: Document = explained["executionStats"]
    return found


def sorts(stage: Document) -> bool:
    return stage["stage"] == "SORT" or any(
        sorts(stage[name]) for name in ("inputStage",) if name in stage
    )


LISTS: tuple[dict[str, Any], ...] = (
    {},
    {"category": "wear"},
    {"category": "c3"},
    {"type": "clothing"},
    {"tag": "t7"},
)
ORDERS: tuple[Order, ...] = ("price", "-price", "newest")


def test_a_list_reads_its_page_and_no_more(runtime: Runtime) -> None:
    shop = fill(runtime, "details")

    for order, query in itertools.product(ORDERS, LISTS):
        stats = explained(runtime, shop, order, **query)
        assert stats["nReturned"] == stats["totalDocsExamined"] == PAGE, (order, query)
        assert stats["totalKeysExamined"] <= PAGE + 1, (order, query)
        assert not sorts(stats["executionStages"]), (order, query)
    assert explained(runtime, shop, "price", q="shirt 1234")["nReturned"] == 1
    assert explained(runtime, shop, "price", q="1234")["totalDocsExamined"] <= 2


@pytest.mark.parametrize("layout", ["details", "attributes"])
def test_a_rare_value_is_found_by_the_index_of_its_layout(
    runtime: Runtime, layout: LayoutName
) -> None:
    shop = fill(runtime, layout)
    rare = PRODUCTS_OF_THE_SHOP // 100

    stats = explained(runtime, shop, "price", **{"f.brand": "Rare", "category": "c0"})

    assert stats["nReturned"] == PAGE
    assert stats["totalDocsExamined"] <= rare + 1
    assert sorts(stats["executionStages"]) == (layout == "details")
