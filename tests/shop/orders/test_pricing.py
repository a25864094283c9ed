"""Pricing of a deployment: its result is rounded and checked before a cart is frozen."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.shop import pricing
from chalicelib.shop.carts.shapes import CARTS
from chalicelib.shop.money import step_micros
from chalicelib.shop.orders import checkout, sweep
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.shop.payments.fake import FAKE_PAYMENTS
from tests.shop.support.buying import (
    SKU,
    Shelf,
    agreement,
    cart_of,
    check_out,
    pay,
    shelf_of,
    stocked,
)
from tests.shop.support.factories import PRICE, SITE
from tests.support.clock import Clock
from tests.support.http_client import Client

pytestmark = pytest.mark.usefixtures("workers")

Register = Callable[[Any], None]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Register:
    """Register a function, or one that returns a constant."""
    monkeypatch.setattr(pricing, "_registered", [pricing.no_adjustments])

    def to_pricing(result: Any) -> None:
        pricing.register(result if callable(result) else lambda *_: result)

    return to_pricing


def tax(amount: Any, **others: Any) -> dict[str, Any]:
    return {"kind": "tax", "label": "VAT", "amount_micros": amount, **others}


@pytest.mark.parametrize(
    ("amount", "rounded"),
    [
        (1_898_100, 1_900_000),
        (1_894_999, 1_890_000),
        (1_895_000, 1_900_000),
        (-1_895_000, -1_900_000),
        (1_898_100.0, 1_900_000),
        (18_990_000 * 0.19, 3_610_000),
        (Decimal("1894999.99"), 1_890_000),
        (4_999, 0),
        (0.1, 0),
        (-0.0, 0),
    ],
)
def test_an_amount_is_rounded_to_the_smallest_unit(
    client: Client, register: Register, amount: Any, rounded: int
) -> None:
    stocked(client)
    register([tax(amount)])
    cart = cart_of(client, MOBY_HARD=1)

    made = check_out(client, cart, agreement(total_micros=PRICE + rounded))

    assert made.status == 201, made.body
    assert made.json["order"]["adjustments"] == [tax(rounded)]
    assert pay(client, cart, made.json["order"]["id"])["state"] == "done"


@pytest.mark.parametrize(
    ("currency", "rounded"), [("JPY", 2_000_000), ("EUR", 1_900_000), ("KWD", 1_898_000)]
)
def test_an_amount_is_rounded_in_the_currency_of_its_shop(
    register: Register, currency: str, rounded: int
) -> None:
    register([tax(1_898_100)])
    shop = pricing.PricedShop(SITE, currency, step_micros(currency, "fake"))

    assert pricing.adjustments([], None, shop) == [tax(rounded)]


def _raises(*_: Any) -> Any:
    raise ZeroDivisionError


def _clears(lines: Any, *_: Any) -> Any:
    for line in lines:
        line["qty"] = 0
    return [tax(-PRICE - 10_000)]


@pytest.mark.parametrize(
    "result",
    [
        [tax(float("nan"))],
        [tax(float("inf"))],
        [tax(Decimal("sNaN"))],
        [tax(Decimal("Infinity"))],
        [tax(10**30)],
        [tax(1e300)],
        [tax(-PRICE - 10_000)],
        [tax(9 * 10**15)],
        [tax("1.90")],
        [tax(None)],
        [tax(amount=True)],
        [tax(Fraction(1, 3))],
        [tax(1, currency="USD")],
        [tax(1, currency=7)],
        [tax(1, rate=19)],
        [{"kind": "tax", "label": "VAT"}],
        [{"kind": "vat", "label": "VAT", "amount_micros": 1}],
        [{"kind": "tax", "label": "", "amount_micros": 1}],
        [{"kind": "tax", "label": "x" * 201, "amount_micros": 1}],
        [{"kind": "tax", "label": 1, "amount_micros": 1}],
        [tax(0)] * 21,
        [None],
        "tax",
        None,
        7,
        {"kind": "tax"},
        _raises,
        _clears,
    ],
)
def test_a_result_that_is_no_price_is_a_clear_problem_and_the_cart_stays_open(
    client: Client, runtime: Runtime, register: Register, result: Any
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    register(result)

    refused = check_out(client, cart)

    assert (refused.status, refused.code) == (409, "pricing_failed")
    assert client.get(f"/carts/{cart}").json["state"] == "open"
    assert ORDERS.of(runtime.database).count_documents({}) == 0
    register([])
    assert check_out(client, cart).status == 201


def test_pricing_sees_lines_destination_site_and_currency(
    client: Client, register: Register
) -> None:
    seen: list[Any] = []

    def price(*given: Any) -> list[Any]:
        seen.append(given)
        return [tax(10_000, currency="EUR")]

    register(price)
    stocked(client)

    made = check_out(
        client, cart_of(client, MOBY_HARD=2), agreement(total_micros=2 * PRICE + 10_000)
    )

    assert made.status == 201
    lines = [{"sku": SKU, "title": "Moby-Dick", "qty": 2, "price_micros": PRICE}]
    assert seen == [(lines, ("NL", "1011 AB"), (SITE, "EUR", 10_000))]
    assert made.json["order"]["adjustments"] == [tax(10_000)]


def test_the_checked_result_makes_the_order_though_pricing_changes_or_fails_meanwhile(
    client: Client,
    runtime: Runtime,
    register: Register,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its frozen cart has the result: a stopped checkout goes on, and a sweep ends it."""
    stocked(client)
    carts = [cart_of(client, MOBY_HARD=1) for _ in range(2)]
    register([tax(10_000)])
    wanted = agreement(total_micros=PRICE + 10_000)

    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    for cart in carts:
        with monkeypatch.context() as cut:
            cut.setattr(checkout, "order_of", stop)
            with pytest.raises(KeyboardInterrupt):
                check_out(client, cart, wanted)
    register(_raises)

    made = check_out(client, carts[0], wanted)
    assert made.json["order"]["total_micros"] == PRICE + 10_000
    clock.advance(minutes=2)
    sweep.sweep(runtime)

    assert client.get(f"/carts/{carts[1]}").json["state"] == "open"
    assert {each["total_micros"] for each in ORDERS.of(runtime.database).find({})} == {
        PRICE + 10_000
    }


