"""Pricing: a registered pure function adds shipping, taxes and discounts to an order."""

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

Kind = Literal["shipping", "tax", "discount", "other"]
MAX_ADJUSTMENTS = 20


class PricedLine(TypedDict):
    """The units of one SKU in an order, with the price of one unit."""

    sku: str
    qty: int
    price_micros: int


class Adjustment(TypedDict):
    """An amount beside the lines, negative for a discount."""

    kind: Kind
    label: str
    amount_micros: int


# The destination of an order: country (ISO 3166-1) and postal code.
Place = tuple[str, str]
Pricing = Callable[[Sequence[PricedLine], Place | None], list[Adjustment]]


def no_adjustments(_lines: Sequence[PricedLine], _place: Place | None) -> list[Adjustment]:
    """Return no adjustments: the lines are the price."""
    return []


_registered: list[Pricing] = [no_adjustments]


def register(pricing: Pricing) -> None:
    """Set the deployment's pricing, a function of its arguments alone."""
    _registered[0] = pricing


def adjustments(lines: Sequence[PricedLine], place: Place | None) -> list[Adjustment]:
    """Return the adjustments of an order; raises ValueError for over 20."""
    found = _registered[0](lines, place)
    if len(found) > MAX_ADJUSTMENTS:
        raise ValueError(f"an order has at most {MAX_ADJUSTMENTS} adjustments")
    return found


def total_micros(lines: Sequence[PricedLine], adjusted: Sequence[Adjustment]) -> int:
    """Return the total of an order: its lines and adjustments, in micros."""
    bought = sum(each["qty"] * each["price_micros"] for each in lines)
    return bought + sum(each["amount_micros"] for each in adjusted)
