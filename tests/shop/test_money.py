"""Money by the exponents of its currencies."""

import pytest

from chalicelib.shop.money import EXPONENTS, is_chargeable, smallest_micros, step_micros


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