def test_a_cart_that_release_0_3_0_froze_is_priced_when_its_checkout_goes_on(
    client: Client, runtime: Runtime, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    stocked(client)
    cart = cart_of(client, MOBY_HARD=1)
    register([tax(10_000)])
    wanted = agreement(total_micros=PRICE + 10_000)

    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr(checkout, "order_of", stop)
        with pytest.raises(KeyboardInterrupt):
            check_out(client, cart, wanted)
    CARTS.of(runtime.database).update_one({"_id": cart}, {"$unset": {"adjustments": ""}})

    assert check_out(client, cart, wanted).json["order"]["adjustments"] == [tax(10_000)]


def test_an_order_of_0_is_paid_at_once_without_a_provider(
    client: Client, runtime: Runtime, register: Register
) -> None:
    paula = stocked(client)
    register([tax(-PRICE)])
    cart = cart_of(client, MOBY_HARD=1)

    made = check_out(client, cart, agreement(total_micros=0))

    assert made.status == 201
    order = made.json["order"]
    assert (order["state"], order["total_micros"]) == ("done", 0)
    assert made.json["payment"]["status"] == "succeeded"
    assert FAKE_PAYMENTS.of(runtime.database).count_documents({}) == 0
    assert shelf_of(runtime) == Shelf(4, 4, 0)
    assert check_out(client, cart, agreement(total_micros=0)).json["order"]["id"] == order["id"]
    assert pay(client, cart, order["id"])["state"] == "done"
    back = paula.post(f"/orders/{order['id']}/refund", restock=True, key="r1")
    assert (back.status, back.json["refunded_micros"]) == (200, 0)
    assert shelf_of(runtime) == Shelf(5, 5, 0)


class TestWithoutAProvider:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"payments": None})

    def test_an_order_of_0_is_made_and_refunded_in_a_deployment_without_payments(
        self, client: Client, runtime: Runtime, register: Register
    ) -> None:
        paula = stocked(client)
        register([tax(-PRICE)])
        cart = cart_of(client, MOBY_HARD=1)

        made = check_out(client, cart, agreement(total_micros=0))

        assert made.json["order"]["state"] == "done"
        path = f"/orders/{made.json['order']['id']}/refund"
        back = paula.post(path, restock=True, key="r1")
        assert (back.status, back.json["refunds"][0]["state"]) == (200, "done")
        assert shelf_of(runtime) == Shelf(5, 5, 0)
        register([])
        assert check_out(client, cart_of(client, MOBY_HARD=1)).code == "payments_not_set_up"


def test_an_order_of_0_that_stopped_before_its_payment_is_ended_by_the_sweep(
    client: Client,
    runtime: Runtime,
    register: Register,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stocked(client)
    register([tax(-PRICE)])
    cart = cart_of(client, MOBY_HARD=1)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr(checkout, "_begin_payment", stop)
        with pytest.raises(KeyboardInterrupt):
            check_out(client, cart, agreement(total_micros=0))
    clock.advance(minutes=31)

    sweep.sweep(runtime)

    (order,) = ORDERS.of(runtime.database).find({})
    assert order["state"] == "done"
