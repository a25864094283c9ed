"""Products: written by version, with SKUs that are theirs alone, and prices that can be charged."""

import threading
from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue.offers import offers
from chalicelib.shop.catalogue.rows import PRODUCTS
from chalicelib.shop.catalogue.skus import SKUS
from tests.shop.support.factories import PRICE, SITE, book, open_shop, product, put
from tests.support.clock import Clock
from tests.support.http_client import Client

WRITERS = 6


def test_a_product_is_written_read_and_replaced(client: Client, clock: Clock) -> None:
    paula = open_shop(client)
    text = "A captain, and a *whale*.\n\n<script>alert(1)</script>"

    made = put(paula, "moby", book(text=text, tags=["Whales ", "whales"], currency="EUR"))

    assert made.status == 201
    assert made.headers["ETag"] == '"1"'
    assert made.headers["Location"].endswith(product("moby"))
    assert made.json["tags"] == ["whales"]
    assert made.json["price_micros"] == PRICE
    assert made.json["details"] == {"author": ["Herman Melville"], "language": "en"}
    assert "<em>whale</em>" in made.json["html"]
    assert "<script" not in made.json["html"]
    assert client.get(product("moby")).json == made.json

    clock.advance(seconds=1)
    two = [{"sku": "A", "price_micros": 9_000_000}, {"sku": "B", "price_micros": 5_000_000}]
    again = put(paula, "moby", book(skus=two, title="Moby"), 1)

    assert again.status == 200
    assert again.headers["ETag"] == '"2"'
    assert again.json["price_micros"] == 5_000_000
    assert again.json["text"] == again.json["html"] == ""
    assert again.json["added_at"] == made.json["added_at"] < again.json["updated_at"]


def test_a_reader_who_has_the_version_is_told_so(client: Client) -> None:
    put(open_shop(client), "moby", book())
    held = {"If-None-Match": 'W/"1"'}

    assert client.request("GET", product("moby"), headers=held).status == 304


def test_a_write_names_the_version_that_was_read(client: Client) -> None:
    paula = open_shop(client)

    assert put(paula, "moby", book(), 1).code == "unknown_product"
    put(paula, "moby", book())
    assert put(paula, "moby", book(title="Other")).code == "version_needed"
    refused = put(paula, "moby", book(title="Other"), 2)
    assert refused.code == "product_changed"
    assert refused.json["facts"] == {"version": 1}
    assert client.get(product("moby")).json["title"] == "Moby-Dick"


def test_of_two_writers_one_hears_of_the_other(client: Client) -> None:
    paula = open_shop(client)
    put(paula, "moby", book())
    put(paula, "moby", book(title="Hers"), 1)

    refused = put(paula, "moby", book(title="His"), 1)

    assert (refused.code, refused.json["facts"]) == ("product_changed", {"version": 2})
    assert client.get(product("moby")).json["title"] == "Hers"


def test_a_product_needs_a_shop(client: Client) -> None:
    paula = client.as_("paula", roles=["publisher"], sites=[SITE])

    assert put(paula, "moby", book()).code == "unknown_shop"


def test_what_is_not_active_is_for_its_publisher_alone(client: Client) -> None:
    paula = open_shop(client)
    put(paula, "moby", book(state="draft"))

    assert client.get(product("moby")).code == "unknown_product"
    assert client.as_("eve").get(product("moby")).code == "unknown_product"
    assert paula.get(product("moby")).json["state"] == "draft"

    put(paula, "moby", book(), 1)
    assert client.get(product("moby")).status == 200
    assert paula.delete(product("moby")).status == 204
    assert paula.delete(product("moby")).status == 204
    assert client.get(product("moby")).code == "unknown_product"
    assert paula.get(product("moby")).json["state"] == "archived"
    assert paula.get(product("moby")).json["version"] == 3
    assert paula.delete(product("dick")).code == "unknown_product"


def test_a_sku_belongs_to_one_product(client: Client, runtime: Runtime) -> None:
    paula = open_shop(client)
    put(paula, "moby", book("A"))

    refused = put(paula, "dick", book("A"))

    assert refused.code == "sku_taken"
    assert refused.json["facts"] == {"sku": "A", "product": "moby"}
    assert paula.get(product("dick")).code == "unknown_product"

    put(paula, "moby", book("B"), 1)
    assert put(paula, "dick", book("A")).status == 201
    open_shop(client, "elsewhere")
    other = client.as_("olga", roles=["publisher"], sites=["elsewhere"])
    assert put(other, "dick", book("A"), site="elsewhere").status == 201
    assert SKUS.of(runtime.database).count_documents({}) == 3


