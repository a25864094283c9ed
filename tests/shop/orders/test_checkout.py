"""Checking out and paying: the way of an order, its prices, and what is refused."""

from typing import Any

import pytest
from chalice.app import Chalice
from pydantic import SecretStr

from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from chalicelib.shop import pricing
from chalicelib.shop.carts import carts
from chalicelib.shop.carts.shapes import CARTS
from chalicelib.shop.orders import personal_data, sweep
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.shop.payments import fake, records
from chalicelib.shop.payments.fake import FAKE_PAYMENTS, FakeProvider
from chalicelib.shop.payments.records import PAYMENTS
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import STOCKS, StockClaim
from tests.shop.support.buying import (
    ADDRESS,
    OTHER,
    SKU,
    Shelf,
    agreement,
    bought,
    cart_of,
    check_out,
    ordered,
    pay,
    put_line,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import PRICE, SITE, book, open_shop, put
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

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


def test_the_pricing_of_a_deployment_adds_to_the_lines(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=2)

    def shipping(lines: Any, place: Any) -> list[pricing.Adjustment]:
        cost = 10_000 * sum(line["qty"] for line in lines)
        label = f"To {place[0] if place else 'nowhere'}"
        return [{"kind": "shipping", "label": label, "amount_micros": cost}]

    monkeypatch.setattr(pricing, "_registered", [pricing.no_adjustments])
    pricing.register(shipping)

    made = check_out(client, cart, agreement(total_micros=2 * PRICE + 20_000))

    assert made.json["order"]["adjustments"] == [
        {"kind": "shipping", "label": "To NL", "amount_micros": 20_000}
    ]
    assert pay(client, cart, made.json["order"]["id"])["state"] == "done"


def test_too_many_adjustments_are_a_fault_of_the_deployment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = [pricing.Adjustment(kind="other", label="x", amount_micros=1)] * 21
    monkeypatch.setattr(pricing, "_registered", [lambda *_: many])

    with pytest.raises(ValueError, match="at most 20"):
        pricing.adjustments([], None)


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


def test_an_order_waits_while_its_provider_is_not_set_up(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client, 5)
    _, sold = bought(client)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart)
    with monkeypatch.context() as patched:
        patched.setitem(vars(runtime.settings), "payments", "stripe")
        for call in (
            client.post(f"/orders/{order}/payment?cart={cart}"),
            client.post(f"/orders/{order}/cancel?cart={cart}"),
            paula.post(f"/orders/{sold}/refund", key="r1", restock=True),
        ):
            assert (call.status, call.code) == (409, "payments_not_set_up")
        assert stored_order(runtime, order)["state"] == "paying"

    assert pay(client, cart, order)["state"] == "done"


def test_who_may_see_an_order(client: Client) -> None:
    paula = stocked(client)
    ann = client.as_("ann")
    cart = cart_of(ann, MOBY_HARD=1)
    order = ordered(ann, cart)

    for caller, query in ((client, f"?cart={cart}"), (ann, ""), (paula, "")):
        assert caller.get(f"/orders/{order}{query}").status == 200
    for caller, query in ((client, ""), (client.as_("bob"), ""), (client, f"?cart={'x' * 22}")):
        for method, end in (("GET", ""), ("POST", "/payment"), ("POST", "/cancel")):
            hidden = caller.request(method, f"/orders/{order}{end}{query}")
            assert (hidden.status, hidden.code) == (404, "unknown_order")
    assert client.get(f"/orders/{'x' * 16}?cart={cart}").code == "unknown_order"


def test_a_cart_of_another_site_opens_no_order_and_holds_nothing_here(
    client: Client, runtime: Runtime
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart)
    open_shop(client, "beta")
    other = str(client.post("/carts", site="beta").json["id"])

    assert put_line(client, other, SKU, 1).code == "unknown_sku"
    for call in ("", "/payment", "/cancel"):
        method = "POST" if call else "GET"
        hidden = client.request(method, f"/orders/{order}{call}?cart={other}")
        assert (hidden.status, hidden.code) == (404, "unknown_order")
    assert check_out(client, other, agreement(1), "k2").code == "empty_cart"
    assert shelf_of(runtime).held == 1


def test_an_order_is_theirs_who_has_claimed_its_cart_and_is_erased_with_them(
    client: Client, runtime: Runtime
) -> None:
    stocked(client, 5)
    cart = cart_of(client, MOBY_HARD=1)
    declined = ordered(client, cart, agreement(email="declines@example.org"))
    pay(client, cart, declined)
    paid = ordered(client, cart, key="k2")
    ann = client.as_("ann")

    assert ann.post(f"/carts/{cart}/claim").status == 200

    mine = ann.get("/users/me/orders").json["orders"]
    assert {each["id"] for each in mine} == {declined, paid}
    personal_data.erase(runtime, "ann")
    for order in (declined, paid):
        stored = stored_order(runtime, order)
        assert (stored["user"], stored["email"], stored["address"]) == (None, None, None)


def test_orders_are_listed_by_shop_and_by_buyer(client: Client, clock: Clock) -> None:
    paula = stocked(client, 50)
    ann = client.as_("ann")
    orders = []
    for number in range(5):
        clock.advance(seconds=1)
        buyer = ann if number % 2 else client
        orders.append(bought(buyer)[1])
    orders.reverse()

    seen, cursor = [], ""
    while True:
        page = paula.get(f"/shops/{SITE}/orders?limit=2&state=done{cursor}").json
        seen += [each["id"] for each in page["orders"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"

    assert seen == orders
    assert paula.get(f"/shops/{SITE}/orders?state=void").json["orders"] == []
    mine = ann.get("/users/me/orders").json["orders"]
    assert [each["id"] for each in mine] == [orders[1], orders[3]]
    assert paula.get(f"/shops/{SITE}/orders?state=void&cursor={cursor[8:]}").status == 400


def test_an_order_is_sent_once_it_is_paid(client: Client, clock: Clock) -> None:
    paula = stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart)
    assert paula.post(f"/orders/{order}/sent").code == "order_not_paid"
    pay(client, cart, order)

    first = paula.post(f"/orders/{order}/sent").json["sent"]
    clock.advance(hours=1)

    assert paula.post(f"/orders/{order}/sent").json["sent"] == first
    other = client.as_("pat", roles=["publisher"], sites=["beta"])
    assert other.post(f"/orders/{order}/sent").code == "unknown_order"


@pytest.mark.parametrize(
    "change",
    [
        {"total_micros": "18990000"},
        {"total_micros": 0},
        {"total_micros": 1.5},
        {"email": "nobody"},
        {"email": "a@b@c"},
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


def test_an_address_asks_the_fake_for_what_may_happen() -> None:
    assert fake.script_of("slow@example.org") == "slow"
    assert fake.script_of("slowly@example.org") == "pays"


def test_the_books_of_a_stock_say_by_how_much_it_is_wrong(
    client: Client, runtime: Runtime, app: Chalice
) -> None:
    stocked(client, 5)
    bought(client, MOBY_HARD=2)
    cart_of(client, MOBY_HARD=1)
    verify = app.handler_map["verify_stock"]
    event = {"site": SITE, "sku": SKU}
    assert verify(event, None) == {"held": 0, "moved": 0}

    STOCKS.of(runtime.database).update_one({"_id": f"{SITE}:{SKU}"}, {"$inc": {"on_hand": 1}})

    assert verify(event, None) == {"held": -1, "moved": -1}
