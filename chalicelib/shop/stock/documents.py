"""The store `documents`: each entry is a document, and one transaction changes entry and counters.

Every write but `prolong` raises the stock's `version`, and so conflicts with a move of the stock.
"""

from datetime import datetime
from typing import TypedDict

from pymongo import ASCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.shop.errors import HeldByOrder
from chalicelib.shop.stock.shapes import (
    HOLDS,
    STOCKS,
    HoldId,
    Stock,
    StockClaim,
    StockEntry,
    StoredHold,
    entry_of,
)
from chalicelib.shop.stock.shares import giving_way, shares_of, units_for
from chalicelib.shop.stock.store import Short, StockMoved

# The most entries that one call of `expire` ends; a later call ends more.
MAX_ENDED = 1_000


class _Units(TypedDict):
    _id: str | None
    units: int


class StockOfDocuments:
    """The store `documents`; it takes any number of entries."""

    def put(self, database: Database[Document], claim: StockClaim) -> None:
        """Store the claim as the cart's entry; take or release the difference in units."""

        def work(session: ClientSession) -> None:
            _, held = _take_for(database, claim, session)
            _count(database, claim.stock, session, available=held - claim.qty)
            _write(database, claim, claim.qty, session)

        in_transaction(database, work)

    def share(self, database: Database[Document], claim: StockClaim) -> int:
        """Store the claim as the cart's entry, up to the shares of carts; return the held units."""

        def work(session: ClientSession) -> int:
            stock, own = _take_for(database, claim, session, counts_carts=True)
            others = _in_carts(database, claim, session)
            free = stock["available"] + own
            if free + sum(others.values()) < claim.qty:
                raise Short(free + sum(others.values()))
            address = others.get(claim.source, 0)
            shares = shares_of(stock["on_hand"], claim.percent)
            units = units_for(claim, shares, sum(others.values()), address, free)
            _count(database, claim.stock, session, available=own - units)
            _write(database, claim, units, session)
            return units

        return in_transaction(database, work)

    def put_first(self, database: Database[Document], claim: StockClaim) -> list[str]:
        """Store the claim as an order's entry; return the carts without orders that lose units.

        The cart whose hold ends first loses its units first. Raises Short.
        """

        def work(session: ClientSession) -> list[str]:
            stock, own = _take_for(database, claim, session, counts_carts=True)
            free = stock["available"] + own
            in_carts = {"_id.stock": claim.stock, "order": None}
            rows = HOLDS.of(database).find(in_carts, session=session).sort("until", ASCENDING)
            with rows:
                others = giving_way(map(_entry, rows), claim.cart, claim.qty - free)
            freed = sum(each["qty"] for each in others)
            if free + freed < claim.qty:
                raise Short(free + freed)
            carts = [each["cart"] for each in others]
            ended = {
                "_id.stock": claim.stock,
                "_id": {"$in": [_key(claim.stock, each) for each in carts]},
            }
            HOLDS.of(database).delete_many(ended, session=session)
            _count(database, claim.stock, session, available=own + freed - claim.qty)
            _write(database, claim, claim.qty, session)
            return carts

        return in_transaction(database, work)

    def take_out(
        self,
        database: Database[Document],
        stock_id: str,
        cart: str,
        order: str | None,
        *,
        sold: bool,
    ) -> int:
        """Remove an entry and change a counter; return the entry's units, 0 without the entry."""

        def work(session: ClientSession) -> int:
            own = {"_id": _key(stock_id, cart), "order": order}
            taken = HOLDS.of(database).find_one_and_delete(own, session=session)
            if taken is None:
                _find(database, stock_id, session)
                return 0
            _take(database, stock_id, session)
            if sold:
                _count(database, stock_id, session, on_hand=-taken["qty"])
            else:
                _count(database, stock_id, session, available=taken["qty"])
            return taken["qty"]

        return in_transaction(database, work)

    def prolong(
        self, database: Database[Document], stock_id: str, cart: str, order: str, until: datetime
    ) -> None:
        """Prolong an order's entry; never shorten it."""
        own = {"_id": _key(stock_id, cart), "order": order}
        # An order's entry prevents a move of its stock, so no version needs to rise.
        later = {"$max": {"until": until}}
        if not HOLDS.of(database).update_one(own, later).matched_count:
            _find(database, stock_id)

    def expire(self, database: Database[Document], stock_id: str, now: datetime) -> int:
        """Release at most MAX_ENDED overdue entries of carts; return the number of their units."""
        ended = {"_id.stock": stock_id, "order": None, "until": {"$lte": now}}

        def work(session: ClientSession) -> int:
            _take(database, stock_id, session)
            rows = list(HOLDS.of(database).find(ended, session=session).limit(MAX_ENDED))
            which = {"_id.stock": stock_id, "_id": {"$in": [each["_id"] for each in rows]}}
            HOLDS.of(database).delete_many(which, session=session)
            units = sum(each["qty"] for each in rows)
            _count(database, stock_id, session, available=units)
            return units

        _find(database, stock_id)
        return in_transaction(database, work) if HOLDS.of(database).find_one(ended) else 0

    def entries(self, database: Database[Document], stock_id: str) -> list[StockEntry]:
        """Return all entries; raises StockMoved."""
        return _reading(database, stock_id, {})

    def overdue(
        self, database: Database[Document], stock_id: str, now: datetime
    ) -> list[StockEntry]:
        """Return the overdue entries of orders."""
        return _reading(database, stock_id, {"order": {"$ne": None}, "until": {"$lte": now}})


