"""Entries within the stock's document: one write of one document, dearer with each entry."""

from datetime import datetime
from typing import Any

from pymongo import ReturnDocument
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.shop.stock.errors import HeldByOrder
from chalicelib.shop.stock.shapes import STOCKS, Claim, Entry, Stock
from chalicelib.shop.stock.store import Full, Moved, Short

Expression = dict[str, Any]
# Looks at a stock that others change between a refusal and the look that explains it.
_ATTEMPTS = 10


class EmbeddedStock:
    """The store `embedded`; it takes `most` entries of a stock."""

    def __init__(self, most: int) -> None:
        self._most = most

    def put(self, database: Database[Document], claim: Claim) -> None:
        """Make this the cart's entry, by one update that compares and changes."""
        for _ in range(_ATTEMPTS):
            if STOCKS.of(database).update_one(self._may_put(claim), _put(claim)).matched_count:
                return
            self._explain(_found(database, claim.stock), claim)
        raise Unavailable("Many are buying this now; try again")

    def _may_put(self, claim: Claim) -> Document:
        other = {"cart": claim.cart, "order": {"$nin": [None, claim.order]}}
        enough = {"$gte": [{"$add": ["$available", _units(_of(claim.cart))]}, claim.qty]}
        has_room = {f"carted.{self._most - 1}": {"$exists": False}}
        return {
            "_id": claim.stock,
            "store": "embedded",
            "carted": {"$not": {"$elemMatch": other}},
            "$or": [{"carted.cart": claim.cart}, has_room],
            "$expr": enough,
        }

    def _explain(self, stock: Stock, claim: Claim) -> None:
        """Raise what keeps a claim from being put; return if nothing does any more."""
        own = next((each for each in stock["carted"] if each["cart"] == claim.cart), None)
        if own is not None and own["order"] not in {None, claim.order}:
            raise HeldByOrder(str(own["order"]))
        available = stock["available"] + (own["qty"] if own else 0)
        if available < claim.qty:
            raise Short(available)
        if own is None and len(stock["carted"]) >= self._most:
            raise Full

    def take_out(
        self,
        database: Database[Document],
        stock_id: str,
        cart: str,
        order: str | None,
        *,
        sold: bool,
    ) -> int:
        """Remove an entry and count its units, by one update."""
        own = {"cart": cart, "order": order}
        this = {"_id": stock_id, "store": "embedded", "carted": {"$elemMatch": own}}
        counter, sign = ("on_hand", -1) if sold else ("available", 1)
        units = {"$multiply": [sign, _units(_of(cart))]}
        change = {counter: {"$add": [f"${counter}", units]}, "carted": _filtered(_not_of(cart))}
        before = STOCKS.of(database).find_one_and_update(
            this, [{"$set": change}], return_document=ReturnDocument.BEFORE
        )
        if before is None:
            _found(database, stock_id)
            return 0
        return sum(each["qty"] for each in before["carted"] if each["cart"] == cart)

    def prolong(
        self, database: Database[Document], stock_id: str, cart: str, order: str, until: datetime
    ) -> None:
        """Keep an order's entry until later."""
        own = {"cart": cart, "order": order}
        this = {"_id": stock_id, "store": "embedded", "carted": {"$elemMatch": own}}
        later = {"$max": {"carted.$.until": until}}
        if not STOCKS.of(database).update_one(this, later).matched_count:
            _found(database, stock_id)

    def expire(self, database: Database[Document], stock_id: str, now: datetime) -> int:
        """Remove the carts' entries that have ended, and count their units, by one update."""
        ended = {"order": None, "until": {"$lte": now}}
        this = {"_id": stock_id, "store": "embedded", "carted": {"$elemMatch": ended}}
        has_ended = {"$and": [{"$eq": ["$$each.order", None]}, {"$lte": ["$$each.until", now]}]}
        change = {
            "available": {"$add": ["$available", _units(has_ended)]},
            "carted": _filtered({"$not": [has_ended]}),
        }
        before = STOCKS.of(database).find_one_and_update(
            this, [{"$set": change}], return_document=ReturnDocument.BEFORE
        )
        if before is None:
            _found(database, stock_id)
            return 0
        return sum(
            each["qty"]
            for each in before["carted"]
            if each["order"] is None and each["until"] <= now
        )

    def entries(self, database: Database[Document], stock_id: str) -> list[Entry]:
        """Return all entries."""
        return _found(database, stock_id)["carted"]

    def overdue(self, database: Database[Document], stock_id: str, now: datetime) -> list[Entry]:
        """Return the orders' entries that have ended."""
        held = self.entries(database, stock_id)
        return [each for each in held if each["order"] is not None and each["until"] <= now]


def _found(database: Database[Document], stock_id: str) -> Stock:
    """Return a stock that this store keeps; raises Moved."""
    stock = STOCKS.of(database).find_one({"_id": stock_id, "store": "embedded"})
    if stock is None:
        raise Moved
    return stock


def _put(claim: Claim) -> list[Document]:
    entry = {
        "cart": {"$literal": claim.cart},
        "qty": claim.qty,
        "until": claim.until,
        "order": {"$literal": claim.order},
    }
    taken = {"$subtract": [claim.qty, _units(_of(claim.cart))]}
    change = {
        "available": {"$subtract": ["$available", taken]},
        "carted": {"$concatArrays": [_filtered(_not_of(claim.cart)), [entry]]},
    }
    return [{"$set": change}]


def _of(cart: str) -> Expression:
    return {"$eq": ["$$each.cart", {"$literal": cart}]}


def _not_of(cart: str) -> Expression:
    return {"$ne": ["$$each.cart", {"$literal": cart}]}


def _filtered(condition: Expression) -> Expression:
    return {"$filter": {"input": "$carted", "as": "each", "cond": condition}}


def _units(condition: Expression) -> Expression:
    """Return the expression of the units of the entries that meet a condition."""
    qty = {"$map": {"input": _filtered(condition), "as": "each", "in": "$$each.qty"}}
    return {"$sum": qty}
