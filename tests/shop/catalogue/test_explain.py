"""What the lists of a shop with many products examine: their page, by an index that is ordered."""

import itertools
import random
from typing import Any

import pytest

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.catalogue import filters, pages, prices, words
from chalicelib.shop.catalogue.layouts import LAYOUTS
from chalicelib.shop.catalogue.listing_forms import Order, ProductsQuery
from chalicelib.shop.catalogue.pages import ProductListing
from chalicelib.shop.catalogue.rows import PRODUCTS, under
from chalicelib.shop.search import stored_tokens
from chalicelib.shop.settings import LayoutName, ShopSettings, ShopSite

PRODUCTS_OF_THE_SHOP = 50_000
_AT_ONCE = 5_000
# One product in so many is of a rare brand, of which all are in the category c0.
RARE = 500
# One product in so many has several prices.
SEVERAL = 10
PAGE = 20
SITE = "large"


def fill(runtime: Runtime, layout: LayoutName) -> ShopSite:
    """Fill a shop: one product in 500 is of a rare brand, one in 10 has three prices.

    One in 10 is in a category of its own. Prices are between 0.01 and 30.
    """
    shop = settings.put(runtime.database, SITE, ShopSettings(currency="EUR"))
    settings.SITES.of(runtime.database).update_one({"_id": SITE}, {"$set": {"layout": layout}})
    rng, now = random.Random(7), runtime.now()
    rows: list[Any] = []
    for number in range(PRODUCTS_OF_THE_SHOP):
        brand = "Rare" if number % RARE == 0 else f"Brand {number % 5}"
        lines = [["wear", f"c{number % 10}"]]
        least = rng.randrange(1, 1_000) * 10_000
        times = (1, 2, 3) if rng.randrange(SEVERAL) == 0 else (1,)
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
                **prices.least_and_higher(least * each for each in times),
                "categories": [f"c{number % 10}"],
                "under": under("clothing", [f"t{number % 50}"], lines),
                "tags": [f"t{number % 50}"],
                "assets": [],
                "search": stored_tokens(f"Shirt {number}", [brand], ""),
                "added": now,
                "updated": now,
                **LAYOUTS[layout].to_stored({"brand": brand, "colour": [f"x{number % 4}"]}),
            }
        )
    for begin in range(0, len(rows), _AT_ONCE):
        PRODUCTS.of(runtime.database).insert_many(rows[begin : begin + _AT_ONCE], ordered=False)
    return {**shop, "layout": layout}


def explained(runtime: Runtime, shop: ShopSite, order: Order, **query: Any) -> Document:
    """Return what the server did for a page."""
    search_words = ProductsQuery.model_validate({"order": order, **query})
    found = words.search_words(runtime.database, SITE, search_words)
    where = filters.at_any_price(
        shop, search_words, filters.chosen_facets(runtime.database, shop, search_words), found
    )
    (part,) = pages.parts(where, order, search_words.price_range)
    return stats_of(runtime, part, order)


def stats_of(runtime: Runtime, where: Document, order: Order) -> Document:
    rows = PRODUCTS.of(runtime.database).find(where).sort(pages.SORTS[order]).limit(PAGE)
    explained: Any = rows.explain()
    stats: Document = explained["executionStats"]
    assert "COLLSCAN" not in stages(stats["executionStages"])
    return stats


def stages(stage: Document) -> list[str]:
    """Return the names of a plan's stages, the last first."""
    below = [stage["inputStage"]] if "inputStage" in stage else stage.get("inputStages", [])
    return [stage["stage"], *(name for each in below for name in stages(each))]


def sorts(stats: Document) -> bool:
    return "SORT" in stages(stats["executionStages"])


LISTS: tuple[dict[str, Any], ...] = (
    {},
    {"category": "wear"},
    {"category": "c3"},
    {"type": "clothing"},
    {"tag": "t7"},
)
ORDERS: tuple[Order, ...] = ("price", "-price", "newest")


@pytest.mark.parametrize("layout", ["details", "attributes"])
def test_lists_of_50_000_products_examine_a_page(runtime: Runtime, layout: LayoutName) -> None:
    shop = fill(runtime, layout)

    for order, query in itertools.product(ORDERS, LISTS):
        stats = explained(runtime, shop, order, **query)
        assert stats["nReturned"] == stats["totalDocsExamined"] == PAGE, (order, query)
        assert stats["totalKeysExamined"] <= PAGE + 1, (order, query)
        assert not sorts(stats), (order, query)
    check_prices(runtime, shop)
    check_values(runtime, shop)
    check_words(runtime, shop)


