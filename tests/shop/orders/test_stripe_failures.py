"""What fails at Stripe itself: under a key, after it was acted upon, and days after it was done."""

from collections.abc import Callable
from typing import Any, Literal

import pytest

from chalicelib.errors import Unavailable
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.orders import sweep
from chalicelib.shop.payments.stripe import StripeProvider
from tests.shop.support.buying import (
    SKU,
    Shelf,
    agreement,
    cart_of,
    check_out,
    ordered,
    pay,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import PRICE, SITE, book, open_shop, put
from tests.shop.support.stripe_stand_in import Stripe, signature
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

pytestmark = pytest.mark.usefixtures("workers")
DINARS = 1_235_000


@pytest.fixture
def settings(settings: Settings, stripe: Stripe) -> Settings:
    return stripe.settings(settings)


@pytest.fixture
def paula(client: Client) -> Client:
    return stocked(client, 5, payments="stripe")


@pytest.fixture
def order(paula: Client, stripe: Stripe) -> str:
    """An order of two pieces that is paid."""
    cart = cart_of(paula, MOBY_HARD=2)
    order = ordered(paula, cart, agreement(2))
    stripe.pay("pi_1")
    assert pay(paula, cart, order)["state"] == "done"
    return order


def refund(paula: Client, order: str, key: str = "r1", **body: Any) -> Reply:
    return paula.post(f"/orders/{order}/refund", **{"restock": True, "key": key, **body})


def listed(paula: Client) -> Any:
    """Return the shop's newest order, as its staff sees it."""
    return paula.get(f"/shops/{SITE}/orders").json["orders"][0]


def send_failed_refund(client: Client, stripe: Stripe, clock: Clock) -> Reply:
    """Have the bank refuse the last refund, and Stripe send the event of it."""
    stripe.refunds[-1]["status"] = "failed"
    body = stripe.event("refund.failed", stripe.refunds[-1]["metadata[order]"])
    signed = signature(body, int(clock().timestamp()))
    headers = {"Content-Type": "application/json", "Stripe-Signature": signed}
    return client.request("POST", "/payments/stripe/webhook", body=body, headers=headers)


@pytest.fixture
def come_back(stripe: Stripe, client: Client, workers: Workers, clock: Clock) -> Callable[[], None]:
    """Have the last refund that Stripe took on be refused by the bank, and told by an event."""

    def fail() -> None:
        assert send_failed_refund(client, stripe, clock).status == 204
        workers.drain()

    return fail


@pytest.mark.usefixtures("paula")
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_payment_whose_beginning_has_failed_within_stripe_begins_under_another_key(
    client: Client, runtime: Runtime, stripe: Stripe, when: Literal["before", "after"]
) -> None:
    cart = cart_of(client, MOBY_HARD=1)
    stripe.breaking.append(("/v1/payment_intents", when))
    assert check_out(client, cart).status == 503

    made = check_out(client, cart)

    assert made.status == 201
    (intent,) = [
        each for each in stripe.intents if made.json["payment"]["client_secret"][:4] == each
    ]
    stripe.pay(intent)
    assert pay(client, cart, made.json["order"]["id"])["state"] == "done"
    assert shelf_of(runtime) == Shelf(4, 4, 0)


@pytest.mark.usefixtures("paula")
def test_buyers_who_begin_at_once_after_a_failure_have_one_payment(
    client: Client, stripe: Stripe
) -> None:
    cart = cart_of(client, MOBY_HARD=1)
    stripe.breaking.append(("/v1/payment_intents", "before"))
    assert check_out(client, cart).status == 503

    secrets: set[str] = set()
    in_threads(lambda _: secrets.add(check_out(client, cart).json["payment"]["client_secret"]), 3)

    assert len(secrets) == len(stripe.intents) == 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_refund_that_has_failed_within_stripe_is_made_once(
    paula: Client,
    runtime: Runtime,
    order: str,
    stripe: Stripe,
    when: Literal["before", "after"],
) -> None:
    stripe.breaking.append(("/v1/refunds", when))
    assert refund(paula, order, lines={SKU: 1}).status == 503

    assert refund(paula, order, lines={SKU: 1}).json["refunded_micros"] == PRICE

    assert [each["amount"] for each in stripe.refunds] == ["1899"]
    assert shelf_of(runtime) == Shelf(4, 4, 0)


def test_a_refund_whose_key_stripe_has_forgotten_is_made_once(
    paula: Client, order: str, stripe: Stripe, clock: Clock, runtime: Runtime
) -> None:
    stripe.losing.append("/v1/refunds")
    assert refund(paula, order, lines={SKU: 1}).status == 503
    stripe.answers.clear()
    clock.advance(hours=25)

    sweep.sweep(runtime)

    assert [each["amount"] for each in stripe.refunds] == ["1899"]
    assert listed(paula)["refunds"][0]["state"] == "done"


def test_a_refund_that_comes_back_is_seen_by_staff_and_rings(
    paula: Client,
    order: str,
    come_back: Callable[[], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    refund(paula, order, lines={SKU: 1})
    assert listed(paula)["refunds"][0]["state"] == "done"

    for _ in range(2):
        come_back()

    found = listed(paula)
    assert (found["id"], found["refunded_micros"]) == (order, 0)
    assert [(each["key"], each["state"]) for each in found["refunds"]] == [("r1", "failed")]
    assert caplog.text.count("refund failed") == 1


@pytest.mark.usefixtures("order")
def test_an_event_that_sqs_does_not_take_is_left_to_stripe_to_send_again(
    paula: Client, stripe: Stripe, clock: Clock, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else looks at an order that is done."""
    refund(paula, str(listed(paula)["id"]), lines={SKU: 1})
    workers.drain()

    with monkeypatch.context() as silence:
        silence.setattr(Queues, "send", lambda *_: False)
        refused = send_failed_refund(paula, stripe, clock)
    assert (refused.status, refused.code) == (503, "unavailable")
    assert listed(paula)["refunds"][0]["state"] == "done"

    assert send_failed_refund(paula, stripe, clock).status == 204
    workers.drain()
    assert listed(paula)["refunds"][0]["state"] == "failed"


def test_a_refund_that_came_back_is_made_again_by_the_same_call(
    paula: Client,
    runtime: Runtime,
    order: str,
    stripe: Stripe,
    come_back: Callable[[], None],
) -> None:
    refund(paula, order, lines={SKU: 1})
    come_back()

    replies: list[Reply] = []
    in_threads(lambda _: replies.append(refund(paula, order, lines={SKU: 1})), 3)

    assert {each.json["refunded_micros"] for each in replies} == {PRICE}
    assert [each["status"] for each in stripe.refunds] == ["failed", "succeeded"]
    assert shelf_of(runtime) == Shelf(4, 4, 0)
    come_back()
    assert refund(paula, order, lines={SKU: 1}).status == 200
    assert len(stripe.refunds) == 3


def test_a_refund_that_came_back_is_not_made_again_once_another_gave_the_money_back(
    paula: Client, order: str, stripe: Stripe, come_back: Callable[[], None]
) -> None:
    refund(paula, order, lines={SKU: 1})
    come_back()
    assert refund(paula, order, "all").json["refunded_micros"] == 2 * PRICE

    assert refund(paula, order, lines={SKU: 1}).code == "refund_too_large"

    assert [each["amount"] for each in stripe.refunds] == ["1899", "3798"]


def test_a_refund_that_stripe_gives_up_at_once_is_refused(
    paula: Client, order: str, stripe: Stripe
) -> None:
    stripe.losing.append("/v1/refunds")
    assert refund(paula, order, lines={SKU: 1}).status == 503
    stripe.refunds[-1]["status"] = "failed"

    assert refund(paula, order, lines={SKU: 1}).code == "refund_refused"

    assert listed(paula)["refunded_micros"] == 0


def test_a_late_payment_that_came_back_is_given_back_again(
    client: Client, runtime: Runtime, stripe: Stripe, clock: Clock, come_back: Callable[[], None]
) -> None:
    stocked(client, 1, payments="stripe")
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart)
    client.post(f"/orders/{order}/cancel?cart={cart}")
    stripe.pay("pi_1")
    clock.advance(hours=1)
    sweep.sweep(runtime)
    clock.advance(hours=2)

    come_back()

    assert [each["status"] for each in stripe.refunds] == ["failed", "succeeded"]
    assert stored_order(runtime, order)["state"] == "void"


def dinars(client: Client, **settings: Any) -> Client:
    """Open a shop in a currency of three decimals."""
    return open_shop(client, currency="KWD", **settings)


def priced(micros: int) -> dict[str, Any]:
    return book(SKU, skus=[{"sku": SKU, "price_micros": micros}])


@pytest.mark.parametrize("answer", [b"502 Bad gateway", b'"Bad gateway"', b"null", b"[]", b"[{}]"])
@pytest.mark.parametrize("status", [200, 429, 503])
def test_an_answer_that_is_no_object_is_no_answer_of_stripe(
    monkeypatch: pytest.MonkeyPatch, status: int, answer: bytes
) -> None:
    provider = StripeProvider("http://127.0.0.1:9", "key")
    monkeypatch.setattr(provider, "_send", lambda *_: (status, answer, False))

    with pytest.raises(Unavailable):
        provider.status("order", "pi_1")


def test_a_price_that_stripe_does_not_take_is_refused(client: Client) -> None:
    paula = dinars(client, payments="stripe")

    refused = put(paula, "moby-dick", priced(DINARS))

    assert (refused.status, refused.code) == (422, "invalid_request")
    (fault,) = refused.json["errors"]
    assert (fault["field"], fault["code"]) == ("skus.0.price_micros", "fraction")
    assert put(paula, "moby-dick", priced(DINARS + 5_000)).status == 201


def test_a_total_that_stripe_does_not_take_is_refused_before_anything_is_held(
    client: Client, runtime: Runtime, stripe: Stripe
) -> None:
    """Its prices are of a time when somebody else took the shop's money."""
    paula = dinars(client)
    assert put(paula, "moby-dick", priced(DINARS)).status == 201
    paula.post(f"/shops/{SITE}/stock/{SKU}", change=5, key="first")
    dinars(client, payments="stripe")
    cart = cart_of(client, MOBY_HARD=1)

    refused = check_out(client, cart, agreement(total_micros=DINARS))

    assert (refused.status, refused.code) == (409, "amount_not_taken")
    assert refused.json["facts"] == {"total_micros": DINARS, "step_micros": 10_000}
    assert client.get(f"/carts/{cart}").json["state"] == "open"
    assert not stripe.intents
    client.put(f"/carts/{cart}/lines/{SKU}", qty=2)
    assert check_out(client, cart, agreement(total_micros=2 * DINARS)).status == 201
    assert stripe.intents["pi_1"]["amount"] == "2470"
    assert shelf_of(runtime) == Shelf(5, 3, 2)
