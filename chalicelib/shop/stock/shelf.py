"""The shelf: what carts and orders do with a stock, in whichever store its entries are."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeVar

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from chalicelib.shop.ids import key_of, name_of
from chalicelib.shop.stock import documents
from chalicelib.shop.stock.documents import StockOfDocuments
from chalicelib.shop.stock.embedded import EmbeddedStock
from chalicelib.shop.stock.errors import OutOfStock
from chalicelib.shop.stock.shapes import STOCKS, Claim, Entry, find
from chalicelib.shop.stock.store import Full, Moved, Short, StockStore

Result = TypeVar("Result")
# Tries of a claim while others move the stock, fill it or let its entries end.
_ATTEMPTS = 5


def put(runtime: Runtime, claim: Claim) -> None:
    """Hold units for a cart or its order; what it held before is counted in.

    Raises OutOfStock, HeldByOrder if an order has the cart's entry, and Unavailable if others
    keep moving the stock. A refusal changes nothing. Entries of others that have ended are ended
    before anybody is refused.
    """
    for _ in range(_ATTEMPTS):
        try:
            _kept(runtime, claim.stock, lambda store: store.put(runtime.database, claim))
        except Full:
            documents.move_in(runtime.database, claim.stock)
        except Short as short:
            if not expire(runtime, claim.stock):
                raise OutOfStock(name_of(claim.stock), short.available) from None
        except Moved:
            raise OutOfStock(name_of(claim.stock), 0) from None
        else:
            return
    raise Unavailable("Many are buying this now; try again")


def release(runtime: Runtime, stock_id: str, cart: str, order: str | None = None) -> int:
    """Make what a cart, or its order, holds available again; return how many units it was."""
    return _taken_out(runtime, stock_id, cart, order, sold=False)


def sell(runtime: Runtime, stock_id: str, cart: str, order: str) -> int:
    """Take what an order holds off the shelf; return how many units, 0 if it was done before."""
    return _taken_out(runtime, stock_id, cart, order, sold=True)


def prolong(runtime: Runtime, stock_id: str, cart: str, order: str, until: datetime) -> None:
    """Keep what an order holds until later."""

    def work(store: StockStore) -> None:
        store.prolong(runtime.database, stock_id, cart, order, until)

    _kept(runtime, stock_id, work)


def expire(runtime: Runtime, stock_id: str) -> int:
    """Make available what carts have held for long enough; return how many units it was."""
    now = runtime.now()
    return _kept(runtime, stock_id, lambda store: store.expire(runtime.database, stock_id, now))


def overdue(runtime: Runtime, stock_id: str) -> list[Entry]:
    """Return the entries of orders that were to be decided by now."""
    now = runtime.now()
    return _kept(runtime, stock_id, lambda store: store.overdue(runtime.database, stock_id, now))


def entries(runtime: Runtime, stock_id: str) -> list[Entry]:
    """Return what carts and orders hold of a stock; nothing of one that is unknown."""
    try:
        return _kept(runtime, stock_id, lambda store: store.entries(runtime.database, stock_id))
    except Moved:
        return []


def available(database: Database[Document], site: str, skus: Iterable[str]) -> dict[str, int]:
    """Return how many of each SKU are available; 0 of those that are unknown."""
    keys = {key_of(site, sku): sku for sku in skus}
    rows = STOCKS.of(database).find({"_id": {"$in": list(keys)}}, {"available": 1})
    found = {keys[row["_id"]]: row["available"] for row in rows}
    return {sku: found.get(sku, 0) for sku in keys.values()}


def _taken_out(runtime: Runtime, stock_id: str, cart: str, order: str | None, *, sold: bool) -> int:
    def work(store: StockStore) -> int:
        return store.take_out(runtime.database, stock_id, cart, order, sold=sold)

    try:
        return _kept(runtime, stock_id, work)
    except Moved:
        return 0


def _kept(runtime: Runtime, stock_id: str, work: Callable[[StockStore], Result]) -> Result:
    """Return what `work` does in the store that has the stock; raises Moved for an unknown one."""
    stores: tuple[StockStore, StockStore] = (
        EmbeddedStock(runtime.bounds.shop.embedded_entries),
        StockOfDocuments(),
    )
    for _ in range(_ATTEMPTS):
        for store in stores:
            try:
                return work(store)
            except Moved:
                continue
        if find(runtime.database, stock_id) is None:
            raise Moved
    raise Unavailable("This stock is being moved; try again")
