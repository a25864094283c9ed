"""Looks at payments by their buyers: a provider's patience is for all shops."""

import dataclasses
from typing import Any

import pytest

from app import create_app
from chalicelib.limits import ORDER_LOOKS
from chalicelib.runtime import Runtime
from chalicelib.shop.payments.fake import FakeProvider
from tests.shop.support.buying import agreement, bought, cart_of, ordered, pay, stocked
from tests.support.clock import Clock
from tests.support.http_client import Client

pytestmark = pytest.mark.usefixtures("workers")


@pytest.fixture
def limited(client: Client, runtime: Runtime) -> Client:
    """The shop with its limits, which a network of the tests does not reach."""
    stocked(client, 5)
    settings = runtime.settings.model_copy(update={"limits": 1.0})
    return dataclasses.replace(
        client, app=create_app(dataclasses.replace(runtime, settings=settings))
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The orders whose statement the provider was asked for."""
    statement, found = FakeProvider.statement, []

    def count_asking(self: FakeProvider, charge: Any, intent: str) -> Any:
        found.append(charge.order)
        return statement(self, charge, intent)

    monkeypatch.setattr(FakeProvider, "statement", count_asking)
    return found


def test_an_order_that_is_over_is_asked_about_so_often_whoever_looks(
    limited: Client, clock: Clock, asked: list[str]
) -> None:
    cart, order = bought(limited)
    other_cart, other = bought(limited)

    assert {pay(limited, cart, order)["state"] for _ in range(20)} == {"done"}

    assert asked == [order] * ORDER_LOOKS.burst
    clock.advance(seconds=30)
    pay(limited, cart, order)
    pay(limited, other_cart, other)
    assert asked[ORDER_LOOKS.burst :] == [order, other]


def test_a_void_order_is_bounded_likewise_and_an_unpaid_one_is_not(
    limited: Client, asked: list[str]
) -> None:
    cart = cart_of(limited, MOBY_HARD=1)
    order = ordered(limited, cart, agreement(email="late@example.org"))

    assert {pay(limited, cart, order)["state"] for _ in range(8)} == {"paying"}

    limited.post(f"/orders/{order}/cancel?cart={cart}")
    assert {pay(limited, cart, order)["state"] for _ in range(8)} == {"void"}
    assert len(asked) == ORDER_LOOKS.burst
