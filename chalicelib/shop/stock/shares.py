"""The units of a SKU that carts may hold without an order: together, of one address, in one cart.

The shop's percentage applies once for all carts, again for the carts of one address, and again for
one cart: 50 percent give a half, a quarter and an eighth of the units. A share is at least one
unit, so that a cart can hold the last unit.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chalicelib.shop.stock.shapes import StockClaim, StockEntry


class Shares(NamedTuple):
    """The most units that carts hold of one SKU."""

    together: int
    address: int
    cart: int


def shares_of(on_hand: int, percent: int) -> Shares:
    """Return the shares in a stock, for the shop's percentage of all carts together."""
    together = max(1, on_hand * percent // 100)
    address = max(1, together * percent // 100)
    return Shares(together, address, max(1, address * percent // 100))


def units_for(claim: StockClaim, shares: Shares, others: int, address: int, free: int) -> int:
    """Return the units that a cart may hold, up to its claim.

    Of units without an order, other carts hold `others`; among them, carts of the claim's address
    hold `address`. `free` units are on the shelf, or in the cart already.
    """
    most = min(claim.most, shares.cart, shares.together - others, free)
    return max(0, min(most, shares.address - address) if claim.source else most)


def giving_way(entries: Iterable[StockEntry], cart: str, units: int) -> list[StockEntry]:
    """Return the first carts' entries that give way to an order, to free so many units.

    It reads no further entries: a stock may have any number of them.
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
    """Return the orders' entries of networks that hold more than a share, the largest first.

    None if the claim's own network is unknown, or would hold more than a share with it.
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
