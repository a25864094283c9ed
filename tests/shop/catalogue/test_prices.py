"""Ranges of prices: a product is listed by the price of any of its SKUs."""

import itertools
import random
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.currencies import MICROS
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue import indexing, words
from chalicelib.shop.catalogue.rows import PRODUCTS
from tests.shop.support.factories import SITE, open_shop, product, put
from tests.support.clock import Clock
from tests.support.http_client import Client

SHOPS = itertools.count()
COLOURS = ("red", "blue", "green")
# The tenth of a euro, so that ranges often end at a price.
amount = st.integers(0, 8)
RANGES = st.tuples(st.none() | amount, st.none() | amount)
STOCK = st.lists(
    st.tuples(
        st.lists(st.integers(1, 7), min_size=1, max_size=5), st.sampled_from(COLOURS), st.booleans()
    ),
    min_size=1,
    max_size=8,
)


class Shirt(NamedTuple):
    """A product as the reference knows it; prices are tenths of the currency's unit."""

    name: str
    prices: list[int]
    colour: str
    is_new_wear: bool


def body(shirt: Shirt) -> dict[str, Any]:
    return {
        "type": "clothing",
        "title": "Shirt",
        "state": "active",
        "skus": [
            {"sku": f"{shirt.name}-{number}", "price_micros": price * MICROS // 10}
            for number, price in enumerate(shirt.prices)
        ],
        "tags": ["new"] if shirt.is_new_wear else [],
        "details": {"colour": [shirt.colour], "brand": "Linnet"},
    }


def matches(shirt: Shirt, bounds: tuple[int | None, int | None]) -> bool:
    least, greatest = bounds
    return any(
        (least is None or price >= least) and (greatest is None or price <= greatest)
        for price in shirt.prices
    )


def in_order(shirts: list[Shirt], order: str) -> list[str]:
    """Return the names as the order has them; shirts are given from the oldest to the newest."""
    if order == "newest":
        return [each.name for each in reversed(shirts)]
    found = sorted(shirts, key=lambda each: (min(each.prices), each.name))
    if order == "best":
        found = sorted(shirts, key=lambda each: each.name)
    names = [each.name for each in found]
    return names[::-1] if order == "-price" else names


def price_query(bounds: tuple[int | None, int | None]) -> str:
    least, greatest = ("" if each is None else f"{each / 10}" for each in bounds)
    return f"price={least}..{greatest}"


class Shop:
    """A shop of shirts in a layout, and its lists."""

    def __init__(self, client: Client, clock: Clock, layout: str) -> None:
        self.client, self.site = client, f"{SITE}-{next(SHOPS)}"
        self.paula, self.clock, self.layout = open_shop(client, self.site), clock, layout
        if layout == "attributes":
            self.rewrite()

    def rewrite(self) -> None:
        self.paula.post(f"/shops/{self.site}/layout", store="attributes")

    def fill(self, stock: list[Any]) -> list[Shirt]:
        shirts = [Shirt(f"s{number}", *each) for number, each in enumerate(stock)]
        for number, shirt in enumerate(shirts):
            if self.layout == "both" and number == len(shirts) // 2:
                self.rewrite()
            assert put(self.paula, shirt.name, body(shirt), site=self.site).status == 201
            self.clock.advance(seconds=1)
        return shirts

    def ids(self, query: str, limit: int = 50) -> list[str]:
        """Return the ids of a whole list, page by page."""
        found: list[str] = []
        cursor = ""
        while True:
            reply = self.client.get(
                f"/shops/{self.site}/products?limit={limit}&{query}{cursor}"
            ).json
            found += [each["id"] for each in reply["products"]]
            if reply["next"] is None:
                return found
            cursor = f"&cursor={reply['next']}"

    def colours(self, query: str) -> dict[str, int]:
        reply = self.client.get(f"/shops/{self.site}/products?facets=1&{query}").json
        found = {each["name"]: each["values"] for each in reply["facets"]}
        return {each["value"]: each["products"] for each in found.get("colour", [])}


@pytest.mark.parametrize("layout", ["details", "attributes", "both"])
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(drawn=st.tuples(STOCK, RANGES, st.integers(1, 4)))
def test_a_range_lists_the_products_that_a_plain_loop_finds(
    client: Client,
    clock: Clock,
    layout: str,
    drawn: tuple[list[Any], tuple[int | None, int | None], int],
) -> None:
    shop, (stock, bounds, limit) = Shop(client, clock, layout), drawn
    shirts, price = shop.fill(stock), price_query(bounds)
    expected = [each for each in shirts if matches(each, bounds)]

    for order in ("price", "-price", "newest"):
        assert shop.ids(f"{price}&order={order}", limit) == in_order(expected, order)
        new = [each for each in expected if each.is_new_wear]
        assert shop.ids(f"{price}&order={order}&tag=new", limit) == in_order(new, order)
    assert shop.ids(f"{price}&q=shirt", limit) == in_order(expected, "best")
    assert shop.ids(f"{price}&q=shirt&order=price") == in_order(expected, "price")
    check_colours(shop, price, expected)


def check_colours(shop: Shop, price: str, expected: list[Shirt]) -> None:
    """Each count of a facet is the number of products that its choice lists."""
    counted = shop.colours(f"{price}&f.brand=Linnet")
    assert counted.keys() == {each.colour for each in expected}
    assert shop.colours(f"{price}&f.colour=red") == counted
    for colour in COLOURS:
        listed = shop.ids(f"{price}&f.colour={colour}&order=price")
        assert listed == in_order([each for each in expected if each.colour == colour], "price")
        assert len(listed) == counted.get(colour, 0)


def test_frequent_words_are_searched_in_a_range(
    client: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(client, clock, "details")
    shop.fill([([1, 2], "red", False), ([1, 3], "red", False), ([2], "red", False)])
    monkeypatch.setattr(words, "FREQUENT", 1)

    assert shop.ids("q=shirt&price=0.2..0.2", 1) == ["s0", "s2"]
    assert shop.ids("q=shirt&price=0.3..&order=price") == ["s1"]


def test_a_price_of_one_sku_lies_in_the_range_and_no_mean_of_two(
    client: Client, clock: Clock
) -> None:
    shop = Shop(client, clock, "details")
    shop.fill([([1, 2], "red", False), ([1, 3], "red", False), ([1, 2, 3], "red", False)])

    assert shop.ids("price=0.15..0.25&order=price") == ["s0", "s2"]
    assert shop.ids("price=0.25..0.15&order=price") == []
    shop.paula.delete(product("s1", shop.site))
    wide = body(Shirt("wide", [1, 2, 9], "red", is_new_wear=False))
    assert put(shop.paula, "wide", wide, site=shop.site).status == 201
    for order in ("price", "newest"):
        assert shop.ids(f"price=0.4..0.6&order={order}") == []


def test_a_range_follows_the_prices_of_a_later_write(client: Client, clock: Clock) -> None:
    shop = Shop(client, clock, "details")
    (shirt,) = shop.fill([([1, 3], "red", False)])
    assert put(shop.paula, "s0", body(shirt._replace(prices=[1, 1])), 1, shop.site).status == 200

    assert shop.ids("price=0.2..&order=price") == []
    assert put(shop.paula, "s0", body(shirt._replace(prices=[4, 2])), 2, shop.site).status == 200
    assert shop.ids("price=0.3..&order=price") == ["s0"]
    shown = client.get(product("s0", shop.site)).json
    assert shown["price_micros"] == 2 * MICROS // 10
    assert "higher_micros" not in shown


def test_a_product_of_release_0_3_0_is_found_once_its_fields_are_derived(
    client: Client, clock: Clock, runtime: Runtime
) -> None:
    shop = Shop(client, clock, "details")
    shop.fill([([1, 3, 3], "red", False), ([2], "red", False)])
    rows = PRODUCTS.of(runtime.database)
    former = {"search_rules": "", "higher_micros": ""}
    rows.update_many({"site": shop.site}, {"$unset": former})
    assert shop.ids("price=0.2..&order=price") == ["s1"]

    indexing.refresh(runtime)

    assert shop.ids("price=0.2..&order=price") == ["s0", "s1"]
    (first, second) = rows.find({"site": shop.site}).sort("_id")
    assert first["higher_micros"] == [3 * MICROS // 10]
    assert "higher_micros" not in second


def test_a_product_may_have_a_hundred_prices(client: Client, clock: Clock) -> None:
    prices = random.Random(5).sample(range(1, 1_000), 100)
    shop = Shop(client, clock, "details")
    shop.fill([(prices, "red", False)])

    for price in (min(prices), sorted(prices)[1], max(prices)):
        assert shop.ids(price_query((price, price)) + "&order=-price") == ["s0"]
    assert shop.ids(price_query((max(prices) + 1, None)) + "&order=price") == []
