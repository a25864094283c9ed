"""Payments by Stripe: answers that are lost, events twice, late, and of others."""

import random

import pytest

from chalicelib.errors import Misconfigured, Unavailable
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.orders import sweep
from chalicelib.shop.payments.port import Charge, Status
from chalicelib.shop.payments.stripe import StripeProvider, units_of
from tests.shop.support.buying import (
    OTHER,
    SKU,
    Shelf,
    agreement,
    cart_of,
    check_out,
    fill,
    ordered,
    pay,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import publisher
from tests.shop.support.stripe_stand_in import KEY, SECRETS, Stripe, signature
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

pytestmark = pytest.mark.usefixtures("workers")
CHARGE = Charge("aaneGAECAwQFBgcI", 18_990_000, "EUR", "ann@example.org")


@pytest.fixture
def settings(settings: Settings, stripe: Stripe) -> Settings:
    return stripe.settings(settings)


def shop(client: Client) -> str:
    """Open a shop that takes money by Stripe; return a cart with one piece."""
    stocked(client, 5, payments="stripe")
    return cart_of(client, MOBY_HARD=1)


def send(client: Client, body: bytes, header: str) -> Reply:
    headers = {"Content-Type": "application/json", "Stripe-Signature": header}
    return client.request("POST", "/payments/stripe/webhook", body=body, headers=headers)


def test_a_payment_is_begun_confirmed_and_found_by_its_event(
    client: Client, runtime: Runtime, stripe: Stripe, workers: Workers, clock: Clock
) -> None:
    cart = shop(client)
    made = check_out(client, cart).json
    order = made["order"]["id"]
    assert made["payment"]["client_secret"] == "pi_1_secret"
    (intent,) = stripe.intents.values()
    assert (intent["amount"], intent["currency"]) == ("1899", "eur")
    assert intent["metadata[order]"] == order
    assert cart not in str(stripe.intents)
    workers.drain()
    assert stored_order(runtime, order)["state"] == "paying"
    body, at = stripe.event("payment_intent.succeeded", order), int(clock().timestamp())
    stripe.pay("pi_1")

    for secret in SECRETS:
        assert send(client, body, signature(body, at, secret)).status == 204
    workers.drain()

    assert stored_order(runtime, order)["state"] == "done"
    assert shelf_of(runtime) == Shelf(4, 4, 0)


def test_what_an_event_says_is_not_believed(
    client: Client, runtime: Runtime, stripe: Stripe, workers: Workers, clock: Clock
) -> None:
    cart = shop(client)
    order = ordered(client, cart)
    body = stripe.event("payment_intent.succeeded", order)

    assert send(client, body, signature(body, int(clock().timestamp()))).status == 204
    workers.drain()

    assert stored_order(runtime, order)["state"] == "paying"


def test_events_twice_and_in_any_order_come_to_one_sale(
    client: Client, runtime: Runtime, stripe: Stripe, workers: Workers, clock: Clock
) -> None:
    cart = shop(client)
    order = ordered(client, cart)
    stripe.pay("pi_1")
    kinds = ["payment_intent.created", "payment_intent.payment_failed", "payment_intent.succeeded"]
    events = [stripe.event(kind, order) for kind in kinds * 2]
    random.Random(3).shuffle(events)

    for body in events:
        assert send(client, body, signature(body, int(clock().timestamp()))).status == 204
        workers.drain()

    assert stored_order(runtime, order)["state"] == "done"
    assert shelf_of(runtime) == Shelf(4, 4, 0)


def test_an_event_is_signed_by_one_of_the_secrets_and_is_new(
    client: Client, stripe: Stripe, clock: Clock
) -> None:
    cart = shop(client)
    body, at = stripe.event("payment_intent.succeeded", ordered(client, cart)), clock().timestamp()
    now = int(at)
    bad = [
        "",
        "t=,v1=",
        f"t={now}",
        f"t=x{now},v1=00",
        signature(body, now - 301),
        signature(body, now + 301),
        signature(body, now, "whsec_of_a_foreign_account"),
        signature(body + b" ", now),
        signature(body, now).replace("v1=", "v0="),
    ]

    for header in bad:
        refused = send(client, body, header)
        assert (refused.status, refused.code) == (400, "invalid_webhook"), header
    assert send(client, body, signature(body, now - 300)).status == 204


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{}", b'{"data": {"object": {"metadata": {"order": {"$ne": ""}}}}}'],
)
def test_an_event_of_something_else_is_passed_over(
    client: Client, stripe: Stripe, workers: Workers, clock: Clock, body: bytes
) -> None:
    shop(client)
    foreign = stripe.event("payment_intent.succeeded", "aaneGAECAwQFBgcI")

    for each in (body, foreign):
        assert send(client, each, signature(each, int(clock().timestamp()))).status == 204

    assert workers.drain() == 0


