"""Money of many currencies, in micros: millionths of a currency's unit.

A charge is a whole number of the currency's smallest unit: 10,000 micros (a cent) of a euro,
1,000,000 micros of a yen.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from chalicelib.currencies import EXPONENTS, MAX_AMOUNT_MICROS, smallest_micros

# Stripe accepts only a last digit of 0 here (its documentation, "Three-decimal currencies").
_STRIPE_TENS = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})


def _check_known(code: str) -> str:
    if code not in EXPONENTS:
        raise ValueError("this is no currency of ISO 4217 that is charged")
    return code


Currency = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Z]{3}$"),
    AfterValidator(_check_known),
    Field(description="A currency (ISO 4217).", examples=["EUR"]),
]
PriceMicros = Annotated[
    int,
    Field(
        gt=0,
        le=MAX_AMOUNT_MICROS,
        description="In millionths of the shop's currency: a whole number of its smallest unit, "
        "and at most a million units, or a thousand million of a currency with a small unit.",
        examples=[18_990_000],
    ),
]


def step_micros(currency: str, payments: Literal["fake", "stripe"]) -> int:
    """Return a provider's step in micros: it charges multiples of the step."""
    tens = payments == "stripe" and currency in _STRIPE_TENS
    return smallest_micros(currency) * (10 if tens else 1)


def is_chargeable(micros: int, currency: str, payments: Literal["fake", "stripe"]) -> bool:
    """Return whether this provider can charge an amount."""
    return micros % step_micros(currency, payments) == 0
