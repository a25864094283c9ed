"""What a buyer has agreed to: the goods and titles of now, whose order it is, and what is kept."""

import hashlib
import hmac
from typing import Any

import pytest
from pydantic import SecretStr

from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.carts import carts
from chalicelib.shop.orders import checkout
from chalicelib.shop.orders.forms import Checkout
from chalicelib.shop.orders.shapes import Order
from tests.shop.support.buying import (
    SKU,
    agreement,
    cart_of,
    check_out,
    ordered,
    put_line,
    stocked,
    stored_order,
)
from tests.shop.support.factories import book, put
from tests.support.http_client import Client

pytestmark = pytest.mark.usefixtures("workers")


def test_an_order_has_the_titles_of_now(client: Client) -> None:
    paula = stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    put(paula, "moby-dick", book(SKU, title="Moby-Dick; or, The Whale"), version=1)

    made = check_out(client, cart)

    assert made.json["order"]["lines"][0]["title"] == "Moby-Dick; or, The Whale"


def test_a_sku_that_another_product_has_by_now_is_not_sold_for_the_one_in_the_cart(
    client: Client,
) -> None:
    paula = stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    put(paula, "moby-dick", book("MOBY-SOFT"), version=1)
    assert check_out(client, cart).code == "not_for_sale"
    put(paula, "whale", book(SKU, title="A whale of plush"))

    refused = check_out(client, cart)

    assert (refused.code, refused.json["facts"]) == ("not_for_sale", {"sku": SKU})
    line = put_line(client, cart, SKU, 1).json["lines"][0]
    assert line["title"] == "A whale of plush"
    assert check_out(client, cart).status == 201


def test_a_cart_that_is_claimed_before_its_order_is_stored_gives_its_user_the_order(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    make = checkout.order_of

    def claimed_first(*arguments: Any) -> Order:
        made = make(*arguments)
        assert client.as_("ann").post(f"/carts/{cart}/claim").status == 200
        return made

    monkeypatch.setattr(checkout, "order_of", claimed_first)

    order = ordered(client, cart)

    assert stored_order(runtime, order)["user"] == "ann"


def test_a_cart_keeps_nothing_by_which_an_address_could_be_guessed(
    client: Client, runtime: Runtime, settings: Settings
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    ordered(client, cart)

    (attempt,) = carts.find(runtime.database, cart)["attempts"]
    agreed = Checkout.model_validate(agreement())
    guessed = (
        agreed.message(cart),
        agreed.model_dump_json().encode(),
        b"ann@example.org",
    )

    assert attempt["digest"] not in {hashlib.sha256(each).hexdigest()[:32] for each in guessed}
    key = settings.signing_keys[0].get_secret_value().encode()
    keyed = hmac.digest(key, agreed.message(cart), "sha256").hex()[:32]
    assert attempt["digest"] == keyed


def test_a_checkout_is_repeated_after_the_signing_keys_were_rotated(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart)
    newer = (SecretStr("a-newer-key-that-is-as-long-as-a-key-is"), *runtime.settings.signing_keys)
    monkeypatch.setitem(vars(runtime.settings), "signing_keys", newer)

    assert ordered(client, cart) == order
    other = check_out(client, cart, agreement(email="bob@example.org"))
    assert other.code == "idempotency_key_reused"