def test_a_lost_answer_leaves_one_payment(client: Client, runtime: Runtime, stripe: Stripe) -> None:
    cart = shop(client)
    stripe.losing.append("/v1/payment_intents")
    assert check_out(client, cart).status == 503

    order = ordered(client, cart)
    stripe.pay("pi_1")

    assert len(stripe.intents) == 1
    assert pay(client, cart, order)["state"] == "done"
    assert shelf_of(runtime) == Shelf(4, 4, 0)


def test_an_event_before_the_beginning_has_answered_finds_the_payment(
    client: Client, runtime: Runtime, stripe: Stripe, workers: Workers
) -> None:
    cart = shop(client)
    stripe.losing.append("/v1/payment_intents")
    assert check_out(client, cart).status == 503
    stripe.pay("pi_1")

    workers.drain()

    assert [each["status"] for each in stripe.intents.values()] == ["succeeded"]
    assert client.get(f"/carts/{cart}").json["state"] == "ordered"
    assert shelf_of(runtime) == Shelf(4, 4, 0)


def test_a_payment_that_was_not_made_in_time_is_cancelled_and_one_that_was_is_kept(
    client: Client, runtime: Runtime, stripe: Stripe, clock: Clock
) -> None:
    cart = shop(client)
    left, paid = ordered(client, cart), ordered(client, cart_of(client, MOBY_HARD=1))
    stripe.losing.append("/v1/payment_intents/pi_1/cancel")
    clock.advance(minutes=30)
    status = StripeProvider.status

    def paid_meanwhile(self: StripeProvider, order: str, intent: str) -> str:
        found = status(self, order, intent)
        if intent == "pi_2" and found == "pending":
            stripe.pay("pi_2")
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StripeProvider, "status", paid_meanwhile)
        for _ in range(2):
            sweep.sweep(runtime)
            clock.advance(minutes=2)

    assert stored_order(runtime, left)["reason"] == "cancelled"
    assert stored_order(runtime, paid)["state"] == "done"
    assert shelf_of(runtime) == Shelf(4, 4, 0)


def test_a_payment_that_could_not_be_cancelled_is_cancelled_once_it_can_be(
    client: Client, runtime: Runtime, stripe: Stripe, clock: Clock
) -> None:
    order = ordered(client, shop(client))
    stripe.intents["pi_1"]["status"] = "processing"
    clock.advance(minutes=31)
    sweep.sweep(runtime)
    assert stored_order(runtime, order)["state"] == "paying"
    # The bank has refused it, and the buyer does not try another card.
    stripe.intents["pi_1"]["status"] = "requires_payment_method"
    clock.advance(minutes=2)

    sweep.sweep(runtime)

    assert stored_order(runtime, order)["state"] == "void"
    assert shelf_of(runtime).held == 0


