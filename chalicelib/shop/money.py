"""Money of many currencies, in micros: millionths of a currency's unit.

A charge is a whole number of the currency's smallest unit: 10,000 micros (a cent) of a euro,
1,000,000 micros of a yen.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

MICROS = 1_000_000
# A million units of any currency.
MAX_PRICE_MICROS = 1_000_000 * MICROS
# JavaScript reads larger whole numbers inexactly.
MAX_TOTAL_MICROS = 9 * 10**15
_MICROS_EXPONENT = 6

# The decimals of each currency (ISO 4217, list one; without funds, metals and codes for tests).
# Stripe charges whole ariaries (MGA), although the ariary has five parts.
_BY_EXPONENT = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD "
        "CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP "
        "GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD "
        "LSL MAD MDL MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB "
        "PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC "
        "SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD XCG YER ZAR ZMW ZWG"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
}
# Stripe accepts only a last digit of 0 here (its documentation, "Three-decimal currencies").
_STRIPE_TENS = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})
EXPONENTS = {code: exponent for exponent, codes in _BY_EXPONENT.items() for code in codes.split()}


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
        le=MAX_PRICE_MICROS,
        description="In millionths of the shop's currency: a whole number of its smallest unit.",
        examples=[18_990_000],
    ),
]


def smallest_micros(currency: str) -> int:
    """Return the micros of a currency's smallest unit."""
    return int(10 ** (_MICROS_EXPONENT - EXPONENTS[currency]))


def step_micros(currency: str, payments: Literal["fake", "stripe"]) -> int:
    """Return the step, in micros, of the amounts that a provider charges."""
    tens = payments == "stripe" and currency in _STRIPE_TENS
    return smallest_micros(currency) * (10 if tens else 1)


def is_chargeable(micros: int, currency: str, payments: Literal["fake", "stripe"]) -> bool:
    """Return whether this provider can charge an amount."""
    return micros % step_micros(currency, payments) == 0