def check_prices(runtime: Runtime, shop: ShopSite) -> None:
    """A range bounds the index of an order by price; a cheaper product is among a few others."""
    ranges = {"5..6": PAGE, "..6": PAGE, "5..": PAGE, "20..21": 0, "50..60": 0, "5.001..5.002": 0}
    orders: tuple[Order, ...] = ("price", "-price")
    for order, (price, listed) in itertools.product(orders, ranges.items()):
        query = ProductsQuery.model_validate({"category": "wear", "price": price, "order": order})
        where = filters.at_any_price(shop, query, {}, None)
        parts = pages.parts(where, "price", query.price_range)
        stats = stats_of(runtime, parts[-1], order)
        assert stats["nReturned"] == stats["totalDocsExamined"] == listed, price
        assert stats["totalKeysExamined"] <= PAGE + 1
        assert not sorts(stats)
        for part in parts[:-1]:
            check_cheaper(stats_of(runtime, part, order), price)
    check_wide_plans(runtime, shop)


def check_cheaper(stats: Document, price: str) -> None:
    """Read a page among the products with several prices, or all within a small range."""
    least, _, greatest = price.partition("..")
    is_small = bool(greatest) and float(greatest) - float(least) < 1
    several = PRODUCTS_OF_THE_SHOP // SEVERAL
    assert stats["totalKeysExamined"] <= (PAGE if is_small else several // 5), price
    assert stats["nReturned"] == (PAGE if least in {"5", "20"} else 0), price


def check_wide_plans(runtime: Runtime, shop: ShopSite) -> None:
    """Counts of facets, and the newest products, read a small range by its prices."""
    query = ProductsQuery.model_validate({"category": "wear", "price": "5.001..5.009"})
    where = filters.of(shop, query, {}, None)
    counted: Any = PRODUCTS.of(runtime.database).find(where).limit(1_000).explain()
    assert counted["executionStats"]["totalDocsExamined"] <= PAGE
    newest = explained(runtime, shop, "newest", category="wear", price="5.001..5.009")
    assert newest["totalDocsExamined"] <= PAGE


def check_values(runtime: Runtime, shop: ShopSite) -> None:
    """A rare value is found by its layout's index; a frequent one has a page soon, whichever."""
    is_ordered = shop["layout"] == "attributes"
    rare = explained(runtime, shop, "price", **{"f.brand": "Rare", "category": "c0"})
    frequent = explained(runtime, shop, "price", **{"f.brand": "Brand 3"})

    assert rare["nReturned"] == PAGE
    assert rare["totalDocsExamined"] <= PRODUCTS_OF_THE_SHOP // RARE + 1
    assert sorts(rare) == (not is_ordered)
    assert frequent["totalDocsExamined"] <= PAGE * 10
    assert not sorts(frequent)
    if is_ordered:
        assert rare["totalKeysExamined"] <= PAGE + 1


def check_words(runtime: Runtime, shop: ShopSite) -> None:
    """A search reads the products with its rarest word; of a frequent one, a page of them."""
    for order in ORDERS:
        assert explained(runtime, shop, order, q="shirt 1234")["totalDocsExamined"] <= 2
        frequent = explained(runtime, shop, order, q="shirt")
        assert frequent["totalDocsExamined"] <= PAGE + 1
        assert not sorts(frequent)
    check_best(runtime, shop)


def check_best(runtime: Runtime, shop: ShopSite) -> None:
    """The best of a frequent word are scored of a bounded number; of a rare one, of all."""
    bound = runtime.bounds.shop.scored_products
    assert bound < PRODUCTS_OF_THE_SHOP
    assert scored(runtime, shop, q="shirt") == bound
    assert scored(runtime, shop, q="shirt", category="wear", **{"f.brand": "Brand 3"}) <= 6 * bound
    assert scored(runtime, shop, q="shirt 1234") <= words.FREQUENT


def scored(runtime: Runtime, shop: ShopSite, **query: Any) -> int:
    """Return how many products the server reads to score them for a page by `best`."""
    search_words = ProductsQuery.model_validate(query)
    found = words.search_words(runtime.database, SITE, search_words)
    assert found is not None
    where = filters.of(
        shop, search_words, filters.chosen_facets(runtime.database, shop, search_words), found
    )
    runtime.database.command("profile", 2)
    try:
        wanted = ProductListing(where, "best", words=found.all)
        assert pages.page(runtime, wanted, None, PAGE)
    finally:
        runtime.database.command("profile", 0)
    rows = runtime.database["system.profile"].find({"command.aggregate": "shop.product"})
    (read,) = [each["docsExamined"] for each in rows]
    runtime.database.drop_collection("system.profile")
    return int(read)
