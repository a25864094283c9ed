"""What a receiver hears of orders: each step once, whatever becomes of calls and workers."""

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from chalicelib import deadlines
from chalicelib.memory import Memory
from chalicelib.shop.orders import resuming, sweep
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.shop.payments.fake import FAKE_PAYMENTS
from chalicelib.webhooks import deliveries, due, hooks
from chalicelib.webhooks.hooks import HookTarget
from chalicelib.webhooks.rows import DELIVERIES, MAX_DUE, DueEvent
from tests.shop.support.buying import (
    OTHER,
    SKU,
    agreement,
    bought,
    cart_of,
    check_out,
    ordered,
    paid_late,
    pay,
    refund_came_back,
    stocked,
    stored_order,
)
from tests.shop.support.factories import PRICE, SITE
from tests.shop.support.knife import Cut, Edge, cut
from tests.shop.support.threads import in_threads
from tests.support.http_client import Client
from tests.webhooks.conftest import Desk
from tests.webhooks.support.receiver import Received, Receiver

KINDS = ["order.paid", "order.shipped", "order.cancelled", "order.refunded"]
MONEY_BACK = ["order.refunded", "order.refund_failed"]
pytestmark = pytest.mark.usefixtures("workers")
Heard = Callable[[], list[Received]]


def listen(desk: Desk, receiver: Receiver, kinds: list[str] = KINDS) -> None:
    """Register a hook for the shop's site."""
    owner = desk.client.as_("paula", roles=["publisher"], sites=[SITE])
    reply = owner.post(f"/sites/{SITE}/webhooks", url=receiver.url, kinds=kinds)
    assert reply.status == 201, reply.body
    desk.clock.advance(seconds=6)


@pytest.fixture
def heard(desk: Desk, receiver: Receiver) -> Heard:
    """Let the schedule deliver, and return what the receiver got."""

    def calls() -> list[Received]:
        desk.clock.advance(seconds=6)
        sweep.sweep(desk.runtime)
        desk.workers.drain()
        return receiver.calls

    return calls


def told(calls: list[Received]) -> list[tuple[str, str, int | None]]:
    """Return kinds, states and amounts."""
    data = [(each.json["type"], each.json["data"]) for each in calls]
    return [(kind, each["state"], each["amount_micros"]) for kind, each in data]


def in_the_books(calls: list[Received]) -> int:
    """Return the refunded micros of an order whose seller has the events alone."""
    signs = {"order.refunded": 1, "order.refund_failed": -1}
    return sum(signs[kind] * (amount or 0) for kind, _, amount in told(calls))


def refund(paula: Client, order: str, key: str = "r1", **lines: int) -> None:
    body: dict[str, Any] = {"restock": True, "key": key}
    units = {name.replace("_", "-"): qty for name, qty in lines.items()}
    given = {"lines": units} if units else {}
    assert paula.post(f"/orders/{order}/refund", **body, **given).status == 200


