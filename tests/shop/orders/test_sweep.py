"""The sweep of shops beside a slow provider: its time is bounded, and nobody waits for it."""

from typing import Any

import pytest

from chalicelib import deadlines
from chalicelib.errors import Unavailable
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts
from chalicelib.shop.carts.shapes import CARTS
from chalicelib.shop.orders import resuming, strays, sweep
from chalicelib.shop.payments.fake import FakeProvider
from chalicelib.shop.stock import expiry
from chalicelib.shop.stock.expiry import Overdue
from tests.shop.support.buying import (
    OTHER,
    agreement,
    cart_of,
    ordered,
    shelf_of,
    stocked,
    stored_order,
)
from tests.shop.support.factories import SITE, open_shop
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

pytestmark = pytest.mark.usefixtures("workers")

# A function's; the sweep has to end before.
TIMEOUT_SECONDS = 30
SLOW = "slow@example.org"


def test_a_slow_provider_keeps_nothing_in_carts_and_no_function_running(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 10)
    for number in range(5):
        ordered(client, cart_of(client, MOBY_HARD=1), agreement(email=SLOW), key=f"k{number}")
    cart_of(client, PEQUOD=1)
    clock.advance(minutes=16)
    began = clock()

    def hangs(*_: Any) -> None:
        clock.advance(seconds=12)
        raise Unavailable

    monkeypatch.setattr(FakeProvider, "status", hangs)

    sweep.sweep(runtime)

    assert (clock() - began).total_seconds() < TIMEOUT_SECONDS
    assert shelf_of(runtime, OTHER).held == 0
    assert shelf_of(runtime).held == 5


def test_every_order_has_its_turn_with_a_slow_provider(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 10)
    for number in range(5):
        ordered(client, cart_of(client, MOBY_HARD=1), agreement(email=SLOW), key=f"k{number}")
    asked = set()

    def hangs(_: FakeProvider, order: str, _intent: str) -> None:
        asked.add(order)
        clock.advance(seconds=12)
        raise Unavailable

    monkeypatch.setattr(FakeProvider, "status", hangs)
    # Nor does SQS take the others.
    monkeypatch.setattr(Queues, "send", lambda *_: False)
    for _ in range(5):
        clock.advance(minutes=1)
        sweep.sweep(runtime)

    assert len(asked) == 5


def slow_down(monkeypatch: pytest.MonkeyPatch, clock: Clock, **passes: int) -> list[str]:
    """Have each answer about a payment take its time; return the orders that were asked about."""
    status, asked = FakeProvider.status, []

    def slow(self: FakeProvider, order: str, intent: str) -> Any:
        asked.append(order)
        clock.advance(**passes)
        return status(self, order, intent)

    monkeypatch.setattr(FakeProvider, "status", slow)
    return asked


def test_the_worker_lets_those_unpaid_orders_go_that_a_run_has_no_time_for(
    client: Client,
    runtime: Runtime,
    clock: Clock,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stocked(client, 10)
    for number in range(5):
        ordered(client, cart_of(client, MOBY_HARD=1), agreement(email=SLOW), key=f"k{number}")
    workers.drain()
    clock.advance(minutes=31)
    asked = slow_down(monkeypatch, clock, seconds=7)

    assert sweep.sweep(runtime)["orders_resumed"] == 5

    assert len(asked) == 2
    clock.advance(minutes=1)
    # They wait in the queue, and are sent once.
    assert sweep.sweep(runtime)["orders_resumed"] == 0
    assert workers.drain() == 3
    assert len(set(asked)) == 5
    assert shelf_of(runtime).held == 0


def test_an_unpaid_order_is_asked_about_more_rarely_with_its_age(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 5)
    order = ordered(client, cart_of(client, MOBY_HARD=1), agreement(email="late@example.org"))
    began, asked = clock(), slow_down(monkeypatch, clock, seconds=0)
    minutes: list[int] = []
    for _ in range(32):
        clock.advance(minutes=1)
        sweep.sweep(runtime)
        minutes += [int((clock() - began).total_seconds()) // 60] * (len(asked) - len(minutes))

    assert minutes == [1, 2, 4, 8, 16, 30]
    assert stored_order(runtime, order)["state"] == "void"


def test_the_provider_is_asked_once_about_an_order_of_many_lines(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 5)
    ordered(client, cart_of(client, MOBY_HARD=1, PEQUOD=1), agreement(2, SLOW))
    status, asked = FakeProvider.status, []

    def counted(self: FakeProvider, order: str, intent: str) -> Any:
        asked.append(order)
        return status(self, order, intent)

    monkeypatch.setattr(FakeProvider, "status", counted)
    clock.advance(minutes=1)

    sweep.sweep(runtime)

    assert len(asked) == 1


def test_the_time_for_calls_begins_behind_the_overdue_entries(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client, 5)
    ordered(client, cart_of(client, MOBY_HARD=1), agreement(email=SLOW))
    clock.advance(minutes=1)
    asked = slow_down(monkeypatch, clock, seconds=0)

    def slow(_: Runtime) -> tuple[int, list[Overdue]]:
        clock.advance(seconds=15)
        return 0, []

    monkeypatch.setattr(expiry, "end_overdue", slow)

    sweep.sweep(runtime)

    assert len(asked) == 1


def test_overdue_entries_of_orders_leave_time_to_the_steps_behind_them(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, ended = 30.0, []
    entry: Any = {"cart": "c", "qty": 1, "until": runtime.now(), "order": "o"}

    def slow(_: Runtime, stock_id: str, *_others: str) -> None:
        nonlocal left
        ended.append(stock_id)
        left -= 5

    monkeypatch.setattr(deadlines, "remaining", lambda: left)
    monkeypatch.setattr(strays, "end_stray", slow)
    found = [Overdue(f"{SITE}:{number}", entry) for number in range(9)]
    monkeypatch.setattr(expiry, "end_overdue", lambda _: (0, found))

    done = sweep.sweep(runtime)

    assert len(ended) == done["entries_of_orders"] == 2


def test_frozen_carts_stop_with_the_time_for_calls(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_shop(client)
    for number in range(5):
        cart = carts.open_cart(runtime, SITE, None)
        frozen = {"state": "checkout", "order": f"order{number}", "touched": clock()}
        CARTS.of(runtime.database).update_one({"_id": cart["_id"]}, {"$set": frozen})
    clock.advance(minutes=10)
    resumed: list[str] = []

    def slow(_: Runtime, order: str) -> None:
        clock.advance(seconds=7)
        resumed.append(order)

    monkeypatch.setattr(resuming, "resume", slow)

    assert [sweep.sweep(runtime)["carts_resumed"] for _ in range(3)] == [2, 2, 1]
    assert len(set(resumed)) == 5