def in_carts(database: Database[Document], stock_ids: list[str]) -> dict[str, int]:
    """Return the units that carts without an order hold, by stock."""
    of_carts = {"_id.stock": {"$in": stock_ids}, "order": None}
    units = {"$group": {"_id": "$_id.stock", "units": {"$sum": "$qty"}}}
    rows = HOLDS.read_as(_Units, database).aggregate([{"$match": of_carts}, units])
    return {str(row["_id"]): row["units"] for row in rows}


def move_in(database: Database[Document], stock_id: str) -> None:
    """Move a stock to this store, with the entries in its document; do nothing if it is here."""

    def work(session: ClientSession) -> None:
        here = {"_id": stock_id, "store": "embedded"}
        stock = STOCKS.of(database).find_one(here, session=session)
        if stock is None:
            return
        change = {"$set": {"store": "documents", "carted": []}, "$inc": {"version": 1}}
        STOCKS.of(database).update_one(here, change, session=session)
        if stock["carted"]:
            rows = [_to_row(stock_id, each) for each in stock["carted"]]
            HOLDS.of(database).insert_many(rows, session=session)

    in_transaction(database, work)


def move_out(database: Database[Document], stock_id: str) -> bool:
    """Move a stock without entries back to `embedded`; return whether it moved.

    A stock without entries has all units available. A transaction that adds an entry meanwhile
    conflicts with this write.
    """
    is_free = {"$eq": ["$available", "$on_hand"]}
    this = {"_id": stock_id, "store": "documents", "$expr": is_free}
    change = {"$set": {"store": "embedded"}, "$inc": {"version": 1}}
    return STOCKS.of(database).update_one(this, change).matched_count > 0


def _reading(database: Database[Document], stock_id: str, where: Document) -> list[StockEntry]:
    def work(session: ClientSession) -> list[StockEntry]:
        _find(database, stock_id, session)
        rows = HOLDS.of(database).find({"_id.stock": stock_id, **where}, session=session)
        return [_entry(each) for each in rows]

    return in_transaction(database, work)


def _find(
    database: Database[Document], stock_id: str, session: ClientSession | None = None
) -> Stock:
    """Return a stock; raises StockMoved if it is unknown or in the other store."""
    this = {"_id": stock_id, "store": "documents"}
    stock = STOCKS.of(database).find_one(this, session=session)
    if stock is None:
        raise StockMoved
    return stock


