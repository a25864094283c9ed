"""Limits on the units of a SKU that carts hold without an order.

There are three shares: of all carts together, of the carts of one address, and of one cart. Each
share is the shop's percentage of the share before: at 50 percent a half, a quarter and an eighth
of the units. A share is at least one unit, so that a cart can hold the last unit.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chalicelib.shop.stock.shapes import StockClaim, StockEntry


class Shares(NamedTuple):
    """The most units of a SKU: in all carts together, in the carts of an address, in one cart."""

    together: int
    address: int
    cart: int


def shares_of(on_hand: int, percent: int) -> Shares:
    """Return the shares of `on_hand` units; `percent` is the shop's percentage."""
    together = max(1, on_hand * percent // 100)
    address = max(1, together * percent // 100)
    return Shares(together, address, max(1, address * percent // 100))


def units_for(claim: StockClaim, shares: Shares, others: int, address: int, free: int) -> int:
    """Return the number of units that a cart may hold, up to `claim.most`.

    Without an order, other carts hold `others` units; other carts of the claim's address hold
    `address` of these. `free` counts the units on the shelf and in the claim's own cart. A claim
    without a `source` has no limit by address.
    """
    most = min(claim.most, shares.cart, shares.together - others, free)
    return max(0, min(most, shares.address - address) if claim.source else most)


def giving_way(entries: Iterable[StockEntry], cart: str, units: int) -> list[StockEntry]:
    """Return entries of other carts, in the given order, until they free `units` for an order.

    Skips the entries of orders. Stops as soon as it has enough: a stock may have many entries.
    """
    found: list[StockEntry] = []
    for entry in entries if units > 0 else ():
        if entry["order"] is None and entry["cart"] != cart:
            found.append(entry)
            units -= entry["qty"]
            if units <= 0:
                break
    return found


def beyond_share(entries: Sequence[StockEntry], claim: StockClaim, share: int) -> list[StockEntry]:
    """Return the entries of orders from networks that exceed `share`, the largest entry first.

    A network exceeds it if its orders hold more than `share` units. Returns no entries if the
    claim's network is unknown, or would exceed it with the claim.
    """
    orders = [each for each in entries if each["order"] and each["cart"] != claim.cart]
    units: Counter[str] = Counter()
    for each in orders:
        units[each.get("source", "")] += each["qty"]
    if claim.source is None or units[claim.source] + claim.qty > share:
        return []
    beyond = {source for source in units if source and units[source] > share}
    found = [each for each in orders if each.get("source") in beyond]
    return sorted(found, key=lambda each: -each["qty"])
