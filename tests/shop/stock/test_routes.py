"""Stock over HTTP: who changes it, how often, and what is refused."""

from typing import Any

import pytest

from tests.shop.support.buying import OTHER, SKU, cart_of, fill, stocked
from tests.shop.support.factories import SITE, book, put
from tests.support.http_client import Client

STOCK = f"/shops/{SITE}/stock/{SKU}"


def test_units_come_in_once_for_each_key(client: Client) -> None:
    paula = stocked(client, 5)

    for _ in range(2):
        assert fill(paula, 3, key="second").json == {
            "sku": SKU,
            "on_hand": 8,
            "available": 8,
            "held": 0,
        }


def test_a_key_names_one_movement(client: Client) -> None:
    paula = stocked(client, 5)

    refused = paula.post(STOCK, change=4, key="first")

    assert (refused.status, refused.code) == (409, "idempotency_key_reused")
    assert paula.post(STOCK, counted=5, key="first").code == "idempotency_key_reused"


def test_a_count_corrects_what_is_there_and_counts_what_carts_hold(client: Client) -> None:
    paula = stocked(client, 5)
    cart_of(client, MOBY_HARD=2)

    counted = paula.post(STOCK, counted=3, key="count")

    assert counted.json == {"sku": SKU, "on_hand": 3, "available": 1, "held": 2}
    assert paula.post(STOCK, counted=3, key="count").json["on_hand"] == 3


def test_what_carts_hold_is_not_taken_from_them(client: Client) -> None:
    paula = stocked(client, 5)
    cart_of(client, MOBY_HARD=2)
    for body in ({"counted": 1}, {"change": -4}):
        refused = paula.post(STOCK, key="less", **body)

        assert (refused.status, refused.code) == (409, "stock_is_carted")
        assert refused.json["facts"] == {"on_hand": 5, "held": 2}

    assert paula.post(STOCK, change=-3, key="less").json["available"] == 0


def test_a_sku_of_no_product_has_no_stock(client: Client) -> None:
    paula = stocked(client)

    refused = paula.post(f"/shops/{SITE}/stock/NOTHING", change=1, key="k")

    assert (refused.status, refused.code) == (404, "unknown_sku")


@pytest.mark.bounds(shop={"on_hand_units": 6})
def test_there_is_an_end_to_what_fits_on_a_shelf(client: Client) -> None:
    paula = stocked(client, 5)
    assert paula.post(STOCK, change=1, key="last").status == 200

    refused = paula.post(STOCK, change=1, key="one-more")

    assert (refused.status, refused.code) == (422, "invalid_request")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"change": 1, "counted": 1},
        {"change": "1"},
        {"change": 1.5},
        {"counted": -1},
        {"change": 1, "key": "a.b"},
        {"change": 1, "key": "k", "sku": "x"},
    ],
)
def test_a_change_that_says_nothing_clear_is_refused(client: Client, body: dict[str, Any]) -> None:
    paula = stocked(client)

    assert paula.post(STOCK, **{"key": "k", **body}).status == 422


def test_everybody_sees_what_is_available_up_to_a_hundred(client: Client) -> None:
    paula = stocked(client, 5)
    fill(paula, 200, key="many")
    cart_of(client, MOBY_HARD=2)

    shown = client.get(f"/shops/{SITE}/stock?skus={SKU},PEQUOD,NOTHING")

    assert shown.json == {"available": {SKU: 100, "PEQUOD": 5, "NOTHING": 0}}
    with_wrong = client.get(f"/shops/{SITE}/stock?skus={SKU},caf%C3%A9,,a.b,PEQUOD")
    assert with_wrong.json == {"available": {SKU: 100, "PEQUOD": 5}}
    assert client.get(f"/shops/{SITE}/stock?skus=a.b").json == {"available": {}}
    for query in ("", "?skus=", "?skus=,", "?skus=" + ",".join(map(str, range(101)))):
        assert client.get(f"/shops/{SITE}/stock{query}").status == 422


@pytest.mark.parametrize("state", ["draft", "archived"])
def test_the_stock_of_a_product_that_is_not_for_sale_is_its_publishers_secret(
    client: Client, state: str
) -> None:
    paula = stocked(client, 7)
    product = f"/shops/{SITE}/products/moby-dick"
    if state == "draft":
        assert put(paula, "moby-dick", book(SKU, state="draft"), version=1).status == 200
    else:
        assert paula.delete(product).status == 204
    path = f"/shops/{SITE}/stock?skus={SKU},{OTHER},NONE"

    for caller in (client, client.as_("bob"), client.as_("pat", roles=["publisher"], sites=["x"])):
        assert caller.get(path).json["available"] == {SKU: 0, OTHER: 7, "NONE": 0}
    for caller in (paula, client.as_("admin", roles=["admin"])):
        assert caller.get(path).json["available"] == {SKU: 7, OTHER: 7, "NONE": 0}
