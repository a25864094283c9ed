"""Pricing: what an order costs beside its lines, by one pure function that is registered."""

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

Kind = Literal["shipping", "tax", "discount", "other"]
MAX_ADJUSTMENTS = 20


class PricedLine(TypedDict):
    """What is bought of one SKU."""

    sku: str
    qty: int
    price_micros: int


class Adjustment(TypedDict):
    """An amount beside the lines, negative for a discount."""

    kind: Kind
    label: str
    amount_micros: int


# Where an order goes: the country (ISO 3166-1) and the postal code.
Place = tuple[str, str]
Pricing = Callable[[Sequence[PricedLine], Place | None], list[Adjustment]]


def no_adjustments(_lines: Sequence[PricedLine], _place: Place | None) -> list[Adjustment]:
    """Return nothing: the lines are the price."""
    return []


_registered: list[Pricing] = [no_adjustments]


def register(pricing: Pricing) -> None:
    """Make this the deployment's pricing; it may depend on its arguments alone."""
    _registered[0] = pricing


def adjustments(lines: Sequence[PricedLine], place: Place | None) -> list[Adjustment]:
    """Return what is added to the lines of an order; raises ValueError for too many."""
    found = _registered[0](lines, place)
    if len(found) > MAX_ADJUSTMENTS:
        raise ValueError(f"an order has at most {MAX_ADJUSTMENTS} adjustments")
    return found


def total_micros(lines: Sequence[PricedLine], adjusted: Sequence[Adjustment]) -> int:
    """Return what an order costs."""
    bought = sum(each["qty"] * each["price_micros"] for each in lines)
    return bought + sum(each["amount_micros"] for each in adjusted)
