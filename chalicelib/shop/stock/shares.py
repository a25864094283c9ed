"""The units of a SKU that carts may hold without an order: together, of one address, in one cart.

The shop's percentage is taken once for all carts, again for the carts of one address, and again for
one cart: of 50, half, a quarter and an eighth of the units. No share is less than one unit, so that
the last one can be held, too.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from chalicelib.shop.stock.shapes import Claim, Entry


class Shares(NamedTuple):
    """The most units that carts hold of one SKU."""

    together: int
    address: int
    cart: int


def shares_of(on_hand: int, percent: int) -> Shares:
    """Return the shares in a stock, of which carts together hold so many percent at most."""
    together = max(1, on_hand * percent // 100)
    address = max(1, together * percent // 100)
    return Shares(together, address, max(1, address * percent // 100))


def units_for(claim: Claim, shares: Shares, others: int, address: int, free: int) -> int:
    """Return the units that a cart may hold, of those that it claims.

    Units of carts without an order: `others` hold so many together, of which `address` are of other
    carts of the claim's own address. `free` are on the shelf, or in the cart already.
    """
    most = min(claim.most, shares.cart, shares.together - others, free)
    return max(0, min(most, shares.address - address) if claim.source else most)


def giving_way(entries: Sequence[Entry], cart: str, units: int) -> list[str]:
    """Return the carts, in order, that give way to an order so that so many units are free."""
    carts = []
    for entry in entries:
        if units > 0 and entry["order"] is None and entry["cart"] != cart:
            carts.append(entry["cart"])
            units -= entry["qty"]
    return carts


def beyond_share(entries: Sequence[Entry], claim: Claim, share: int) -> list[Entry]:
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
