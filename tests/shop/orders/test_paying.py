"""Payments of orders: slow, lost, late, undone, and providers that a deployment lacks."""

from typing import Any

import pytest
from chalice.app import Chalice
from pydantic import SecretStr

from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from chalicelib.shop.carts.shapes import CARTS
from chalicelib.shop.orders import sweep
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.shop.payments import fake, records
from chalicelib.shop.payments.fake import FAKE_PAYMENTS, FakeProvider
from chalicelib.shop.payments.records import PAYMENTS
from chalicelib.shop.stock.shapes import STOCKS
from tests.shop.support.buying import (
    SKU,
    Shelf,
    agreement,
    bought,
    cart_of,
    check_out,
    ordered,
    pay,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import PRICE, SITE
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

pytestmark = pytest.mark.usefixtures("workers")


def test_many_look_at_a_payment_at_once_and_it_is_sold_once(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 3)
    cart = cart_of(client, MOBY_HARD=2)
    order = ordered(client, cart, agreement(2))

    in_threads(lambda _: client.post(f"/orders/{order}/payment?cart={cart}"), 4)

    assert stored_order(runtime, order)["state"] == "done"
    assert shelf_of(runtime) == Shelf(1, 1, 0)


def test_a_slow_payer_keeps_everything_until_the_provider_has_decided(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=2)
    order = ordered(client, cart, agreement(2, "late@example.org"))
    for _ in range(29):
        clock.advance(minutes=1)
        sweep.sweep(runtime)
        assert stored_order(runtime, order)["state"] == "paying"
        assert shelf_of(runtime).held == 2

    clock.advance(minutes=1)
    sweep.sweep(runtime)

    assert stored_order(runtime, order)["reason"] == "cancelled"
    assert shelf_of(runtime) == Shelf(5, 5, 0)


def test_an_order_that_is_paid_within_its_last_moment_is_kept(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=2)
    order = ordered(client, cart, agreement(2, "slow@example.org"))
    FAKE_PAYMENTS.of(runtime.database).update_one({"_id": order}, {"$set": {"status": "succeeded"}})
    clock.advance(minutes=30)

    sweep.sweep(runtime)

    assert stored_order(runtime, order)["state"] == "done"
    assert shelf_of(runtime) == Shelf(3, 3, 0)


def test_an_outage_of_the_provider_changes_nothing(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=2)
    order = ordered(client, cart, agreement(2))

    def gone(*_: Any) -> Any:
        raise Unavailable

    with monkeypatch.context() as patch:
        patch.setattr(FakeProvider, "status", gone)
        clock.advance(hours=2)
        sweep.sweep(runtime)
        assert client.post(f"/orders/{order}/payment?cart={cart}").status == 503
        assert stored_order(runtime, order)["state"] == "paying"
        assert shelf_of(runtime).held == 2
    clock.advance(minutes=2)
    sweep.sweep(runtime)

    assert stored_order(runtime, order)["state"] == "done"


def test_a_beginning_whose_answer_was_lost_is_begun_again_as_the_same_payment(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=1)
    lost = check_out(client, cart, agreement(email="lost-answer@example.org"))
    assert (lost.status, lost.code) == (503, "unavailable")

    order = ordered(client, cart, agreement(email="lost-answer@example.org"))

    assert pay(client, cart, order)["state"] == "done"
    assert FAKE_PAYMENTS.of(runtime.database).count_documents({}) == 1


def test_a_payment_after_its_order_was_let_go_is_given_back(
    client: Client, runtime: Runtime, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart, agreement(email="late@example.org"))
    cancelled = client.post(f"/orders/{order}/cancel?cart={cart}")
    assert cancelled.json["order"]["state"] == "void"
    clock.advance(minutes=59)
    sweep.sweep(runtime)
    assert "paid after it was let go" not in caplog.text

    for _ in range(3):
        clock.advance(minutes=1)
        sweep.sweep(runtime)

    given = FAKE_PAYMENTS.of(runtime.database).find_one({"_id": order})
    assert given is not None
    assert given["refunds"] == [{"key": "paid-late", "amount_micros": PRICE}]
    payment = records.find(runtime.database, order)
    assert payment is not None
    assert payment["refunded_micros"] == PRICE
    assert caplog.text.count("paid after it was let go") == 1
    assert "due" not in stored_order(runtime, order)


def test_an_order_is_cancelled_while_it_can_be(client: Client, runtime: Runtime) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart, agreement(email="slow@example.org"))

    cancelled = client.post(f"/orders/{order}/cancel?cart={cart}")

    assert cancelled.json["order"]["reason"] == "cancelled"
    assert shelf_of(runtime) == Shelf(5, 5, 0)
    again = client.post(f"/orders/{order}/cancel?cart={cart}")
    assert (again.status, again.code) == (409, "order_decided")


