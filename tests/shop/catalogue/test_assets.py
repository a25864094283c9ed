"""Pictures of products: of the publisher's sites alone, and counted as used."""

from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue import indexing
from tests.content.support import factories as content
from tests.shop.support.factories import SITE, book, open_shop, product, put
from tests.support.http_client import Client

UNKNOWN = "aaneGAECAwQFBgcI"


@pytest.fixture
def paula(client: Client) -> Client:
    return open_shop(client)


@pytest.fixture
def picture(client: Client) -> str:
    return content.picture(client, SITE)


def used_by(client: Client, picture: str) -> int:
    asset: Any = content.editor(client).get(f"/content/{SITE}/assets/{picture}").json
    return int(asset["used_by"])


def change(paula: Client, **fields: Any) -> int:
    version = paula.get(product("moby")).json["version"]
    return put(paula, "moby", book(**fields), version).status


def uncount(runtime: Runtime) -> None:
    """Leave a product as an earlier release stored it."""
    runtime.database["shop.product"].update_many({}, {"$unset": {"counts_assets": ""}})
    runtime.database["content.asset"].update_many({}, {"$set": {"used_by": 0}})


def test_a_picture_of_a_product_is_kept_until_no_product_shows_it(
    client: Client, paula: Client, picture: str
) -> None:
    assert put(paula, "moby", book(assets=[picture])).status == 201
    assert used_by(client, picture) == 1
    deleted = content.editor(client).delete(f"/content/{SITE}/assets/{picture}")
    assert deleted.code == "asset_in_use"

    assert change(paula, assets=[picture], tags=["whales"]) == 200
    assert used_by(client, picture) == 1
    assert change(paula, assets=[]) == 200

    assert used_by(client, picture) == 0
    assert content.editor(client).delete(f"/content/{SITE}/assets/{picture}").status == 204


def test_a_product_shows_no_picture_of_a_site_that_its_publisher_does_not_write_for(
    client: Client, paula: Client
) -> None:
    foreign = content.picture(client, "elsewhere")
    for each in (foreign, UNKNOWN):
        assert put(paula, "moby", book(assets=[each])).code == "unknown_asset"
    assert paula.get(product("moby")).code == "unknown_product"


def test_the_pictures_of_earlier_products_count_after_the_schedule_or_a_write(
    client: Client, paula: Client, runtime: Runtime, picture: str
) -> None:
    other = content.picture(client, SITE)
    put(paula, "moby", book(assets=[picture, other]))
    uncount(runtime)
    runtime.database["content.asset"].delete_one({"_id": other})

    assert change(paula, assets=[picture, other]) == 200
    assert used_by(client, picture) == 1

    uncount(runtime)
    assert [indexing.count_assets(runtime) for _ in range(2)] == [1, 0]
    assert used_by(client, picture) == 1
