"""Refunds: units of paid orders, once for each key, whoever stops in between."""

from typing import Any

import pytest

from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from chalicelib.shop.orders import refunds, sweep
from chalicelib.shop.payments import records
from chalicelib.shop.payments.fake import FAKE_PAYMENTS, FakeProvider
from chalicelib.shop.payments.port import PaymentRefused
from chalicelib.shop.payments.records import MAX_REFUNDS, PAYMENTS
from tests.shop.support.buying import (
    OTHER,
    SKU,
    Shelf,
    agreement,
    bought,
    cart_of,
    fill,
    ordered,
    paid_late,
    pay,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import PRICE
from tests.shop.support.knife import Cut, cut
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

pytestmark = pytest.mark.usefixtures("workers")


def refund(
    paula: Client, order: str, key: str = "r1", *, restock: bool = True, **lines: int
) -> Reply:
    """Refund units, or all that is left."""
    units = {name.replace("_", "-"): qty for name, qty in lines.items()}
    body: dict[str, Any] = {"restock": restock, "key": key}
    return paula.post(f"/orders/{order}/refund", **body, **({"lines": units} if units else {}))


def given_back(runtime: Runtime, order: str) -> list[int]:
    """Return the amounts that the provider has given back."""
    row = FAKE_PAYMENTS.of(runtime.database).find_one({"_id": order})
    assert row is not None
    return [each["amount_micros"] for each in row["refunds"]]


def test_units_are_given_back_once_for_each_key_and_are_on_the_shelf_again(
    client: Client, runtime: Runtime
) -> None:
    paula = stocked(client, 5)
    _, order = bought(client, MOBY_HARD=3)

    for _ in range(2):
        assert refund(paula, order, MOBY_HARD=1).json["refunded_micros"] == PRICE

    assert given_back(runtime, order) == [PRICE]
    assert shelf_of(runtime) == Shelf(3, 3, 0)
    assert refund(paula, order, "r2", restock=False, MOBY_HARD=1).status == 200
    assert shelf_of(runtime) == Shelf(3, 3, 0)
    assert given_back(runtime, order) == [PRICE, PRICE]


def test_no_movement_of_the_publisher_keeps_units_from_the_shelf(
    client: Client, runtime: Runtime
) -> None:
    paula = stocked(client, 5)
    _, order = bought(client, MOBY_HARD=1)
    fill(paula, 3, key=f"refund-{order}-r1")

    assert refund(paula, order, MOBY_HARD=1).status == 200

    assert shelf_of(runtime) == Shelf(8, 8, 0)


def test_all_that_is_left_is_given_back(client: Client, runtime: Runtime) -> None:
    paula = stocked(client, 5)
    _, order = bought(client, MOBY_HARD=2, PEQUOD=1)
    refund(paula, order, MOBY_HARD=1)

    assert refund(paula, order, "rest").json["refunded_micros"] == 3 * PRICE

    assert given_back(runtime, order) == [PRICE, 2 * PRICE]
    assert (shelf_of(runtime), shelf_of(runtime, OTHER)) == (Shelf(5, 5, 0), Shelf(5, 5, 0))
    assert refund(paula, order, "more").code == "refund_too_large"


def test_no_more_is_given_back_than_was_bought(client: Client) -> None:
    paula = stocked(client, 5)
    _, order = bought(client, MOBY_HARD=2)
    refund(paula, order, MOBY_HARD=1)

    for refused in (
        refund(paula, order, "r2", MOBY_HARD=2),
        refund(paula, order, "r2", PEQUOD=1),
    ):
        assert (refused.status, refused.code) == (409, "refund_too_large")
    assert refund(paula, order, MOBY_HARD=2).code == "idempotency_key_reused"
    assert refund(paula, order, restock=False, MOBY_HARD=1).code == "idempotency_key_reused"
    assert refund(paula, order).code == "idempotency_key_reused"
    assert refund(paula, order, "rest").status == refund(paula, order, "rest").status == 200


def test_of_two_refunds_at_once_only_what_is_left_is_given_back(
    client: Client, runtime: Runtime
) -> None:
    paula = stocked(client, 5)
    _, order = bought(client, MOBY_HARD=2)

    in_threads(lambda number: refund(paula, order, f"r{number}", MOBY_HARD=2), 3)

    assert given_back(runtime, order) == [2 * PRICE]
    assert shelf_of(runtime) == Shelf(5, 5, 0)


def test_a_refund_that_loses_every_race_is_to_be_tried_again_and_is_not_too_large(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client, 5)
    cart, order = bought(client, "refund-fails@example.org", MOBY_HARD=2)
    refund(paula, order, "fails", MOBY_HARD=1)
    assert pay(client, cart, order)["refunds"][0]["state"] == "failed"

    def raced(work: Any) -> Any:
        def another_first(*given: Any) -> Any:
            rows = PAYMENTS.of(runtime.database)
            rows.update_one({"_id": order}, {"$inc": {"version": 1}})
            return work(*given)

        return another_first

    with monkeypatch.context() as patch:
        for name in ("_owe", "_owe_again"):
            patch.setattr(refunds, name, raced(getattr(refunds, name)))
        lost = [refund(paula, order, key, MOBY_HARD=1) for key in ("new", "fails")]

    assert [(each.status, each.code) for each in lost] == [(503, "unavailable")] * 2
    assert [refund(paula, order, key, MOBY_HARD=1).status for key in ("new", "fails")] == [200] * 2


def test_what_was_not_paid_is_not_given_back(client: Client) -> None:
    paula = stocked(client, 5)
    order = ordered(client, cart_of(client, MOBY_HARD=1))

    refused = refund(paula, order, MOBY_HARD=1)

    assert (refused.status, refused.code) == (409, "order_not_paid")
    other = client.as_("pat", roles=["publisher"], sites=["beta"])
    assert refund(other, order, MOBY_HARD=1).code == "unknown_order"


def test_a_refund_that_the_provider_refuses_changes_nothing(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client, 5)
    _, order = bought(client, MOBY_HARD=1)

    def refuses(*_: Any) -> None:
        raise PaymentRefused("charge_disputed")

    with monkeypatch.context() as patch:
        patch.setattr(FakeProvider, "refund", refuses)
        refused = refund(paula, order, MOBY_HARD=1)

    assert (refused.status, refused.code) == (409, "refund_refused")
    assert shelf_of(runtime) == Shelf(4, 4, 0)
    assert refund(paula, order, "again", MOBY_HARD=1).json["refunded_micros"] == PRICE


def test_of_the_fake_a_refund_may_come_back_and_be_made_again(
    client: Client, runtime: Runtime
) -> None:
    paula = stocked(client, 5)
    cart, order = bought(client, "refund-fails@example.org", MOBY_HARD=1)
    assert refund(paula, order, MOBY_HARD=1).json["refunds"][0]["state"] == "done"

    looked = pay(client, cart, order)

    assert (looked["refunded_micros"], looked["refunds"][0]["state"]) == (0, "failed")
    assert refund(paula, order, MOBY_HARD=1).json["refunded_micros"] == PRICE
    assert pay(client, cart, order)["refunds"][0]["state"] == "done"
    assert given_back(runtime, order) == [PRICE, PRICE]
    assert shelf_of(runtime) == Shelf(5, 5, 0)


def test_a_refund_of_an_outage_is_owed_and_made_later(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    paula = stocked(client, 5)
    _, order = bought(client, MOBY_HARD=1)

    def gone(*_: Any) -> None:
        raise Unavailable

    with monkeypatch.context() as patch:
        patch.setattr(FakeProvider, "refund", gone)
        assert refund(paula, order, MOBY_HARD=1).status == 503
        clock.advance(minutes=2)
        sweep.sweep(runtime)
    assert given_back(runtime, order) == []
    clock.advance(minutes=2)

    sweep.sweep(runtime)

    assert given_back(runtime, order) == [PRICE]
    assert shelf_of(runtime) == Shelf(5, 5, 0)
    payment = records.find(runtime.database, order)
    assert payment is not None
    assert "owed" not in payment


def test_a_provider_that_is_away_is_asked_once_for_each_payment(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call may wait for seconds, and other steps of the sweep follow."""
    paula = stocked(client, 5)
    _, order = bought(client, MOBY_HARD=2)
    calls: list[object] = []

    def gone(*arguments: Any) -> None:
        calls.append(arguments)
        raise Unavailable

    monkeypatch.setattr(FakeProvider, "refund", gone)
    for key in ("r1", "r2"):
        assert refund(paula, order, key, MOBY_HARD=1).status == 503
    calls.clear()
    clock.advance(minutes=2)

    sweep.sweep(runtime)

    assert len(calls) == 1


def test_a_late_payment_that_is_not_given_back_rings_each_hour_until_it_is(
    client: Client,
    runtime: Runtime,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuses(*_: Any) -> None:
        raise PaymentRefused("balance_insufficient")

    with monkeypatch.context() as patch:
        patch.setattr(FakeProvider, "refund", refuses)
        paid_late(client, runtime, clock)
        for _ in range(10):
            clock.advance(minutes=1)
            sweep.sweep(runtime)
        assert caplog.text.count("paid after it was let go") == 1
    for _ in range(2):
        clock.advance(hours=1)
        sweep.sweep(runtime)

    (row,) = FAKE_PAYMENTS.of(runtime.database).find({})
    assert row["refunds"] == [{"key": "paid-late-2", "amount_micros": PRICE}]
    assert caplog.text.count("paid after it was let go") == 2
    assert "due" not in stored_order(runtime, row["_id"])


def test_a_late_payment_of_as_many_refused_refunds_as_it_can_have_is_looked_at_each_hour(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: Any) -> None:
        raise PaymentRefused("balance_insufficient")

    monkeypatch.setattr(FakeProvider, "refund", refuses)
    paid_late(client, runtime, clock)
    (payment,) = PAYMENTS.of(runtime.database).find({})
    every = payment["refunds"] * MAX_REFUNDS
    PAYMENTS.of(runtime.database).update_one({}, {"$set": {"refunds": every}})
    clock.advance(hours=1)

    sweep.sweep(runtime)

    order = stored_order(runtime, payment["_id"])
    assert order["due"] == clock() + refunds.PATIENCE


@pytest.mark.parametrize("edge", ["before", "after"])
def test_a_refund_cut_at_any_write_is_made_once(
    client: Client,
    runtime: Runtime,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    edge: Any,
) -> None:
    paula = stocked(client, 50)
    orders = [bought(client, MOBY_HARD=1)[1] for _ in range(7)]
    cuts = 0
    for number, order in enumerate(orders):
        sold = stored_order(runtime, order)
        with cut(monkeypatch, number, edge):
            try:
                refunds.refund_order(runtime, sold, "r1", {SKU: 1}, restock=True)
            except Cut:
                cuts += 1
    clock.advance(minutes=2)
    sweep.sweep(runtime)

    for order in orders:
        assert refund(paula, order, MOBY_HARD=1).status == 200
        assert given_back(runtime, order) == [PRICE]
    assert 3 < cuts < 7
    assert shelf_of(runtime) == Shelf(50, 50, 0)


@pytest.mark.parametrize(
    "body",
    [
        {"restock": True},
        {"key": "k"},
        {"restock": "yes", "key": "k"},
        {"restock": True, "key": "k", "lines": {}},
        {"restock": True, "key": "k", "lines": {SKU: 0}},
        {"restock": True, "key": "k", "lines": {"a.b": 1}},
    ],
)
def test_a_refund_has_its_form(client: Client, body: dict[str, Any]) -> None:
    paula = stocked(client, 5)
    order = ordered(client, cart_of(client, MOBY_HARD=1), agreement())

    assert paula.post(f"/orders/{order}/refund", **body).status == 422


def test_a_smaller_try_of_a_refund_that_is_on_the_shelf_already_ends(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    """The bank returned the first try; the second refunds the rest that another refund left."""
    stocked(client, 5)
    _, order = bought(client, MOBY_HARD=2)
    refunds.refund_order(runtime, stored_order(runtime, order), "r1", {SKU: 2}, restock=True)
    again = {"refunds.0.state": "made", "refunds.0.units": {SKU: 1}, "refunds.0.again": 1}
    owed = {**again, "refunds.0.amount_micros": PRICE, "owed": clock()}
    PAYMENTS.of(runtime.database).update_one({"_id": order}, {"$set": owed})
    clock.advance(minutes=2)

    sweep.sweep(runtime)

    payment = PAYMENTS.of(runtime.database).find_one({"_id": order})
    assert payment is not None
    assert (payment["refunds"][0]["state"], "owed" in payment) == ("done", False)
    assert shelf_of(runtime) == Shelf(5, 5, 0)