def test_the_life_of_an_order_is_told_once_however_often_its_calls_repeat(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    paula = stocked(desk.client)
    listen(desk, receiver)
    cart, order = bought(desk.client, MOBY_HARD=3)
    pay(desk.client, cart, order)
    heard()
    for _ in range(2):
        assert paula.post(f"/orders/{order}/sent").status == 200
        heard()
        refund(paula, order, MOBY_HARD=1)
        heard()
    refund(paula, order, "rest")

    assert told(heard()) == [
        ("order.paid", "paid", None),
        ("order.shipped", "done", None),
        ("order.refunded", "done", PRICE),
        ("order.refunded", "done", 2 * PRICE),
    ]
    assert len({each.event for each in receiver.calls}) == 4
    assert stored_order(desk.runtime, order).get("due_events") == []


def test_an_event_names_the_order_and_no_person(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    stocked(desk.client)
    listen(desk, receiver)
    at = desk.runtime.now()
    cart, order = bought(desk.client, "ann@example.org", MOBY_HARD=2)

    (call,) = heard()

    assert call.event == f"{order}-paid"
    stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert call.json == {
        "type": "order.paid",
        "timestamp": stamp,
        "data": {
            "id": order,
            "site": SITE,
            "state": "paid",
            "total_micros": 2 * PRICE,
            "amount_micros": None,
            "currency": "EUR",
            "at": stamp,
        },
    }
    assert not any(word in call.body for word in (b"ann@", b"Harbour", b"Quay", cart.encode()))


def test_an_order_without_its_payment_is_told_and_a_refused_checkout_is_not(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    stocked(desk.client, 1)
    listen(desk, receiver)
    cart = cart_of(desk.client, MOBY_HARD=1)
    second = cart_of(desk.client, PEQUOD=1)
    order = ordered(desk.client, cart, agreement(email="slow@example.org"))
    assert desk.client.put(f"/carts/{second}/lines/{SKU}", qty=1).status == 409
    desk.runtime.database["shop.cart"].update_one(
        {"_id": second}, {"$set": {f"lines.{OTHER}.qty": 9}}
    )
    assert check_out(desk.client, second, agreement(9)).code == "out_of_stock"
    assert desk.client.post(f"/orders/{order}/cancel?cart={cart}").status == 200

    assert told(heard()) == [("order.cancelled", "declined", None)]


def test_money_that_came_after_the_end_goes_back_and_is_told(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    listen(desk, receiver)
    paid_late(desk.client, desk.runtime, desk.clock)

    assert told(heard()) == [
        ("order.cancelled", "declined", None),
        ("order.refunded", "void", PRICE),
    ]


def test_a_refund_that_came_back_and_is_made_again_is_another_event(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    paula = stocked(desk.client)
    listen(desk, receiver, MONEY_BACK)
    _, order = refund_came_back(desk.client)
    heard()

    refund(paula, order, "back", MOBY_HARD=1)

    assert [each.event for each in heard()] == [
        f"{order}-refunded-0-0",
        f"{order}-refund_failed-0-0",
        f"{order}-refunded-0-1",
    ]
    assert in_the_books(receiver.calls) == PRICE


def test_a_refund_at_the_providers_is_told_with_its_own_amount(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    stocked(desk.client)
    listen(desk, receiver, ["order.refunded"])
    cart, order = bought(desk.client, MOBY_HARD=2)
    for amount in (PRICE // 2, PRICE):
        rows = FAKE_PAYMENTS.of(desk.runtime.database)
        by_hand = {"key": None, "amount_micros": amount}
        assert rows.update_one({"_id": order}, {"$push": {"refunds": by_hand}}).matched_count
        for _ in range(2):
            pay(desk.client, cart, order)

    assert [each[2] for each in told(heard())] == [PRICE // 2, PRICE]


def test_the_books_of_a_seller_agree_although_refunds_at_the_providers_fail(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    stocked(desk.client)
    listen(desk, receiver, MONEY_BACK)
    cart, order = bought(desk.client, MOBY_HARD=3)
    rows = FAKE_PAYMENTS.of(desk.runtime.database)
    by_hand = {"key": None, "amount_micros": PRICE}
    rows.update_one({"_id": order}, {"$push": {"refunds": by_hand}})
    pay(desk.client, cart, order)
    rows.update_one({"_id": order}, {"$set": {"refunds.0.failed": True}})
    found = pay(desk.client, cart, order)

    assert told(heard()) == [
        ("order.refunded", "done", PRICE),
        ("order.refund_failed", "done", PRICE),
    ]
    assert in_the_books(receiver.calls) == found["refunded_micros"] == 0


@pytest.mark.parametrize("edge", ["before", "after"])
def test_a_payment_that_is_cut_at_any_write_is_told_once(
    desk: Desk, receiver: Receiver, heard: Heard, monkeypatch: pytest.MonkeyPatch, edge: Edge
) -> None:
    stocked(desk.client, 100)
    listen(desk, receiver)
    orders = []
    for at in range(30):
        order = ordered(desk.client, cart_of(desk.client, MOBY_HARD=1))
        orders.append(order)
        with suppress(Cut), cut(monkeypatch, at, edge) as knife:
            resuming.resume(desk.runtime, order)
        resuming.resume(desk.runtime, order)
        if knife.writes <= at:
            break
    else:
        pytest.fail("the payment never ended")

    assert sorted(each.event for each in heard()) == sorted(f"{each}-paid" for each in orders)


def test_events_of_many_workers_at_once_are_one(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    paula = stocked(desk.client)
    listen(desk, receiver)
    order = ordered(desk.client, cart_of(desk.client, MOBY_HARD=1))

    in_threads(lambda _: resuming.resume(desk.runtime, order), 8)
    in_threads(lambda _: paula.post(f"/orders/{order}/sent"), 8)
    in_threads(lambda _: refund(paula, order), 8)
    desk.clock.advance(seconds=6)
    in_threads(lambda _: due.deliver(desk.runtime, ORDERS), 8)

    assert sorted(each[0] for each in told(heard())) == sorted(set(KINDS) - {"order.cancelled"})


def test_a_crash_after_the_deliveries_makes_no_second_ones(
    desk: Desk, receiver: Receiver, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(desk.client)
    listen(desk, receiver)
    bought(desk.client)
    desk.clock.advance(seconds=6)

    def crash(*_: object, **__: object) -> None:
        raise Cut

    with monkeypatch.context() as patch:
        patch.setattr("pymongo.collection.Collection.bulk_write", crash)
        with pytest.raises(Cut):
            due.deliver(desk.runtime, ORDERS)
    first = [each["_id"] for each in desk.rows()]
    heard()

    assert len(first) == 1
    assert [each["_id"] for each in desk.rows()] == first
    assert len(receiver.calls) == 1


def test_a_run_leaves_half_of_the_time_and_the_next_goes_on(
    desk: Desk, receiver: Receiver, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(desk.client, 10)
    listen(desk, receiver)
    for _ in range(5):
        bought(desk.client)
    desk.clock.advance(seconds=6)
    make, left = deliveries.make, [30.0]

    def be_slow(*given: Any) -> None:
        left[0] -= 4
        make(*given)

    def run() -> int:
        left[0] = 30
        return due.deliver(desk.runtime, ORDERS)

    with monkeypatch.context() as patch:
        patch.setattr(due, "_STEP", 2)
        patch.setattr(deadlines, "remaining", lambda: left[0])
        patch.setattr(deliveries, "make", be_slow)
        assert [run() for _ in range(3)] == [4, 1, 0]
    assert len(told(heard())) == 5


def test_a_run_that_dies_keeps_the_steps_before(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(desk.client, 10)
    listen(desk, receiver)
    orders = [bought(desk.client)[1] for _ in range(3)]
    desk.clock.advance(seconds=6)
    make, left = deliveries.make, [2]

    def die(*given: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Cut
        make(*given)

    monkeypatch.setattr(due, "_STEP", 1)
    monkeypatch.setattr(deliveries, "make", die)
    with pytest.raises(Cut):
        due.deliver(desk.runtime, ORDERS)

    owed = [len(stored_order(desk.runtime, each).get("due_events", [])) for each in orders]
    assert sorted(owed) == [0, 0, 1]


def test_an_event_waits_until_each_container_knows_the_hooks_of_its_time(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    stocked(desk.client)
    bought(desk.client)
    heard()
    # This container has read that there are no hooks; another registers one.
    assert hooks.listening(desk.runtime, SITE) == []
    other = dataclasses.replace(desk.runtime, memory=Memory())
    wanted = HookTarget(receiver.url, ["order.paid"])
    hooks.register(other, SITE, wanted, "paula")
    bought(desk.client)

    assert due.deliver(desk.runtime, ORDERS) == 0
    assert [each[0] for each in told(heard())] == ["order.paid"]


def test_events_of_a_site_without_hooks_go_without_a_trace(
    desk: Desk, receiver: Receiver, heard: Heard
) -> None:
    paula = stocked(desk.client)
    _, order = bought(desk.client)
    assert paula.post(f"/orders/{order}/sent").status == 200
    assert heard() == []
    assert stored_order(desk.runtime, order).get("due_events") == []

    listen(desk, receiver)

    assert heard() == []
    assert DELIVERIES.of(desk.runtime.database).count_documents({}) == 0


def test_a_thing_keeps_its_newest_events_while_no_schedule_runs(desk: Desk) -> None:
    stocked(desk.client)
    _, order = bought(desk.client)
    (event,) = stored_order(desk.runtime, order).get("due_events", [])
    rows = ORDERS.of(desk.runtime.database)
    for number in range(MAX_DUE):
        more: DueEvent = {**event, "id": f"{order}-{number}"}
        rows.update_one({"_id": order}, {"$push": due.push(more)})

    kept = stored_order(desk.runtime, order).get("due_events", [])

    assert [each["id"] for each in kept] == [f"{order}-{number}" for number in range(MAX_DUE)]
