"""Money that moves at Stripe without Plaza: refunds in its dashboard, and disputes."""

from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.orders import sweep
from chalicelib.shop.payments.stripe import StripeProvider
from tests.shop.support.buying import SKU, Shelf, cart_of, ordered, shelf_of, stored_order
from tests.shop.support.factories import PRICE
from tests.shop.support.stripe_stand_in import Stripe
from tests.shop.support.till import CENT, Till


@pytest.fixture
def settings(settings: Settings, stripe: Stripe) -> Settings:
    return stripe.settings(settings)


def test_a_refund_in_the_dashboard_is_seen_by_its_payment_and_the_rest_can_be_refunded(
    till: Till, runtime: Runtime
) -> None:
    event = till.stripe.refund_by_hand("pi_1", 500)

    for _ in range(2):
        till.send(event)

    assert till.sums() == (500, 500, 0)
    answer = till.refund().json
    assert answer["refunded_micros"] == 2 * PRICE
    assert [each["amount_micros"] for each in answer["refunds"]] == [2 * PRICE - 500 * CENT]
    assert till.given() == 3798
    assert shelf_of(runtime) == Shelf(5, 5, 0)


def test_a_whole_refund_gives_back_the_rest_though_no_event_came(till: Till) -> None:
    till.stripe.refund_by_hand("pi_1", 500)

    answers = [till.refund() for _ in range(2)]

    assert {each.status for each in answers} == {200}
    assert till.sums() == (3798, 500, 0)
    assert till.given() == 3798


def test_a_refund_that_was_refused_is_made_again_by_the_same_call_once_less_is_left(
    till: Till,
) -> None:
    """As of a release that did not look."""
    till.stripe.failing = 402
    assert till.refund().code == "refund_refused"
    till.stripe.failing = None
    till.stripe.refund_by_hand("pi_1", 3000)

    assert till.refund().json["refunded_micros"] == 2 * PRICE

    assert till.given() == 3798


def test_a_refund_in_the_dashboard_that_overtakes_one_of_plaza_leaves_it_the_rest(
    till: Till,
) -> None:
    till.stripe.before_refund.append(lambda: till.stripe.refund_by_hand("pi_1", 1000))

    assert till.refund(lines={SKU: 2}).status == 200

    assert till.sums() == (3798, 1000, 0)
    assert till.given() == 3798


