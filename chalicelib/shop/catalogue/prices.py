"""Ranges of prices in lists: a product lies in a range by the price of any of its SKUs.

A product stores its least price, and apart from it the higher prices of its SKUs. An index cannot
hold two arrays, such as places and prices. So a list in the order of least prices reads a range in
two parts, each by its own index: products with their least price in the range, and cheaper products
with a higher price in it. The second part is empty in a shop with a single price per product.
"""

from collections.abc import Iterable
from typing import NamedTuple

from chalicelib.database import Document


class PriceBounds(NamedTuple):
    """A range of prices in micros, with both bounds inside. None: without a bound."""

    least: int | None = None
    greatest: int | None = None


def least_and_higher(prices: Iterable[int]) -> Document:
    """Return the price fields of a product whose SKUs have these prices; needs at least one."""
    least, *higher = sorted(set(prices))
    return {"price_micros": least, **({"higher_micros": higher} if higher else {})}


def parts(wanted: PriceBounds) -> list[list[Document]]:
    """Return the conditions of each part of a range, by rising least price.

    Each product in the range lies in a single part.
    """
    named = {"$gte": wanted.least, "$lte": wanted.greatest}
    bounds = {name: bound for name, bound in named.items() if bound is not None}
    inside = [{"price_micros": bounds}] if bounds else []
    if wanted.least is None:
        return [inside]
    cheaper = {"price_micros": {"$lt": wanted.least}, "higher_micros": {"$elemMatch": bounds}}
    return [[cheaper], inside]
