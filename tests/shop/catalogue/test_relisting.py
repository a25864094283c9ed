"""Products after a move of their categories: listed as if they had been written after it."""

from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue.rows import PRODUCTS
from tests.shop.support.factories import SITE, book, open_shop, put
from tests.support.http_client import Client
from tests.support.workers import Workers

KINDS = (
    ["novels"],
    ["sea", "novels"],
    ["ships", "sea"],
)


def places(runtime: Runtime, name: str) -> list[str]:
    found = PRODUCTS.of(runtime.database).find_one({"_id": f"{SITE}:{name}"})
    assert found is not None
    return found["under"]


def test_moved_products_are_listed_as_if_they_were_written_afterwards(
    client: Client, runtime: Runtime, workers: Workers
) -> None:
    paula = open_shop(client)
    for name, parent in (("novels", None), ("sea", "novels"), ("ships", "sea"), ("$old", None)):
        slug = name.strip("$")
        body = {"name": name, "slug": slug, "parent": parent}
        assert paula.put(f"/shops/{SITE}/categories/{slug}", **body).status == 201
    sold = [
        book(f"S{number}", categories=categories, tags=tags)
        for number, (categories, tags) in enumerate(
            (each, tags) for each in KINDS for tags in ([], ["whales"], ["a $tag", "whales"])
        )
    ]
    for number, body in enumerate(sold):
        assert put(paula, f"before-{number}", body).status == 201

    moved = paula.post(f"/shops/{SITE}/categories/sea/move", parent="old")
    workers.drain()

    assert moved.status == 200, moved.body
    for number, body in enumerate(sold):
        sku = {"skus": [{"sku": f"LATER-{number}", "price_micros": 10_000}]}
        assert put(paula, f"after-{number}", {**body, **sku}).status == 201
        assert places(runtime, f"before-{number}") == places(runtime, f"after-{number}")