def test_of_many_writers_at_once_one_makes_a_product_and_gets_the_sku(
    client: Client, runtime: Runtime
) -> None:
    paula = open_shop(client)
    found: list[int] = []

    def work(number: int) -> None:
        found.append(put(paula, f"p{number % 3}", book("LAST")).status)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert min(found) == 201
    assert all(status in {409, 428} for status in sorted(found)[1:])
    assert PRODUCTS.of(runtime.database).count_documents({}) == 1


def test_what_a_cart_needs_of_some_skus(client: Client, runtime: Runtime) -> None:
    paula = open_shop(client)
    two = [
        {"sku": "A", "price_micros": 9_000_000, "options": {"binding": "hardcover"}},
        {"sku": "B", "price_micros": 5_000_000},
    ]
    put(paula, "moby", book(skus=two))
    put(paula, "old", book("C", title="Old"))
    paula.delete(product("old"))

    assert offers(runtime.database, SITE, ["A", "C", "unknown"]) == {
        "A": {
            "product": "moby",
            "title": "Moby-Dick",
            "options": {"binding": "hardcover"},
            "price_micros": 9_000_000,
            "state": "active",
        },
        "C": {
            "product": "old",
            "title": "Old",
            "options": {},
            "price_micros": PRICE,
            "state": "archived",
        },
    }
    assert offers(runtime.database, "elsewhere", ["A"]) == {}


def priced(price: Any) -> dict[str, Any]:
    return {"skus": [{"sku": "A", "price_micros": price}]}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (priced(18_999_999), "skus.0.price_micros"),
        (priced(0), "skus.0.price_micros"),
        (priced(-10_000), "skus.0.price_micros"),
        (priced(10**13), "skus.0.price_micros"),
        (priced("10000"), "skus.0.price_micros"),
        (priced(1.5), "skus.0.price_micros"),
        ({"currency": "USD"}, "currency"),
        ({"skus": []}, "skus"),
        ({"skus": [{"sku": "A.B", "price_micros": PRICE}]}, "skus.0.sku"),
        ({"skus": [{"sku": "$A", "price_micros": PRICE}]}, "skus.0.sku"),
        ({"skus": [{"sku": "A", "price_micros": PRICE}] * 2}, ""),
        ({"type": "spoon"}, "type"),
        ({"title": " "}, "title"),
        ({"state": "sold"}, "state"),
        ({"text": "x" * 10_001}, "text"),
        ({"text": "&#8203;"}, "text"),
        ({"tags": ["x,y"]}, "tags.0"),
        ({"assets": ["../x"]}, "assets.0"),
        ({"details": {"author": ["A"], "sleeve": "long"}}, "details.sleeve"),
        ({"details": {"author": ["x" * 101]}}, "details.author.0"),
        ({"details": {"author": [{"$gt": ""}]}}, "details.author.0"),
        ({"details": {"author": ["A"], "pages": "9"}}, "details.pages"),
        ({"details": "book"}, "details"),
    ],
)
def test_what_cannot_be_sold_is_refused(client: Client, change: dict[str, Any], field: str) -> None:
    reply = put(open_shop(client), "moby", book() | change)

    assert reply.code == "invalid_request"
    assert reply.json["errors"][0]["field"] == field


def test_a_text_whose_html_is_too_large_is_refused(client: Client) -> None:
    many = "".join(f"\n{'>' * depth} a" for depth in range(1, 120))

    assert put(open_shop(client), "moby", book(text=many)).status in {201, 422}
    quotes = "\n\n".join(">" * 8 + "a" for _ in range(900))
    assert put(open_shop(client), "dick", book("B", text=quotes)).code == "product_too_large"


def test_values_that_look_the_same_are_one(client: Client) -> None:
    """Else a facet shows one value twice."""
    paula = open_shop(client)
    authors = ["Melville", "Melville\u200b", "Mel\u00adville", "Kent"]
    details = {"author": authors, "language": "en"}

    assert put(paula, "moby", book(details=details)).status == 201

    assert paula.get(product("moby")).json["details"]["author"] == ["Melville", "Kent"]
