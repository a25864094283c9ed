"""The shelf: what carts and orders do with a stock, in whichever store its entries are."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeVar

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from chalicelib.shop.errors import OutOfStock
from chalicelib.shop.ids import key_of, name_of
from chalicelib.shop.stock import documents, embedded, shares
from chalicelib.shop.stock.documents import StockOfDocuments
from chalicelib.shop.stock.embedded import EmbeddedStock
from chalicelib.shop.stock.shapes import Claim, Entry, find
from chalicelib.shop.stock.store import Full, Moved, Short, StockStore

Result = TypeVar("Result")
# Tries of a claim while others move the stock, fill it or let its entries end.
_ATTEMPTS = 5


def put(runtime: Runtime, claim: Claim) -> None:
    """Hold units for a cart or its order; the units that it held before are counted in.

    Raises OutOfStock, HeldByOrder if an order has the cart's entry, and Unavailable if others
    keep moving the stock. A refusal changes nothing. Entries of others that have ended are ended
    before a claim is refused.
    """
    _claim(runtime, claim, lambda store: store.put(runtime.database, claim))


def share(runtime: Runtime, claim: Claim) -> int:
    """Hold as many of the claimed units as carts may, and return how many.

    Raises as `put`, and OutOfStock only if orders have too many of them: an order may take over
    the units that other carts hold, or orders beyond their share.
    """

    def work() -> int:
        return _claim(runtime, claim, lambda store: store.share(runtime.database, claim))

    try:
        held = work()
    except OutOfStock as refusal:
        left = claim.qty - refusal.available
        if left > sum(each["qty"] for each in beyond_share(runtime, claim)):
            raise
        release(runtime, claim.stock, claim.cart)
        return 0
    return work() if held < min(claim.qty, claim.most) and expire(runtime, claim.stock) else held


def beyond_share(runtime: Runtime, claim: Claim) -> list[Entry]:
    """Return the entries of unpaid orders that a claim may have called off, the largest first."""
    stock = find(runtime.database, claim.stock)
    if stock is None or claim.source is None:
        return []
    share = shares.shares_of(stock["on_hand"], claim.percent).together
    return shares.beyond_share(entries(runtime, claim.stock), claim, share)


def put_first(runtime: Runtime, claim: Claim) -> list[str]:
    """Hold units for an order before carts that only hold; return the carts that gave way.

    Raises as `put`.
    """
    return _claim(runtime, claim, lambda store: store.put_first(runtime.database, claim))


def _claim(runtime: Runtime, claim: Claim, work: Callable[[StockStore], Result]) -> Result:
    for _ in range(_ATTEMPTS):
        try:
            return _kept(runtime, claim.stock, work)
        except Full:
            documents.move_in(runtime.database, claim.stock)
        except Short as short:
            if not expire(runtime, claim.stock):
                raise OutOfStock(name_of(claim.stock), short.available) from None
        except Moved:
            raise OutOfStock(name_of(claim.stock), 0) from None
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
    """Return how many of each SKU can be bought; 0 of those that are unknown.

    Units that carts hold without an order are among them: who checks out first has them.
    """
    keys = {key_of(site, sku): sku for sku in skus}
    rows = embedded.buyable(database, list(keys))
    units = {row["_id"]: row["units"] for row in rows}
    apart = [row["_id"] for row in rows if row["store"] == "documents"]
    for stock_id, held in (documents.in_carts(database, apart) if apart else {}).items():
        units[stock_id] += held
    return {sku: units.get(key, 0) for key, sku in keys.items()}


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