def _take(database: Database[Document], stock_id: str, session: ClientSession) -> Stock:
    """Raise the version of a stock, and return the stock; raises StockMoved as `_find`.

    First in a transaction: a conflict with another writer then comes before the reads of holds, of
    which a popular SKU has thousands.
    """
    this = {"_id": stock_id, "store": "documents"}
    stock = STOCKS.of(database).find_one_and_update(this, {"$inc": {"version": 1}}, session=session)
    if stock is None:
        raise StockMoved
    return stock


def _take_for(
    database: Database[Document],
    claim: StockClaim,
    session: ClientSession,
    *,
    counts_carts: bool = False,
) -> tuple[Stock, int]:
    """Take a stock for a claim; return it, and the units of the cart's entry.

    Raises Short if too little is left, and does not write then: all carts at a SKU that is sold out
    would conflict with each other, and with the orders that hold its units. With `counts_carts`,
    the caller also takes units of other carts, and counts them itself.
    """
    enough = {"_id": claim.stock, "store": "documents", "available": {"$gte": claim.qty}}
    taken = STOCKS.of(database).find_one_and_update(
        enough, {"$inc": {"version": 1}}, session=session
    )
    own = _own(database, claim, session)
    if taken is not None:
        return taken, own
    free = _find(database, claim.stock, session)["available"] + own
    others = {"_id.stock": claim.stock, "order": None, "_id.cart": {"$ne": claim.cart}}
    may_give = counts_carts and HOLDS.of(database).find_one(others, session=session) is not None
    if free < claim.qty and not may_give:
        raise Short(free)
    return _take(database, claim.stock, session), own


def _own(database: Database[Document], claim: StockClaim, session: ClientSession) -> int:
    """Return the units of the cart's entry; raises HeldByOrder if another order has the entry."""
    this = {"_id": _key(claim.stock, claim.cart)}
    own = HOLDS.of(database).find_one(this, session=session)
    if own is not None and own["order"] not in {None, claim.order}:
        raise HeldByOrder(str(own["order"]))
    return own["qty"] if own else 0


def _in_carts(
    database: Database[Document], claim: StockClaim, session: ClientSession
) -> dict[str | None, int]:
    """Return the units that other carts hold without an order, by the network of the buyer."""
    others = {"_id.stock": claim.stock, "order": None, "_id.cart": {"$ne": claim.cart}}
    units = {"$group": {"_id": "$source", "units": {"$sum": "$qty"}}}
    rows = HOLDS.read_as(_Units, database).aggregate([{"$match": others}, units], session=session)
    return {row["_id"]: row["units"] for row in rows}


def _write(
    database: Database[Document], claim: StockClaim, qty: int, session: ClientSession
) -> None:
    """Write the claim's entry, or remove it if it has no units."""
    this = {"_id": _key(claim.stock, claim.cart)}
    if qty:
        entry = _to_row(claim.stock, entry_of(claim, qty))
        HOLDS.of(database).replace_one(this, entry, upsert=True, session=session)
    else:
        HOLDS.of(database).delete_one(this, session=session)


def _count(
    database: Database[Document], stock_id: str, session: ClientSession, **changes: int
) -> None:
    """Change counters of a stock that the transaction has taken."""
    STOCKS.of(database).update_one({"_id": stock_id}, {"$inc": changes}, session=session)


def _key(stock_id: str, cart: str) -> HoldId:
    return {"stock": stock_id, "cart": cart}


def _to_row(stock_id: str, entry: StockEntry) -> StoredHold:
    stored = StoredHold(
        _id=_key(stock_id, entry["cart"]),
        qty=entry["qty"],
        until=entry["until"],
        order=entry["order"],
    )
    if "since" in entry:
        stored["since"] = entry["since"]
    if "source" in entry:
        stored["source"] = entry["source"]
    return stored


def _entry(row: StoredHold) -> StockEntry:
    entry = StockEntry(
        cart=row["_id"]["cart"], qty=row["qty"], until=row["until"], order=row["order"]
    )
    if "since" in row:
        entry["since"] = row["since"]
    if "source" in row:
        entry["source"] = row["source"]
    return entry