def test_a_payment_that_a_bank_decides_in_days_is_looked_at_each_hour_at_most(
    client: Client, runtime: Runtime, stripe: Stripe, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look is three calls to Stripe, with which all shops share an account."""
    order = ordered(client, shop(client))
    stripe.intents["pi_1"]["status"] = "processing"
    clock.advance(minutes=31)
    cancel, cancelled = StripeProvider.cancel, []

    def count_cancelling(self: StripeProvider, named: str, intent: str) -> Status:
        cancelled.append(clock())
        return cancel(self, named, intent)

    monkeypatch.setattr(StripeProvider, "cancel", count_cancelling)
    for _ in range(24 * 30):
        sweep.sweep(runtime)
        clock.advance(minutes=2)

    assert 24 <= len(cancelled) <= 24 + 8
    assert stored_order(runtime, order)["state"] == "paying"
    stripe.intents["pi_1"]["status"] = "requires_payment_method"
    clock.advance(hours=1)
    sweep.sweep(runtime)
    assert stored_order(runtime, order)["state"] == "void"


def test_a_payment_after_its_order_was_let_go_is_given_back_once(
    client: Client, runtime: Runtime, stripe: Stripe, workers: Workers, clock: Clock
) -> None:
    cart = shop(client)
    order = ordered(client, cart)
    client.post(f"/orders/{order}/cancel?cart={cart}")
    stripe.pay("pi_1")
    stripe.losing.append("/v1/refunds")
    body = stripe.event("payment_intent.succeeded", order)

    for _ in range(3):
        send(client, body, signature(body, int(clock().timestamp())))
        workers.drain()
        clock.advance(minutes=2)
        sweep.sweep(runtime)

    assert [each["amount"] for each in stripe.refunds] == ["1899"]
    assert stored_order(runtime, order)["state"] == "void"


def test_a_refund_whose_answer_was_lost_is_made_once(client: Client, stripe: Stripe) -> None:
    cart = shop(client)
    order = ordered(client, cart)
    stripe.pay("pi_1")
    pay(client, cart, order)
    paula = client.as_("paula", roles=["publisher"], sites=["harbour"])
    stripe.losing.append("/v1/refunds")
    assert paula.post(f"/orders/{order}/refund", restock=True, key="r").status == 503

    assert paula.post(f"/orders/{order}/refund", restock=True, key="r").status == 200

    assert len(stripe.refunds) == 1


@pytest.mark.bounds(shop={"on_hand_units": 5})
def test_money_is_given_back_once_however_long_its_units_cannot_be_put_back(
    client: Client, stripe: Stripe, clock: Clock, runtime: Runtime
) -> None:
    paula = stocked(client, 5, payments="stripe")
    cart = cart_of(client, MOBY_HARD=2)
    order = ordered(client, cart, agreement(2))
    stripe.pay("pi_1")
    pay(client, cart, order)
    fill(paula, 2, key="full")
    refund = {"lines": {SKU: 1}, "restock": True, "key": "r"}
    assert paula.post(f"/orders/{order}/refund", **refund).status == 422
    # Stripe forgets a key after a day.
    stripe.answers.clear()
    clock.advance(hours=25)
    sweep.sweep(runtime)
    fill(publisher(client), -2, key="room")
    clock.advance(minutes=2)

    sweep.sweep(runtime)

    assert [each["amount"] for each in stripe.refunds] == ["1899"]
    assert shelf_of(runtime) == Shelf(4, 4, 0)


def test_a_payment_that_stripe_does_not_know_keeps_its_units_and_stops_nothing_else(
    client: Client, runtime: Runtime, stripe: Stripe, clock: Clock
) -> None:
    cart = shop(client)
    order = ordered(client, cart)
    cart_of(client, PEQUOD=1)
    # As with the secret key of another account.
    stripe.intents.clear()
    clock.advance(minutes=40)

    sweep.sweep(runtime)

    assert pay(client, cart, order)["state"] == "paying"
    assert (shelf_of(runtime).held, shelf_of(runtime, OTHER).held) == (1, 0)


@pytest.mark.parametrize(
    ("status", "raised"),
    [(500, Unavailable), (429, Unavailable), (409, Unavailable), (401, Misconfigured)],
)
def test_a_failure_of_stripe_is_told_by_its_kind(
    stripe: Stripe, status: int, raised: type[Exception]
) -> None:
    stripe.failing = status

    with pytest.raises(raised):
        StripeProvider(stripe.url, KEY).start(CHARGE)


def test_nobody_there_is_an_outage() -> None:
    with pytest.raises(Unavailable):
        StripeProvider("http://127.0.0.1:9", KEY).start(CHARGE)


def test_without_a_key_nothing_is_sold(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    cart = shop(client)
    monkeypatch.setitem(vars(runtime.settings), "stripe_key", None)

    assert check_out(client, cart).code == "payments_not_set_up"


def test_an_order_waits_while_its_key_is_missing(
    client: Client, runtime: Runtime, stripe: Stripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    cart = shop(client)
    order = ordered(client, cart)
    stripe.pay("pi_1")
    with monkeypatch.context() as patched:
        patched.setitem(vars(runtime.settings), "stripe_key", None)
        for act in ("payment", "cancel"):
            call = client.post(f"/orders/{order}/{act}?cart={cart}")
            assert (call.status, call.code) == (409, "payments_not_set_up")
        assert stored_order(runtime, order)["state"] == "paying"

    assert pay(client, cart, order)["state"] == "done"
    monkeypatch.setitem(vars(runtime.settings), "stripe_key", None)
    refused = publisher(client).post(f"/orders/{order}/refund", key="r1", restock=True)
    assert (refused.status, refused.code) == (409, "payments_not_set_up")


def test_an_amount_is_counted_as_stripe_does() -> None:
    assert units_of(18_990_000, "EUR") == 1_899
    assert units_of(18_000_000, "JPY") == 18
    assert units_of(18_000_000, "ISK") == 1_800
    assert units_of(18_990_000, "KWD") == 18_990
    assert units_of(18_000_000, "MGA") == 18
