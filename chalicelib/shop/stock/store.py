"""The protocol of the stores for entries of carts and orders.

Each method is one atomic write, and keeps `available + held = on_hand`.
"""

from datetime import datetime
from typing import Protocol

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.shop.stock.shapes import StockClaim, StockEntry


class StockMoved(Exception):
    """The stock's entries are in the other store, or there is no such stock."""


class Short(Exception):
    """The claim exceeds the units; `available` includes the units of the claim's cart."""

    def __init__(self, available: int) -> None:
        super().__init__(available)
        self.available = available


class StockFull(Exception):
    """The store takes no further entry of this stock."""


class StockStore(Protocol):
    """A store of entries. If the stock is in the other store, each method raises StockMoved."""

    def put(self, database: Database[Document], claim: StockClaim) -> None:
        """Make this the cart's entry, and take or release the difference.

        Raises Short, StockFull, and HeldByOrder if another order has the entry. An order replaces
        the entry of its cart; a cart never replaces the entry of an order.
        """
        ...

    def share(self, database: Database[Document], claim: StockClaim) -> int:
        """Make this the cart's entry, up to the shares of carts; return its units.

        Raises Short if orders have too many to buy the claimed units, StockFull, and HeldByOrder.
        """
        ...

    def put_first(self, database: Database[Document], claim: StockClaim) -> list[str]:
        """Make this an order's entry; carts that only hold give way, as many as it takes.

        Returns these carts. Raises Short if orders have too many, StockFull, and HeldByOrder.
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

        `sold` units leave the shelf; otherwise they are available again.
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

    def entries(self, database: Database[Document], stock_id: str) -> list[StockEntry]:
        """Return all entries."""
        ...

    def overdue(
        self, database: Database[Document], stock_id: str, now: datetime
    ) -> list[StockEntry]:
        """Return the overdue entries of orders: the state of the order decides about each."""
        ...
