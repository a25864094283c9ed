"""Erasures of the buyer of one order, as of a guest without an account."""

from typing import Any

import pytest

from chalicelib.people import jobs
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts
from chalicelib.shop.orders import personal_data
from chalicelib.shop.orders.personal_data import follow_claim, forget_buyers
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.wiring.people import PEOPLE
from tests.shop.support.buying import (
    agreement,
    bought,
    cart_of,
    check_out,
    ordered,
    pay,
    stocked,
    stored_order,
)
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

pytestmark = pytest.mark.usefixtures("workers")
EMAIL = "ann@example.org"


def erase(caller: Client, order: str, cart: str | None = None, email: str = EMAIL) -> Reply:
    query = f"?cart={cart}" if cart else ""
    return caller.post(f"/orders/{order}/erasure{query}", email=email)


def test_a_guest_erases_themselves_from_an_order_by_its_cart_and_their_address(
    client: Client, runtime: Runtime
) -> None:
    stocked(client)
    cart, order = bought(client)
    before = stored_order(runtime, order)

    for _ in range(2):
        erased = erase(client, order, cart, "ANN@example.org")
        assert (erased.status, erased.json["email"], erased.json["address"]) == (200, None, None)

    gone = {"email": None, "address": None, "erased": True}
    assert stored_order(runtime, order) == {**before, **gone}


@pytest.mark.parametrize("name", ["paula", "admin"])
def test_a_seller_whom_the_buyer_asked_erases_them(
    client: Client, runtime: Runtime, name: str
) -> None:
    paula = stocked(client)
    _, order = bought(client)
    seller = paula if name == "paula" else client.as_("admin", roles=["admin"])

    assert erase(seller, order).status == 200

    assert stored_order(runtime, order)["email"] is None


def test_a_user_erases_themselves_from_one_order(client: Client, runtime: Runtime) -> None:
    stocked(client)
    ann = client.as_("ann")
    _, order = bought(ann)
    _, other = bought(ann)

    assert erase(ann, order).json["email"] is None

    stored = stored_order(runtime, order)
    assert (stored["user"], stored["address"]) == (None, None)
    assert stored_order(runtime, other)["user"] == "ann"


def test_a_user_erases_themselves_from_an_order_whose_address_is_forgotten(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client)
    ann = client.as_("ann")
    _, order = bought(ann)
    clock.advance(days=runtime.settings.buyer_days)
    assert forget_buyers(runtime) == 1
    assert stored_order(runtime, order)["user"] == "ann"

    assert erase(client.as_("ann"), order).status == 200

    assert stored_order(runtime, order)["user"] is None


@pytest.mark.parametrize("state", ["done", "void"])
def test_a_claim_of_the_cart_brings_no_erased_buyer_back(
    client: Client, runtime: Runtime, state: str
) -> None:
    """A page claims the cart of a reader who signs in; a repeated checkout follows its cart."""
    stocked(client)
    ann = client.as_("ann")
    if state == "done":
        cart, order = bought(ann)
    else:
        cart = cart_of(client, MOBY_HARD=1)
        order = ordered(client, cart, agreement(email="late@example.org"))
        client.post(f"/orders/{order}/cancel?cart={cart}")
    assert stored_order(runtime, order)["state"] == state
    email = stored_order(runtime, order)["email"] or ""
    assert erase(ann if state == "done" else client, order, cart, email).status == 200
    stored = runtime.database["shop.cart"].find_one({"_id": cart})
    assert stored is not None
    assert stored["user"] is None

    claimed = ann.post(f"/carts/{cart}/claim")
    # The cart of a void order is open again; that of a paid one is over with it.
    assert claimed.status == (200 if state == "void" else 409)
    follow_claim(runtime, order, cart)

    assert stored_order(runtime, order)["user"] is None
    assert ann.get("/users/me/orders").json["orders"] == []


def test_no_claim_brings_a_person_back_to_the_orders_of_before_their_erasure(
    client: Client, runtime: Runtime
) -> None:
    stocked(client)
    cart, order = bought(client.as_("ann"))
    personal_data.erase(runtime, "ann")

    assert client.as_("bob").post(f"/carts/{cart}/claim").status == 200

    assert stored_order(runtime, order)["user"] is None


def test_an_erasure_reaches_the_orders_of_a_cart_whose_claim_ended_half_way(
    client: Client, runtime: Runtime
) -> None:
    stocked(client)
    cart, order = bought(client)
    carts.claim(runtime, cart, "ann")

    personal_data.erase(runtime, "ann")

    stored = stored_order(runtime, order)
    assert (stored["email"], stored["address"], stored["erased"]) == (None, None, True)
    assert runtime.database["shop.cart"].find_one({"_id": cart}, {"user": 1}) == {
        "_id": cart,
        "user": None,
    }


def test_nobody_else_erases_a_buyer(client: Client, runtime: Runtime) -> None:
    paula = stocked(client)
    cart, order = bought(client)
    before = stored_order(runtime, order)

    for refused in (
        erase(client, order),
        erase(client, order, "x" * 22),
        erase(client.as_("bob"), order),
        erase(client.as_("pat", roles=["publisher"], sites=["beta"]), order),
    ):
        assert (refused.status, refused.code) == (404, "unknown_order")
    by_cart = erase(client, order, cart, "bob@example.org")
    for refused in (by_cart, erase(paula, order, None, "bob@example.org")):
        assert (refused.status, refused.code) == (422, "invalid_request")
        assert refused.json["errors"][0]["code"] == "other_email"
    assert stored_order(runtime, order) == before


def test_an_order_that_is_not_over_keeps_its_buyer(client: Client, runtime: Runtime) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart, agreement(email="slow@example.org"))

    refused = erase(client, order, cart, "slow@example.org")

    assert (refused.status, refused.code) == (409, "order_unfinished")
    assert stored_order(runtime, order)["email"] == "slow@example.org"
    for _ in range(3):
        pay(client, cart, order)
    assert erase(client, order, cart, "slow@example.org").status == 200


def test_a_checkout_that_has_read_the_buyers_cart_leaves_nothing_of_them_after_their_erasure(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    ann = client.as_("ann")
    freeze = carts.freeze

    def freeze_after_the_erasure(*given: Any) -> bool:
        monkeypatch.setattr(carts, "freeze", freeze)
        jobs.erase(runtime, PEOPLE, "ann")
        clock.advance(seconds=1)
        return freeze(*given)

    monkeypatch.setattr(carts, "freeze", freeze_after_the_erasure)
    cart = cart_of(ann, MOBY_HARD=1)
    check_out(ann, cart, agreement(email=EMAIL))

    assert ORDERS.of(runtime.database).count_documents({"user": "ann"}) == 0
