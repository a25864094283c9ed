"""Currencies, with their smallest units and the largest amounts; money is in micros of the unit.

The largest price depends on the currency, as some units are worth a millionth of others: the same
number buys a ship in one currency, and no laptop in another.
"""

MICROS = 1_000_000
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
EXPONENTS = {code: exponent for exponent, codes in _BY_EXPONENT.items() for code in codes.split()}

# A unit of these is worth less than two cents of a euro (rates of 2026, rounded), or may soon be.
_SMALL = (
    "AFN ALL AMD AOA ARS BDT BIF BTN CDF CLP COP CRC CVE DJF DOP DZD ETB GMD GNF GYD HTG "
    "HUF IDR INR IQD IRR ISK JMD JPY KES KGS KHR KMF KPW KRW KZT LAK LBP LKR LRD MGA MKD "
    "MMK MNT MWK MZN NGN NIO NPR PHP PKR PYG RSD RUB RWF SDG SOS SSP SYP TZS UGX UZS VES "
    "VND VUV XAF XOF XPF YER"
)
_SMALL_UNITS = frozenset(_SMALL.split())
_MAX_UNITS, _MAX_SMALL_UNITS = 10**6, 10**9
# The largest amount in any currency.
MAX_AMOUNT_MICROS = _MAX_SMALL_UNITS * MICROS
# JavaScript reads larger whole numbers inexactly.
MAX_TOTAL_MICROS = 9 * 10**15


def smallest_micros(currency: str) -> int:
    """Return the micros of a currency's smallest unit."""
    return int(10 ** (_MICROS_EXPONENT - EXPONENTS[currency]))


def max_price_micros(currency: str) -> int:
    """Return the largest price in a currency: a million units, or a thousand million small ones."""
    return (_MAX_SMALL_UNITS if currency in _SMALL_UNITS else _MAX_UNITS) * MICROS
