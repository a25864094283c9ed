"""The latest end of a cart's hold of a SKU: no renewal or removal of the line delays the end."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from chalicelib.shop.carts.shapes import Cart

# Renewals extend a hold to at most this many times the shop's `hold_seconds`.
LONGEST_HOLDS = 2
# A cart stores the start of its first hold for this many SKUs at most, and holds no further SKU.
MAX_CLOCKS = 200
# Stored as the start once a publisher ends a hold: the cart never holds the SKU again.
ENDED = datetime(1970, 1, 1, tzinfo=UTC)


class Times(NamedTuple):
    """The start of a cart's first hold of a SKU, and the end of the cart's next hold.

    `until` equal to now: the cart holds nothing. `since` None: the cart has no room for this SKU.
    """

    since: datetime | None
    until: datetime


def times(cart: Cart, sku: str, hold_seconds: int, now: datetime) -> Times:
    """Return the times of a cart's next hold of a SKU."""
    first = cart.get("first", {})
    if sku not in first and len(first) >= MAX_CLOCKS:
        return Times(None, now)
    since = first.get(sku, now)
    hold = timedelta(seconds=hold_seconds)
    return Times(since, max(now, min(now + hold, since + LONGEST_HOLDS * hold)))