def test_a_late_refusal_leaves_a_second_try_of_the_same_refund_alone(
    till: Till, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two calls of one key, the second is refused, and makes the rest, before the first."""
    till.stripe.refund_by_hand("pi_1", 1000)
    asks, answers = StripeProvider.refund, []

    def lost(self: StripeProvider, *given: Any) -> None:
        till.stripe.losing += ["/v1/refunds"] if given[-1] == "all.1" else []
        asks(self, *given)

    def overtaken(self: StripeProvider, *given: Any) -> None:
        monkeypatch.setattr(StripeProvider, "refund", lost)
        answers.append(till.refund())
        asks(self, *given)

    monkeypatch.setattr(StripeProvider, "refund", overtaken)

    answers.append(till.refund())

    assert [each.status for each in answers] == [503, 503]
    assert (till.sums(), till.given()) == ((3798, 1000, 0), 3798)
    monkeypatch.setattr(StripeProvider, "refund", asks)
    till.clock.advance(minutes=2)
    sweep.sweep(runtime)
    assert (till.sums(), till.given()) == ((3798, 1000, 0), 3798)
    assert shelf_of(runtime) == Shelf(5, 5, 0)


def test_all_that_went_back_in_the_dashboard_leaves_units_without_money(
    till: Till, runtime: Runtime
) -> None:
    till.stripe.refund_by_hand("pi_1", 3798)

    assert till.refund().json["refunds"][0]["amount_micros"] == 0

    assert till.sums() == (3798, 3798, 0)
    assert shelf_of(runtime) == Shelf(5, 5, 0)
    assert till.refund("more").code == "refund_too_large"


def test_a_refund_by_hand_that_fails_is_to_be_refunded_again(till: Till) -> None:
    event = till.stripe.refund_by_hand("pi_1", 500)
    till.send(event)
    till.stripe.refunds[-1]["status"] = "failed"

    till.send(event)

    assert till.sums() == (0, 0, 0)
    assert till.refund().json["refunded_micros"] == 2 * PRICE


@pytest.mark.parametrize(
    ("status", "state", "disputed"),
    [
        ("warning_needs_response", "inquiry", 0),
        ("warning_under_review", "inquiry", 0),
        ("warning_closed", "won", 0),
        ("needs_response", "opened", 1899),
        ("under_review", "opened", 1899),
        ("a_status_of_later_years", "opened", 1899),
        ("won", "won", 0),
        ("lost", "lost", 1899),
    ],
)
def test_a_dispute_has_a_state(till: Till, status: str, state: str, disputed: int) -> None:
    till.send(till.stripe.dispute("pi_1", 1899, status))

    assert [each["state"] for each in till.shown()["disputes"]] == [state]
    assert till.shown()["id"] == till.order
    assert till.sums() == (0, 0, disputed)


def test_a_dispute_keeps_refunds_until_it_is_decided_and_its_loss_leaves_the_rest(
    till: Till, caplog: pytest.LogCaptureFixture
) -> None:
    opened = till.stripe.dispute("pi_1", 1899, "needs_response")
    assert till.refund().code == "refund_refused"
    assert till.sums() == (0, 0, 1899)
    lost = till.stripe.dispute("pi_1", 1899, "lost")

    for event in (lost, opened, lost):
        till.send(event)

    assert [each["state"] for each in till.shown()["disputes"]] == ["lost"]
    assert till.refund().json["refunded_micros"] == PRICE
    assert till.given() == 1899
    assert caplog.text.count("payment disputed") == 1


def test_a_dispute_that_is_won_gives_the_money_back_to_the_seller(till: Till) -> None:
    till.send(till.stripe.dispute("pi_1", 3798, "needs_response"))
    till.send(till.stripe.dispute("pi_1", 3798, "won"))

    assert till.refund().json["refunded_micros"] == 2 * PRICE


def test_a_refund_before_plaza_knows_of_the_payment_is_seen_with_it(
    unsold: Till, runtime: Runtime
) -> None:
    order = ordered(unsold.paula, cart_of(unsold.paula, MOBY_HARD=1))
    unsold.stripe.pay("pi_1")

    unsold.send(unsold.stripe.refund_by_hand("pi_1", 500))

    assert stored_order(runtime, order)["state"] == "done"
    assert unsold.sums() == (500, 500, 0)


def test_a_late_payment_that_its_seller_has_refunded_is_not_refunded_twice(
    unsold: Till, runtime: Runtime
) -> None:
    cart = cart_of(unsold.paula, MOBY_HARD=1)
    order = ordered(unsold.paula, cart)
    unsold.paula.post(f"/orders/{order}/cancel?cart={cart}")
    unsold.stripe.pay("pi_1")
    unsold.stripe.refund_by_hand("pi_1", 1000)
    unsold.clock.advance(hours=1)

    sweep.sweep(runtime)

    assert [each["amount"] for each in unsold.stripe.refunds] == ["1000", "899"]


@pytest.mark.parametrize(
    "found",
    [
        {"payment_intent": "pi_of_another_shop"},
        {"payment_intent": {"$ne": ""}},
        {"payment_intent": "x" * 300},
        {"payment_intent": ["pi_1"]},
        {"payment_intent": None, "metadata": []},
        {"object": "payment_intent", "id": 7},
        "pi_1",
    ],
)
def test_events_of_other_payments_are_passed_over(till: Till, found: Any) -> None:
    till.send({"type": "charge.refunded", "data": {"object": found}})

    assert till.workers.drain() == 0


@pytest.mark.parametrize(
    "found",
    [
        {"payment_intent": "pi_1"},
        {"payment_intent": {"id": "pi_1"}, "metadata": {"order": "aaneGAECAwQFBgcI"}},
        {"object": "payment_intent", "id": "pi_1", "metadata": None},
    ],
)
def test_an_order_is_found_by_its_payment(till: Till, found: Any) -> None:
    till.stripe.refund_by_hand("pi_1", 500)

    till.send({"type": "charge.refunded", "data": {"object": found}})

    assert till.sums() == (500, 500, 0)
