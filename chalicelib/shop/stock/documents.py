"""Entries as documents of their own, and the counters in the stock's: one transaction each.

Every write raises the stock's `version`, so that it conflicts with a move of the stock.
"""

from datetime import datetime

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.shop.stock.errors import HeldByOrder
from chalicelib.shop.stock.shapes import HOLDS, STOCKS, Claim, Entry, HoldId, Stock, StoredHold
from chalicelib.shop.stock.store import Moved, Short

# Entries that one transaction ends; the next run ends the others.
MAX_ENDED = 1_000


class StockOfDocuments:
    """The store `documents`; it takes any number of entries."""

    def put(self, database: Database[Document], claim: Claim) -> None:
        """Make this the cart's entry."""
        key = _key(claim.stock, claim.cart)

        def work(session: ClientSession) -> None:
            stock = _found(database, claim.stock, session)
            own = HOLDS.of(database).find_one({"_id": key}, session=session)
            if own is not None and own["order"] not in {None, claim.order}:
                raise HeldByOrder(str(own["order"]))
            held = own["qty"] if own else 0
            if stock["available"] + held < claim.qty:
                raise Short(stock["available"] + held)
            _count(database, claim.stock, session, available=held - claim.qty)
            entry = StoredHold(_id=key, qty=claim.qty, until=claim.until, order=claim.order)
            HOLDS.of(database).replace_one({"_id": key}, entry, upsert=True, session=session)

        in_transaction(database, work)

    def take_out(
        self,
        database: Database[Document],
        stock_id: str,
        cart: str,
        order: str | None,
        *,
        sold: bool,
    ) -> int:
        """Remove an entry and count its units."""

        def work(session: ClientSession) -> int:
            _found(database, stock_id, session)
            own = {"_id": _key(stock_id, cart), "order": order}
            taken = HOLDS.of(database).find_one_and_delete(own, session=session)
            if taken is None:
                return 0
            if sold:
                _count(database, stock_id, session, on_hand=-taken["qty"])
            else:
                _count(database, stock_id, session, available=taken["qty"])
            return taken["qty"]

        return in_transaction(database, work)

    def prolong(
        self, database: Database[Document], stock_id: str, cart: str, order: str, until: datetime
    ) -> None:
        """Keep an order's entry until later."""
        own = {"_id": _key(stock_id, cart), "order": order}
        # An order's entry keeps its stock from being moved, so nothing else has to be written.
        later = {"$max": {"until": until}}
        if not HOLDS.of(database).update_one(own, later).matched_count:
            _found(database, stock_id)

    def expire(self, database: Database[Document], stock_id: str, now: datetime) -> int:
        """Remove the carts' entries that have ended, and count their units."""
        ended = {"_id.stock": stock_id, "order": None, "until": {"$lte": now}}

        def work(session: ClientSession) -> int:
            _found(database, stock_id, session)
            found = HOLDS.of(database).find(ended, session=session).limit(MAX_ENDED)
            rows = list(found)
            units = sum(each["qty"] for each in rows)
            if rows:
                ids = [each["_id"] for each in rows]
                which = {"_id.stock": stock_id, "_id": {"$in": ids}}
                HOLDS.of(database).delete_many(which, session=session)
                _count(database, stock_id, session, available=units)
            return units

        return in_transaction(database, work)

    def entries(self, database: Database[Document], stock_id: str) -> list[Entry]:
        """Return all entries; raises Moved."""
        return _reading(database, stock_id, {})

    def overdue(self, database: Database[Document], stock_id: str, now: datetime) -> list[Entry]:
        """Return the orders' entries that have ended."""
        return _reading(database, stock_id, {"order": {"$ne": None}, "until": {"$lte": now}})


def move_in(database: Database[Document], stock_id: str) -> None:
    """Move a stock's entries here from its document; if they are here already, do nothing."""

    def work(session: ClientSession) -> None:
        here = {"_id": stock_id, "store": "embedded"}
        stock = STOCKS.of(database).find_one(here, session=session)
        if stock is None:
            return
        change = {"$set": {"store": "documents", "carted": []}, "$inc": {"version": 1}}
        STOCKS.of(database).update_one(here, change, session=session)
        if stock["carted"]:
            rows = [_stored(stock_id, each) for each in stock["carted"]]
            HOLDS.of(database).insert_many(rows, session=session)

    in_transaction(database, work)


def move_out(database: Database[Document], stock_id: str) -> bool:
    """Keep a stock `embedded` again if nothing of it is held; return whether it is now.

    Everything is available then. A transaction that would hold something conflicts with this.
    """
    is_free = {"$eq": ["$available", "$on_hand"]}
    this = {"_id": stock_id, "store": "documents", "$expr": is_free}
    change = {"$set": {"store": "embedded"}, "$inc": {"version": 1}}
    return STOCKS.of(database).update_one(this, change).matched_count > 0


def _reading(database: Database[Document], stock_id: str, where: Document) -> list[Entry]:
    def work(session: ClientSession) -> list[Entry]:
        _found(database, stock_id, session)
        rows = HOLDS.of(database).find({"_id.stock": stock_id, **where}, session=session)
        return [_entry(each) for each in rows]

    return in_transaction(database, work)


def _found(
    database: Database[Document], stock_id: str, session: ClientSession | None = None
) -> Stock:
    """Return a stock that this store keeps; raises Moved."""
    this = {"_id": stock_id, "store": "documents"}
    stock = STOCKS.of(database).find_one(this, session=session)
    if stock is None:
        raise Moved
    return stock


def _count(
    database: Database[Document], stock_id: str, session: ClientSession, **changes: int
) -> None:
    change = {"$inc": {**changes, "version": 1}}
    STOCKS.of(database).update_one({"_id": stock_id}, change, session=session)


def _key(stock_id: str, cart: str) -> HoldId:
    return {"stock": stock_id, "cart": cart}


def _stored(stock_id: str, entry: Entry) -> StoredHold:
    return {
        "_id": _key(stock_id, entry["cart"]),
        "qty": entry["qty"],
        "until": entry["until"],
        "order": entry["order"],
    }


def _entry(row: StoredHold) -> Entry:
    return {
        "cart": row["_id"]["cart"],
        "qty": row["qty"],
        "until": row["until"],
        "order": row["order"],
    }