def test_the_courier_goes_on_where_the_client_has_stopped(
    client: Client, runtime: Runtime, workers: Workers
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart)

    workers.drain()

    assert stored_order(runtime, order)["state"] == "done"


@pytest.mark.parametrize(
    ("deployment", "shop"),
    [(None, "fake"), (None, "stripe"), ("stripe", "fake"), ("fake", "stripe")],
)
def test_a_shop_whose_provider_the_deployment_does_not_name_sells_nothing(
    client: Client,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
    deployment: str | None,
    shop: str,
) -> None:
    monkeypatch.setitem(vars(runtime.settings), "stripe_sites", ("*",))
    stocked(client, 5, payments=shop)
    cart = cart_of(client, MOBY_HARD=1)
    before = CARTS.of(runtime.database).find_one({"_id": cart})
    monkeypatch.setitem(vars(runtime.settings), "payments", deployment)
    monkeypatch.setitem(vars(runtime.settings), "stripe_key", SecretStr("sk_live_1"))

    refused = check_out(client, cart)

    assert (refused.status, refused.code) == (409, "payments_not_set_up")
    assert CARTS.of(runtime.database).find_one({"_id": cart}) == before
    for rows in (ORDERS, PAYMENTS, FAKE_PAYMENTS):
        assert rows.of(runtime.database).count_documents({}) == 0
    assert shelf_of(runtime) == Shelf(5, 4, 1)


def test_orders_end_after_the_deployment_has_named_another_provider(
    client: Client,
    runtime: Runtime,
    workers: Workers,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paula = stocked(client, 5)
    _, sold = bought(client)
    cart, other = cart_of(client, MOBY_HARD=1), cart_of(client, MOBY_HARD=1)
    slow = agreement(1, "late@example.org")
    order, late = ordered(client, cart, slow), ordered(client, other, slow)
    for payments in ("stripe", None):
        monkeypatch.setitem(vars(runtime.settings), "payments", payments)
        assert client.post(f"/orders/{order}/payment?cart={cart}").status == 200
    assert client.post(f"/orders/{order}/cancel?cart={cart}").status == 200
    assert stored_order(runtime, order)["state"] == "void"
    assert paula.post(f"/orders/{sold}/refund", key="r1", restock=True).status == 200

    clock.advance(minutes=31)
    sweep.sweep(runtime)
    workers.drain()
    assert stored_order(runtime, late)["state"] == "void"


def test_an_address_asks_the_fake_for_what_may_happen() -> None:
    assert fake.script_of("slow@example.org") == "slow"
    assert fake.script_of("slowly@example.org") == "pays"


def test_the_books_of_a_stock_say_by_how_much_it_is_wrong(
    client: Client, runtime: Runtime, app: Chalice
) -> None:
    stocked(client, 5)
    bought(client, MOBY_HARD=2)
    cart_of(client, MOBY_HARD=1)
    verify = app.handler_map["command"]
    event = {"command": "verify_stock", "site": SITE, "sku": SKU}
    assert verify(event, None) == {"held": 0, "moved": 0}

    STOCKS.of(runtime.database).update_one({"_id": f"{SITE}:{SKU}"}, {"$inc": {"on_hand": 1}})

    assert verify(event, None) == {"held": -1, "moved": -1}
