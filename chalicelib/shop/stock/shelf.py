"""Operations of carts and orders on a stock, in either store of its entries."""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
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
from chalicelib.shop.stock.shapes import StockClaim, StockEntry, find
from chalicelib.shop.stock.store import Short, StockFull, StockMoved, StockStore

Result = TypeVar("Result")
# Attempts of a call while other calls move the stock, fill its store or end entries.
_ATTEMPTS = 5


def put(runtime: Runtime, claim: StockClaim) -> None:
    """Hold the claimed units for a cart or its order, in place of the cart's earlier hold.

    Raises OutOfStock, HeldByOrder if another order has the cart's entry, and Unavailable after five
    attempts against other calls. Before it raises OutOfStock, `put` releases the overdue units of
    carts; a refusal changes nothing else.
    """
    _claim(runtime, claim, lambda store: store.put(runtime.database, claim))


def share(runtime: Runtime, claim: StockClaim) -> int:
    """Hold the claimed units up to the cart's share; return the number of held units, maybe 0.

    Raises as `put`, but OutOfStock only if a checkout could not buy the claimed units either. A
    checkout may take units of other carts, and of unpaid orders beyond their network's share.
    """
    work = partial(_claim, runtime, claim, lambda store: store.share(runtime.database, claim))
    try:
        held = work()
        if held < min(claim.qty, claim.most) and expire(runtime, claim.stock):
            held = work()
    except OutOfStock as refusal:
        if claim.qty - refusal.available > sum(e["qty"] for e in beyond_share(runtime, claim)):
            raise
        release(runtime, claim.stock, claim.cart)
        return 0
    return held


def beyond_share(runtime: Runtime, claim: StockClaim) -> list[StockEntry]:
    """Return the entries of unpaid orders that a claim may call off, the largest first."""
    stock = find(runtime.database, claim.stock)
    if stock is None or claim.source is None:
        return []
    share = shares.shares_of(stock["on_hand"], claim.percent).together
    return shares.beyond_share(entries(runtime, claim.stock), claim, share)


def put_first(runtime: Runtime, claim: StockClaim) -> list[str]:
    """Hold units for an order; return the carts without orders that lose units to it.

    Raises as `put`.
    """
    return _claim(runtime, claim, lambda store: store.put_first(runtime.database, claim))


def _claim(runtime: Runtime, claim: StockClaim, work: Callable[[StockStore], Result]) -> Result:
    for _ in range(_ATTEMPTS):
        try:
            return _in_store(runtime, claim.stock, work)
        except StockFull:
            documents.move_in(runtime.database, claim.stock)
        except Short as short:
            if not expire(runtime, claim.stock):
                raise OutOfStock(name_of(claim.stock), short.available) from None
        except StockMoved:
            raise OutOfStock(name_of(claim.stock), 0) from None
    raise Unavailable("Many are buying this now; try again")


def release(runtime: Runtime, stock_id: str, cart: str, order: str | None = None) -> int:
    """Release the units of a cart, or of its order; return their number."""
    return _take_out(runtime, stock_id, cart, order, sold=False)


def sell(runtime: Runtime, stock_id: str, cart: str, order: str) -> int:
    """Sell the units of an order off the shelf; return their number, 0 for a repeated call."""
    return _take_out(runtime, stock_id, cart, order, sold=True)


def prolong(runtime: Runtime, stock_id: str, cart: str, order: str, until: datetime) -> None:
    """Extend an order's entry to `until`; a missing entry or an earlier time changes nothing."""

    def work(store: StockStore) -> None:
        store.prolong(runtime.database, stock_id, cart, order, until)

    _in_store(runtime, stock_id, work)


def expire(runtime: Runtime, stock_id: str) -> int:
    """Release overdue units of carts; return their number."""
    now = runtime.now()
    return _in_store(runtime, stock_id, lambda store: store.expire(runtime.database, stock_id, now))


def overdue(runtime: Runtime, stock_id: str) -> list[StockEntry]:
    """Return the overdue entries of orders."""
    now = runtime.now()
    return _in_store(
        runtime, stock_id, lambda store: store.overdue(runtime.database, stock_id, now)
    )


def entries(runtime: Runtime, stock_id: str) -> list[StockEntry]:
    """Return the entries of carts and orders in a stock; none for an unknown stock."""
    try:
        return _in_store(runtime, stock_id, lambda store: store.entries(runtime.database, stock_id))
    except StockMoved:
        return []


def available(database: Database[Document], site: str, skus: Iterable[str]) -> dict[str, int]:
    """Return the units of each SKU that a checkout can buy; 0 for an unknown SKU.

    Units in carts count, too: the first checkout takes them.
    """
    keys = {key_of(site, sku): sku for sku in skus}
    rows = embedded.buyable(database, list(keys))
    units = {row["_id"]: row["units"] for row in rows}
    apart = [row["_id"] for row in rows if row["store"] == "documents"]
    for stock_id, held in (documents.in_carts(database, apart) if apart else {}).items():
        units[stock_id] += held
    return {sku: units.get(key, 0) for key, sku in keys.items()}


def _take_out(runtime: Runtime, stock_id: str, cart: str, order: str | None, *, sold: bool) -> int:
    def work(store: StockStore) -> int:
        return store.take_out(runtime.database, stock_id, cart, order, sold=sold)

    try:
        return _in_store(runtime, stock_id, work)
    except StockMoved:
        return 0


def _in_store(runtime: Runtime, stock_id: str, work: Callable[[StockStore], Result]) -> Result:
    """Return the result of `work` in the store that has the stock's entries.

    Raises StockMoved for an unknown stock, and Unavailable if the stock moved at each attempt.
    """
    stores: tuple[StockStore, StockStore] = (
        EmbeddedStock(runtime.bounds.shop.embedded_entries),
        StockOfDocuments(),
    )
    for _ in range(_ATTEMPTS):
        for store in stores:
            try:
                return work(store)
            except StockMoved:
                continue
        if find(runtime.database, stock_id) is None:
            raise StockMoved
    raise Unavailable("This stock is being moved; try again")
