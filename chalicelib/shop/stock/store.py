"""The protocol of the stores for entries of carts and orders.

Each change is one atomic write, and preserves `available + held = on_hand`.
"""

from datetime import datetime
from typing import Protocol

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.shop.stock.shapes import StockClaim, StockEntry


class StockMoved(Exception):
    """The stock's entries are in the other store, or there is no such stock."""


class Short(Exception):
    """Too few units for a claim; `available` is the number that the claim could have had."""

    def __init__(self, available: int) -> None:
        super().__init__(available)
        self.available = available


class StockFull(Exception):
    """The store takes no further entry of this stock."""


class StockStore(Protocol):
    """A store of entries. If the stock is in the other store, each method raises StockMoved."""

    def put(self, database: Database[Document], claim: StockClaim) -> None:
        """Store the claim as the cart's entry; take or release the difference in units.

        Raises Short, StockFull, and HeldByOrder if another order has the entry. An order replaces
        the entry of its cart; a cart never replaces the entry of an order.
        """
        ...

    def share(self, database: Database[Document], claim: StockClaim) -> int:
        """Store the claim as the cart's entry, up to the shares of carts; return the held units.

        Raises StockFull, HeldByOrder, and Short. Short: orders leave fewer units than the claim.
        """
        ...

    def put_first(self, database: Database[Document], claim: StockClaim) -> list[str]:
        """Store the claim as an order's entry; if it needs units, remove entries of other carts.

        Entries of other orders stay. Returns the carts of the removed entries. Raises StockFull,
        HeldByOrder, and Short. Short: orders leave too few units.
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
        """Remove the cart's entry with this `order`; return its units, 0 without such an entry.

        `sold`: the units leave `on_hand`. Otherwise they return to `available`.
        """
        ...

    def prolong(
        self, database: Database[Document], stock_id: str, cart: str, order: str, until: datetime
    ) -> None:
        """Extend an order's entry to `until`; without such an entry, do nothing."""
        ...

    def expire(self, database: Database[Document], stock_id: str, now: datetime) -> int:
        """Remove overdue entries of carts, maybe not all; return their units.

        The store `documents` removes at most 1,000 entries a call.
        """
        ...

    def entries(self, database: Database[Document], stock_id: str) -> list[StockEntry]:
        """Return all entries."""
        ...

    def overdue(
        self, database: Database[Document], stock_id: str, now: datetime
    ) -> list[StockEntry]:
        """Return the overdue entries of orders; only the state of the order ends such an entry."""
        ...
