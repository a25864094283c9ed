"""Money by the exponents of its currencies."""

import pytest

from chalicelib.shop.money import EXPONENTS, is_chargeable, smallest_micros


@pytest.mark.parametrize(
    ("currency", "micros"), [("EUR", 10_000), ("JPY", 1_000_000), ("KWD", 1_000)]
)
def test_the_smallest_unit_of_a_currency(currency: str, micros: int) -> None:
    assert smallest_micros(currency) == micros
    assert is_chargeable(3 * micros, currency)
    assert not is_chargeable(3 * micros + 1, currency)


def test_currencies_are_named_once() -> None:
    assert len(EXPONENTS) == 155
    assert all(len(code) == 3 and code.isupper() for code in EXPONENTS)
