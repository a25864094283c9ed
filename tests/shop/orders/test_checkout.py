"""Checking out: the way of an order, its prices, and refusals."""

from typing import Any

import pytest

from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts
from chalicelib.shop.orders import sweep
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import StockClaim
from tests.shop.support.buying import (
    ADDRESS,
    OTHER,
    SKU,
    Shelf,
    agreement,
    cart_of,
    check_out,
    ordered,
    pay,
    put_line,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import PRICE, book, put
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.http_client import Client

pytestmark = pytest.mark.usefixtures("workers")


def test_an_order_is_held_then_paid_then_off_the_shelf(client: Client, runtime: Runtime) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=2, PEQUOD=1)

    made = check_out(client, cart, agreement(3))

    order = made.json["order"]
    assert (order["state"], order["total_micros"]) == ("paying", 3 * PRICE)
    assert [(line["sku"], line["qty"]) for line in order["lines"]] == [(SKU, 2), (OTHER, 1)]
    assert order["address"] == {**ADDRESS, "region": None}
    assert made.json["payment"]["client_secret"] == f"fake_{order['id']}_secret"
    assert cart not in order["id"]
    assert shelf_of(runtime) == Shelf(5, 3, 2)

    paid = pay(client, cart, order["id"])

    assert paid["state"] == "done"
    assert (shelf_of(runtime), shelf_of(runtime, OTHER)) == (Shelf(3, 3, 0), Shelf(4, 4, 0))
    closed = client.get(f"/carts/{cart}").json
    assert (closed["state"], closed["order"]) == ("ordered", order["id"])
    assert "due" not in stored_order(runtime, order["id"])


def test_a_declined_order_gives_everything_back_and_opens_its_cart(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=2)
    order = ordered(client, cart, agreement(2, "declines@example.org"))

    assert pay(client, cart, order)["reason"] == "declined"

    assert stored_order(runtime, order)["state"] == "void"
    assert shelf_of(runtime) == Shelf(5, 5, 0)
    opened = client.get(f"/carts/{cart}").json
    assert (opened["state"], opened["lines"][0]["lapsed"]) == ("open", True)
    again = ordered(client, cart, agreement(2), key="k2")
    assert pay(client, cart, again)["state"] == "done"
    assert shelf_of(runtime) == Shelf(3, 3, 0)


def test_a_lapsed_line_is_held_by_the_checkout_if_it_can_be(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client, 5)
    cart, other = cart_of(client, MOBY_HARD=2), cart_of(client, MOBY_HARD=3, PEQUOD=1)
    clock.advance(seconds=900)
    sweep.sweep(runtime)
    ordered(client, cart, agreement(2))
    ordered(client, cart_of(client, MOBY_HARD=2), agreement(2))

    refused = check_out(client, other, agreement(4))

    assert (refused.status, refused.code) == (409, "out_of_stock")
    assert refused.json["facts"] == {"sku": SKU, "available": 1}
    assert client.get(f"/carts/{other}").json["state"] == "open"
    assert (shelf_of(runtime), shelf_of(runtime, OTHER)) == (Shelf(5, 1, 4), Shelf(5, 5, 0))
    assert check_out(client, other, agreement(4)).code == "out_of_stock"


def test_prices_are_those_of_now_and_a_change_is_told(client: Client) -> None:
    paula = stocked(client)
    cart = cart_of(client, MOBY_HARD=2)
    dearer = book(SKU, skus=[{"sku": SKU, "price_micros": PRICE + 10_000}])
    assert put(paula, "moby-dick", dearer, version=1).status == 200

    refused = check_out(client, cart, agreement(2))

    assert (refused.status, refused.code) == (409, "total_changed")
    assert refused.json["facts"]["total_micros"] == 2 * PRICE + 20_000
    assert refused.json["facts"]["lines"][0]["price_micros"] == PRICE + 10_000
    assert client.get(f"/carts/{cart}").json["state"] == "open"
    made = check_out(client, cart, {**agreement(2), "total_micros": 2 * PRICE + 20_000})
    assert made.json["order"]["lines"][0]["price_micros"] == PRICE + 10_000


@pytest.mark.parametrize("by", [-1, 1])
def test_a_total_off_by_one_is_refused(client: Client, by: int) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)

    refused = check_out(client, cart, agreement(total_micros=PRICE + by))

    assert refused.code == "total_changed"


def test_an_empty_cart_is_not_checked_out(client: Client) -> None:
    stocked(client)

    refused = check_out(client, cart_of(client))

    assert (refused.status, refused.code) == (422, "empty_cart")


def test_a_repeated_checkout_answers_with_its_order(client: Client, runtime: Runtime) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart)

    assert ordered(client, cart) == order
    assert pay(client, cart, order)["state"] == "done"
    assert check_out(client, cart).json["order"]["state"] == "done"
    assert shelf_of(runtime) == Shelf(4, 4, 0)


