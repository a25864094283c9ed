"""Readings of Stripe's books: each day, at once with refunds, and late."""

import random
from contextlib import suppress
from typing import Any

import pytest

from chalicelib.errors import Unavailable
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop.orders import sweep
from chalicelib.shop.orders.reconciliation import RECONCILIATIONS, reconcile
from chalicelib.shop.payments.records import PAYMENTS
from chalicelib.shop.payments.stripe import StripeProvider
from tests.shop.support.buying import SKU, stored_order
from tests.shop.support.stripe_stand_in import Stripe
from tests.shop.support.threads import in_threads
from tests.shop.support.till import CENT, Till


@pytest.fixture
def settings(settings: Settings, stripe: Stripe) -> Settings:
    return stripe.settings(settings)


def test_each_day_the_changes_whose_events_were_lost_are_read(till: Till, runtime: Runtime) -> None:
    till.stripe.page = 2
    for _ in range(5):
        till.stripe.refund_by_hand("pi_1", 100, till.now() - 7200)
    assert sweep.sweep(runtime)["orders_reconciled"] == 3
    till.workers.drain()
    assert till.sums() == (500, 500, 0)
    till.clock.advance(hours=23)
    till.stripe.dispute("pi_1", 1000, "lost", till.now())
    assert sweep.sweep(runtime)["orders_reconciled"] == 0
    till.clock.advance(hours=1)

    assert sweep.sweep(runtime)["orders_reconciled"] == 1
    till.workers.drain()

    assert till.sums() == (500, 500, 1000)
    assert till.refund().json["refunds"][0]["amount_micros"] == (3798 - 1500) * CENT


def test_a_reading_that_fails_goes_on_a_minute_later(
    till: Till, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    till.stripe.page = 1
    for _ in range(2):
        till.stripe.refund_by_hand("pi_1", 100, till.now())
    with monkeypatch.context() as silence:
        silence.setattr(Queues, "send", lambda *_: False)
        assert sweep.sweep(runtime)["orders_reconciled"] == 0
    till.stripe.failing = 500
    till.clock.advance(minutes=2)
    assert sweep.sweep(runtime)["orders_reconciled"] == 0
    till.stripe.failing = None
    assert sweep.sweep(runtime)["orders_reconciled"] == 0
    till.clock.advance(minutes=2)

    assert sweep.sweep(runtime)["orders_reconciled"] == 2

    till.workers.drain()
    assert till.sums() == (200, 200, 0)


def test_a_reading_that_stripe_refuses_is_left_for_the_next_day(
    unsold: Till, runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    unsold.stripe.failing = 400
    sweep.sweep(runtime)
    unsold.clock.advance(hours=23)
    sweep.sweep(runtime)
    assert caplog.text.count("changes of payments refused") == 1
    row = RECONCILIATIONS.of(runtime.database).find_one({"_id": "stripe"})
    assert row is not None
    first = row["since"]
    unsold.stripe.failing = None
    unsold.clock.advance(hours=1)

    sweep.sweep(runtime)

    row = RECONCILIATIONS.of(runtime.database).find_one({"_id": "stripe"})
    assert row is not None
    assert (row["since"] > first, row["after"]) == (True, None)


@pytest.mark.parametrize("other", ["refund", "reading"])
def test_an_older_statement_replaces_no_newer_one(
    till: Till, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """A reader that read Stripe before another change, and writes after it."""
    sold, reads = stored_order(runtime, till.order), StripeProvider.statement
    till.stripe.refund_by_hand("pi_1", 500)

    def overtaken(self: StripeProvider, *given: Any) -> Any:
        found = reads(self, *given)
        monkeypatch.setattr(StripeProvider, "statement", reads)
        till.stripe.refund_by_hand("pi_1", 1000)
        if other == "refund":
            assert till.refund().status == 200
        else:
            reconcile(runtime, sold)
        return found

    monkeypatch.setattr(StripeProvider, "statement", overtaken)
    reconcile(runtime, sold)

    assert till.sums() == (3798 if other == "refund" else 1500, 1500, 0)


@pytest.mark.parametrize("seed", range(6))
def test_refunds_here_and_there_at_once_make_what_was_paid_and_no_more(
    till: Till, runtime: Runtime, seed: int
) -> None:
    rng = random.Random(seed)
    sold = stored_order(runtime, till.order)

    def act(number: int) -> None:
        if number % 3 == 0:
            with till.stripe.lock:
                if till.given() <= 3000:
                    till.stripe.refund_by_hand("pi_1", rng.randint(1, 700))
        elif number % 3 == 1:
            till.refund(f"r{number}", lines={SKU: 1})
        else:
            with suppress(Unavailable):
                reconcile(runtime, sold)

    in_threads(act, 6)
    for number in range(3):
        till.refund(f"rest{number}")
    reconcile(runtime, sold)

    assert till.given() == 3798
    assert till.sums()[0] == 3798
    payment = PAYMENTS.of(runtime.database).find_one({"_id": till.order})
    assert payment is not None
    by_plaza = sum(int(each["amount"]) for each in till.stripe.refunds if "metadata[order]" in each)
    assert payment["refunded_micros"] == by_plaza * CENT


def test_the_books_are_read_though_other_calls_use_up_the_time_of_a_run(
    till: Till, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    till.stripe.failing = 500
    assert till.refund().status == 503
    till.stripe.failing = None
    till.stripe.refund_by_hand("pi_1", 100, till.now())
    till.clock.advance(minutes=2)

    def hangs(*_: Any) -> None:
        till.clock.advance(seconds=12)
        raise Unavailable

    monkeypatch.setattr(StripeProvider, "refund", hangs)

    assert sweep.sweep(runtime)["orders_reconciled"] == 1
