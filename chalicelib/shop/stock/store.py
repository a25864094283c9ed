"""The protocol of the stores of stock: where the entries of carts and orders are kept.

Each method is one atomic write, and keeps `available + held = on_hand`.
"""

from datetime import datetime
from typing import Protocol

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.shop.stock.shapes import Claim, Entry


class Moved(Exception):
    """The stock's entries are in the other store, or there is no such stock."""


class Short(Exception):
    """The claim asks for more than there is; `available` has what the cart holds, too."""

    def __init__(self, available: int) -> None:
        super().__init__(available)
        self.available = available


class Full(Exception):
    """The store takes no further entry of this stock."""


class StockStore(Protocol):
    """A store of entries. Every method raises Moved if the stock is not kept in it."""

    def put(self, database: Database[Document], claim: Claim) -> None:
        """Make this the cart's entry, and take or give back the difference.

        Raises Short, Full, and HeldByOrder if the entry is another order's. An order takes over
        the entry of its cart; a cart never that of an order.
        """
        ...

    def share(self, database: Database[Document], claim: Claim) -> int:
        """Make the cart's entry as many of its units as carts may hold; return how many.

        Raises Short if orders have too many to buy the claimed units, Full, and HeldByOrder.
        """
        ...

    def put_first(self, database: Database[Document], claim: Claim) -> list[str]:
        """Make this an order's entry; carts that only hold give way, as many as it takes.

        Returns these carts. Raises Short if other orders have too many, Full, and HeldByOrder.
        """
        ...

    def take_out(
        self,
        database: Database[Document],
        stock_id: str,
        cart: str,
        order: str | None,
        *,
        sold: bool,
    ) -> int:
        """Remove the cart's entry if it is this order's; return its units, 0 if there is none.

        `sold` units leave the shelf; others are available again.
        """
        ...

    def prolong(
        self, database: Database[Document], stock_id: str, cart: str, order: str, until: datetime
    ) -> None:
        """Keep an order's entry until later; without one, do nothing."""
        ...

    def expire(self, database: Database[Document], stock_id: str, now: datetime) -> int:
        """Remove the entries that have ended and are no order's; return their units."""
        ...

    def entries(self, database: Database[Document], stock_id: str) -> list[Entry]:
        """Return all entries."""
        ...

    def overdue(self, database: Database[Document], stock_id: str, now: datetime) -> list[Entry]:
        """Return entries of orders that have ended: their orders are to be asked."""
        ...