def test_a_key_is_of_one_agreement(client: Client) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    ordered(client, cart)

    refused = check_out(client, cart, agreement(email="bob@example.org"))

    assert (refused.status, refused.code) == (409, "idempotency_key_reused")
    headers = {"Content-Type": "application/json"}
    no_key = client.request("POST", f"/carts/{cart}/checkout", body=b"{}", headers=headers)
    assert no_key.status == 422


def test_of_two_checkouts_at_once_one_makes_an_order(client: Client, runtime: Runtime) -> None:
    stocked(client, 1)
    cart = cart_of(client, MOBY_HARD=1)
    replies: dict[int, Any] = {}

    def buy(number: int) -> None:
        replies[number] = check_out(client, cart, key=f"key-{number}")

    in_threads(buy, 2)

    assert sorted(reply.status for reply in replies.values()) == [201, 409]
    assert [reply.code for reply in replies.values() if reply.status == 409] == ["cart_closed"]
    assert shelf_of(runtime) == Shelf(1, 0, 1)


def test_a_crowd_at_the_shelf_leaves_no_cart_frozen(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=1, PEQUOD=1)
    put_on_shelf = shelf.put

    def crowded(runtime: Runtime, claim: StockClaim) -> None:
        if claim.order and claim.stock.endswith(OTHER):
            raise Unavailable
        put_on_shelf(runtime, claim)

    with monkeypatch.context() as patch:
        patch.setattr(shelf, "put", crowded)
        refused = check_out(client, cart, agreement(2)).json["order"]

    assert (refused["state"], refused["reason"]) == ("void", "abandoned")
    assert shelf_of(runtime).held == 0
    assert check_out(client, cart, agreement(2), key="k2").json["order"]["state"] == "paying"


@pytest.mark.parametrize(
    "change",
    [
        {"total_micros": "18990000"},
        {"total_micros": -1},
        {"total_micros": 1.5},
        {"email": "nobody"},
        {"email": "a@b@c"},
        {"email": "ann@.."},
        {"address": {**ADDRESS, "country": "XX"}},
        {"address": {**ADDRESS, "postal_code": "12"}},
        {"address": {**ADDRESS, "postal_code": ""}},
        {"address": {each: ADDRESS[each] for each in ADDRESS if each != "postal_code"}},
        {"address": {each: ADDRESS[each] for each in ADDRESS if each != "city"}},
        {"email": "a\x1cb@c"},
        {"email": "a\x85b@c"},
        {"address": {**ADDRESS, "country": "Netherlands"}},
        {"address": {**ADDRESS, "name": ""}},
        {"card": "4242"},
    ],
)
def test_an_agreement_has_its_form(client: Client, change: dict[str, Any]) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)

    refused = check_out(client, cart, agreement(**change))

    assert (refused.status, refused.code) == (422, "invalid_request")
    assert client.get(f"/carts/{cart}").json["state"] == "open"


HONG_KONG = {"name": "Ann", "street": "1 Queen's Road Central", "country": "HK"}
TOKYO = {**ADDRESS, "country": "JP", "postal_code": "\uff11\uff10\uff10-\uff10\uff10\uff10\uff11"}


@pytest.mark.parametrize(
    ("change", "field", "known"),
    [
        ({"address": HONG_KONG}, "postal_code", ""),
        ({"address": HONG_KONG}, "city", ""),
        ({"address": TOKYO}, "postal_code", "100-0001"),
        ({"address": {**ADDRESS, "postal_code": " 1011ab "}}, "postal_code", "1011AB"),
        ({"address": {**ADDRESS, "country": "nl "}}, "country", "NL"),
        ({"email": "o'brien@mail.example"}, "email", "o'brien@mail.example"),
        ({"email": "ann@example.org "}, "email", "ann@example.org"),
    ],
)
def test_a_buyer_checks_out_from_any_country_as_they_type(
    client: Client, change: dict[str, Any], field: str, known: str
) -> None:
    stocked(client)

    made = check_out(client, cart_of(client, MOBY_HARD=1), agreement(**change))

    assert made.status == 201, made.body
    order = made.json["order"]
    assert {**order, **order["address"]}[field] == known


def test_a_cart_that_changes_while_it_is_priced_is_priced_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    freeze = carts.freeze

    def after_a_change(*arguments: Any) -> bool:
        monkeypatch.setattr(carts, "freeze", freeze)
        assert put_line(client, cart, SKU, 2).status == 200
        return freeze(*arguments)

    monkeypatch.setattr(carts, "freeze", after_a_change)

    refused = check_out(client, cart)

    assert refused.code == "total_changed"
    assert refused.json["facts"]["total_micros"] == 2 * PRICE
