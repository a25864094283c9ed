"""The time at which a cart's hold of a SKU ends: no renewal passes it, nor does taking it again."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from chalicelib.shop.carts.shapes import Cart

# A hold is renewed until it is so many times as long as a shop's hold at most.
LONGEST_HOLDS = 2
# A cart remembers its first hold of so many SKUs; it holds no further ones.
MAX_CLOCKS = 200
# The first hold of a cart whose hold was ended by its publisher: it holds the SKU no more.
ENDED = datetime(1970, 1, 1, tzinfo=UTC)


class Times(NamedTuple):
    """The first hold of a SKU by a cart, and the end of the next one; `until` now holds nothing.

    `since` is None if the cart has held so many SKUs that it remembers no further one.
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
