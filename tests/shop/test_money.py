"""Money by the exponents of its currencies."""

import pytest

from chalicelib.currencies import (
    EXPONENTS,
    MAX_TOTAL_MICROS,
    MICROS,
    max_price_micros,
    smallest_micros,
)
from chalicelib.runtime import Runtime
from chalicelib.shop.money import is_chargeable, step_micros
from tests.shop.support.buying import (
    OTHER,
    SKU,
    agreement,
    cart_of,
    check_out,
    fill,
    put_line,
    shelf_of,
)
from tests.shop.support.factories import book, open_shop, put
from tests.support.http_client import Client


@pytest.mark.parametrize(
    ("currency", "micros"), [("EUR", 10_000), ("JPY", 1_000_000), ("KWD", 1_000)]
)
def test_the_smallest_unit_of_a_currency(currency: str, micros: int) -> None:
    assert smallest_micros(currency) == micros
    assert is_chargeable(3 * micros, currency, "fake")
    assert not is_chargeable(3 * micros + 1, currency, "fake")


def test_stripe_takes_three_decimals_with_a_last_digit_of_0_alone() -> None:
    tens = [code for code in EXPONENTS if step_micros(code, "stripe") != smallest_micros(code)]

    assert tens == ["BHD", "JOD", "KWD", "OMR", "TND"]
    assert is_chargeable(1_230_000, "KWD", "stripe")
    assert not is_chargeable(1_234_000, "KWD", "stripe")
    assert is_chargeable(1_234_000, "KWD", "fake")


def test_currencies_are_named_once() -> None:
    assert len(EXPONENTS) == 155
    assert all(len(code) == 3 and code.isupper() for code in EXPONENTS)


@pytest.mark.parametrize(
    ("currency", "units"),
    [("VND", 25_000_000), ("IDR", 1_500_000), ("IDR", 10**9), ("JPY", 10**9), ("EUR", 10**6)],
)
def test_a_price_has_room_in_its_currency(client: Client, currency: str, units: int) -> None:
    paula = open_shop(client, currency=currency)
    priced = [{"sku": "LAPTOP", "price_micros": units * MICROS}]

    assert put(paula, "laptop", book(skus=priced)).status == 201
    fill(paula, 9, "LAPTOP")
    cart = cart_of(client, LAPTOP=1)
    made = check_out(client, cart, agreement(total_micros=units * MICROS))
    assert made.json["order"]["total_micros"] == units * MICROS


@pytest.mark.parametrize(
    ("currency", "units"), [("VND", 10**9 + 1), ("EUR", 10**6 + 1), ("KWD", 10**6 + 1)]
)
def test_a_price_is_bounded_in_its_currency(client: Client, currency: str, units: int) -> None:
    paula = open_shop(client, currency=currency)
    priced = [{"sku": "LAPTOP", "price_micros": units * MICROS}]

    assert put(paula, "laptop", book(skus=priced)).status == 422


def test_no_line_costs_more_than_an_order_may(client: Client, runtime: Runtime) -> None:
    paula = open_shop(client, currency="VND", hold_percent=100)
    priced = [{"sku": SKU, "price_micros": 10**9 * MICROS}]
    assert put(paula, "car", book(skus=priced)).status == 201
    fill(paula, 100)
    cart = cart_of(client, MOBY_HARD=9)

    refused = put_line(client, cart, SKU, 10)

    assert (refused.status, refused.json["errors"][0]["code"]) == (422, "too_large")
    assert client.get(f"/carts/{cart}").json["lines_micros"] == MAX_TOTAL_MICROS
    assert shelf_of(runtime).held == 9
    made = check_out(client, cart, agreement(total_micros=MAX_TOTAL_MICROS))
    assert made.json["order"]["total_micros"] == MAX_TOTAL_MICROS


def test_lines_that_cost_more_than_an_order_may_are_not_checked_out(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    paula = open_shop(client, currency="VND", hold_percent=100)
    for name, sku in (("car", SKU), ("boat", OTHER)):
        priced = [{"sku": sku, "price_micros": 10**9 * MICROS}]
        assert put(paula, name, book(skus=priced)).status == 201
        fill(paula, 100, sku)
    cart = cart_of(client, MOBY_HARD=9, PEQUOD=1)

    refused = check_out(client, cart, agreement(total_micros=MAX_TOTAL_MICROS))

    assert (refused.status, refused.code) == (422, "invalid_request")
    fault = refused.json["errors"][0]
    assert (fault["field"], fault["code"]) == ("lines", "too_large")
    assert "pricing is not usable" not in caplog.text
    assert client.delete(f"/carts/{cart}/lines/{OTHER}").status == 200
    assert check_out(client, cart, agreement(total_micros=MAX_TOTAL_MICROS)).status == 201


def test_every_currency_has_a_bound_that_javascript_reads_exactly() -> None:
    for currency in EXPONENTS:
        assert 10**12 <= max_price_micros(currency) <= MAX_TOTAL_MICROS < 2**53
