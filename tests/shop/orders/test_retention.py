"""How long an order keeps where its buyer lives."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.orders import sweep
from tests.shop.support.buying import ADDRESS, bought, cart_of, ordered, stocked, stored_order
from tests.shop.support.factories import PRICE, publisher
from tests.support.clock import Clock
from tests.support.http_client import Client

pytestmark = pytest.mark.usefixtures("workers")


def kept_of(runtime: Runtime, order: str) -> tuple[Any, Any]:
    found = stored_order(runtime, order)
    return found["email"], found["address"]


def test_an_order_loses_its_buyers_address_in_time_and_stays_in_the_books(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client)
    _, order = bought(client, MOBY_HARD=2)
    clock.time += timedelta(days=runtime.settings.buyer_days) - timedelta(seconds=1)
    sweep.sweep(runtime)
    assert kept_of(runtime, order) == ("ann@example.org", {**ADDRESS, "region": None})

    clock.advance(seconds=1)
    assert sweep.sweep(runtime)["buyers_forgotten"] == 1

    assert kept_of(runtime, order) == (None, None)
    assert sweep.sweep(runtime)["buyers_forgotten"] == 0
    left = stored_order(runtime, order)
    assert (left["state"], left["total_micros"], len(left["lines"])) == ("done", 2 * PRICE, 1)
    # Her token of two years ago has expired.
    paula = publisher(client)
    refunded = paula.post(f"/orders/{order}/refund", restock=True, key="late")
    assert refunded.json["refunded_micros"] == 2 * PRICE


def test_an_order_that_was_let_go_loses_it_too(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart)
    client.post(f"/orders/{order}/cancel?cart={cart}")
    clock.time += timedelta(days=runtime.settings.buyer_days)

    sweep.sweep(runtime)

    assert kept_of(runtime, order) == (None, None)


def test_a_deployment_says_how_long(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    _, order = bought(client)
    monkeypatch.setitem(vars(runtime.settings), "buyer_days", 30)
    clock.time += timedelta(days=30)

    sweep.sweep(runtime)

    assert kept_of(runtime, order) == (None, None)


@pytest.mark.bounds(shop={"tended_at_once": 2})
def test_the_oldest_lose_it_first(client: Client, runtime: Runtime, clock: Clock) -> None:
    stocked(client)
    orders = []
    for _ in range(3):
        orders.append(bought(client)[1])
        clock.advance(days=1)
    clock.time += timedelta(days=runtime.settings.buyer_days)

    sweep.sweep(runtime)

    assert [kept_of(runtime, each) == (None, None) for each in orders] == [True, True, False]
