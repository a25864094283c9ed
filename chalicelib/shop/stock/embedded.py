"""The store `embedded`: entries within the stock's document, each change one update of it.

The cost of an update grows with the number of entries.
"""

from datetime import datetime
from typing import Any, TypedDict

from pymongo import ReturnDocument
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.shop.errors import HeldByOrder
from chalicelib.shop.stock.shapes import STOCKS, Stock, StockClaim, StockEntry, StoreName, entry_of
from chalicelib.shop.stock.shares import giving_way
from chalicelib.shop.stock.store import Short, StockFull, StockMoved

Expression = dict[str, Any]
# Tries: another call may remove the reason of a refusal before the read that looks for it.
_ATTEMPTS = 10
_IN_CART: Expression = {"$eq": ["$$each.order", None]}


class EmbeddedStock:
    """The store `embedded`; it takes at most `most` entries of a stock."""

    def __init__(self, most: int) -> None:
        self._most = most

    def put(self, database: Database[Document], claim: StockClaim) -> None:
        """Store the claim as the cart's entry, by one update that compares and changes."""
        for _ in range(_ATTEMPTS):
            if STOCKS.of(database).update_one(self._may_put(claim), _put(claim)).matched_count:
                return
            self._explain(_find(database, claim.stock), claim)
        raise Unavailable("Many are buying this now; try again")

    def share(self, database: Database[Document], claim: StockClaim) -> int:
        """Store the claim as the cart's entry, up to the shares of carts, by one update."""
        others = _and(_IN_CART, _not_of(claim.cart))
        this, change = self._may_put(claim, _units(others)), _share(claim, others)
        own = {"carted": {"$elemMatch": {"cart": claim.cart}}}
        for _ in range(_ATTEMPTS):
            after = STOCKS.of(database).find_one_and_update(
                this, change, own, return_document=ReturnDocument.AFTER
            )
            if after is not None:
                return sum(each["qty"] for each in after.get("carted", []))
            self._explain(_find(database, claim.stock), claim, counts_carts=True)
        raise Unavailable("Many are buying this now; try again")

    def put_first(self, database: Database[Document], claim: StockClaim) -> list[str]:
        """Store the claim as an order's entry, by one update; take missing units from carts."""
        others = _and(_IN_CART, _not_of(claim.cart))
        this, change = self._may_put(claim, _units(others)), _put_first(claim)
        for _ in range(_ATTEMPTS):
            before = STOCKS.of(database).find_one_and_update(
                this, change, return_document=ReturnDocument.BEFORE
            )
            if before is not None:
                own = sum(each["qty"] for each in before["carted"] if each["cart"] == claim.cart)
                missing = claim.qty - before["available"] - own
                ended = giving_way(before["carted"], claim.cart, missing)
                return [each["cart"] for each in ended]
            self._explain(_find(database, claim.stock), claim, counts_carts=True)
        raise Unavailable("Many are buying this now; try again")

    def _may_put(self, claim: StockClaim, others: Expression | int = 0) -> Document:
        """Return the filter of a stock that can take the claim.

        It has enough units, with the cart's own and `others`; it has room for the entry; and no
        other order has the cart's entry.
        """
        other = {"cart": claim.cart, "order": {"$nin": [None, claim.order]}}
        units = {"$add": ["$available", _units(_of(claim.cart)), others]}
        enough = {"$gte": [units, claim.qty]}
        has_room = {f"carted.{self._most - 1}": {"$exists": False}}
        return {
            "_id": claim.stock,
            "store": "embedded",
            "carted": {"$not": {"$elemMatch": other}},
            "$or": [{"carted.cart": claim.cart}, has_room],
            "$expr": enough,
        }

    def _explain(self, stock: Stock, claim: StockClaim, *, counts_carts: bool = False) -> None:
        """Raise HeldByOrder, Short or StockFull for a refusal; return if the reason is gone."""
        own = next((each for each in stock["carted"] if each["cart"] == claim.cart), None)
        if own is not None and own["order"] not in {None, claim.order}:
            raise HeldByOrder(str(own["order"]))
        available = stock["available"] + (own["qty"] if own else 0)
        if counts_carts:
            others = [each for each in stock["carted"] if each["cart"] != claim.cart]
            available += sum(each["qty"] for each in others if each["order"] is None)
        if available < claim.qty:
            raise Short(available)
        if own is None and len(stock["carted"]) >= self._most:
            raise StockFull

    def take_out(
        self,
        database: Database[Document],
        stock_id: str,
        cart: str,
        order: str | None,
        *,
        sold: bool,
    ) -> int:
        """Remove an entry and change a counter, by one update; return the entry's units, or 0."""
        own = {"cart": cart, "order": order}
        this = {"_id": stock_id, "store": "embedded", "carted": {"$elemMatch": own}}
        counter, sign = ("on_hand", -1) if sold else ("available", 1)
        units = {"$multiply": [sign, _units(_of(cart))]}
        change = {counter: {"$add": [f"${counter}", units]}, "carted": _filter(_not_of(cart))}
        before = STOCKS.of(database).find_one_and_update(
            this, [{"$set": change}], return_document=ReturnDocument.BEFORE
        )
        if before is None:
            _find(database, stock_id)
            return 0
        return sum(each["qty"] for each in before["carted"] if each["cart"] == cart)

    def prolong(
        self, database: Database[Document], stock_id: str, cart: str, order: str, until: datetime
    ) -> None:
        """Prolong an order's entry; never shorten it."""
        own = {"cart": cart, "order": order}
        this = {"_id": stock_id, "store": "embedded", "carted": {"$elemMatch": own}}
        later = {"$max": {"carted.$.until": until}}
        if not STOCKS.of(database).update_one(this, later).matched_count:
            _find(database, stock_id)

    def expire(self, database: Database[Document], stock_id: str, now: datetime) -> int:
        """Remove the overdue entries of carts, by one update; return their units."""
        ended = {"order": None, "until": {"$lte": now}}
        this = {"_id": stock_id, "store": "embedded", "carted": {"$elemMatch": ended}}
        has_ended = {"$and": [{"$eq": ["$$each.order", None]}, {"$lte": ["$$each.until", now]}]}
        change = {
            "available": {"$add": ["$available", _units(has_ended)]},
            "carted": _filter({"$not": [has_ended]}),
        }
        before = STOCKS.of(database).find_one_and_update(
            this, [{"$set": change}], return_document=ReturnDocument.BEFORE
        )
        if before is None:
            _find(database, stock_id)
            return 0
        return sum(
            each["qty"]
            for each in before["carted"]
            if each["order"] is None and each["until"] <= now
        )

    def entries(self, database: Database[Document], stock_id: str) -> list[StockEntry]:
        """Return all entries."""
        return _find(database, stock_id)["carted"]

    def overdue(
        self, database: Database[Document], stock_id: str, now: datetime
    ) -> list[StockEntry]:
        """Return the overdue entries of orders."""
        held = self.entries(database, stock_id)
        return [each for each in held if each["order"] is not None and each["until"] <= now]


class Buyable(TypedDict):
    """Units that an order can buy, as far as the stock's document shows."""

    _id: str
    store: StoreName
    units: int


def buyable(database: Database[Document], stock_ids: list[str]) -> list[Buyable]:
    """Return the available units of stocks, with the units in embedded entries of carts."""
    units = {"$add": ["$available", _units(_IN_CART)]}
    pipeline: list[Document] = [
        {"$match": {"_id": {"$in": stock_ids}}},
        {"$project": {"store": 1, "units": units}},
    ]
    return list(STOCKS.read_as(Buyable, database).aggregate(pipeline))


def _find(database: Database[Document], stock_id: str) -> Stock:
    """Return a stock; raises StockMoved if it is unknown or in the other store."""
    stock = STOCKS.of(database).find_one({"_id": stock_id, "store": "embedded"})
    if stock is None:
        raise StockMoved
    return stock


def _put(claim: StockClaim) -> list[Document]:
    entry = _literal(claim, claim.qty)
    taken = {"$subtract": [claim.qty, _units(_of(claim.cart))]}
    change = {
        "available": {"$subtract": ["$available", taken]},
        "carted": {"$concatArrays": [_filter(_not_of(claim.cart)), [entry]]},
    }
    return [{"$set": change}]


def _share(claim: StockClaim, others: Expression) -> list[Document]:
    """Return the update that holds as many units as `shares.units_for` allows."""
    own = _units(_of(claim.cart))
    together = _percent("$on_hand", claim.percent)
    address = _percent(together, claim.percent)
    cart = _percent(address, claim.percent)
    free = {"$add": ["$available", own]}
    most: list[Any] = [claim.most, cart, {"$subtract": [together, _units(others)]}, free]
    if claim.source is not None:
        same = _and(others, {"$eq": ["$$each.source", {"$literal": claim.source}]})
        most.append({"$subtract": [address, _units(same)]})
    entry = _literal(claim, "$holds")
    entries = {"$cond": [{"$gt": ["$holds", 0]}, [entry], []]}
    return [
        {"$set": {"holds": {"$max": [0, {"$min": most}]}}},
        {
            "$set": {
                "available": {"$subtract": [free, "$holds"]},
                "carted": {"$concatArrays": [_filter(_not_of(claim.cart)), entries]},
            }
        },
        {"$unset": "holds"},
    ]


def _put_first(claim: StockClaim) -> list[Document]:
    """Return the update that puts an entry and removes the entries that `giving_way` selects."""
    free = {"$add": ["$available", _units(_of(claim.cart))]}
    gives_way = _and({"$gt": ["$$value.missing", 0]}, {"$eq": ["$$this.order", None]})
    step = {
        "$cond": [
            gives_way,
            {
                "kept": "$$value.kept",
                "missing": {"$subtract": ["$$value.missing", "$$this.qty"]},
                "freed": {"$add": ["$$value.freed", "$$this.qty"]},
            },
            {
                "kept": {"$concatArrays": ["$$value.kept", ["$$this"]]},
                "missing": "$$value.missing",
                "freed": "$$value.freed",
            },
        ]
    }
    begin = {"kept": [], "missing": {"$subtract": [claim.qty, free]}, "freed": 0}
    of_others = _filter(_not_of(claim.cart))
    left = {"$reduce": {"input": of_others, "initialValue": begin, "in": step}}
    units = {"$subtract": [{"$add": [free, "$left.freed"]}, claim.qty]}
    entries = {"$concatArrays": ["$left.kept", [_literal(claim, claim.qty)]]}
    return [
        {"$set": {"left": left}},
        {"$set": {"available": units, "carted": entries}},
        {"$unset": "left"},
    ]


def _percent(units: Expression | str, percent: int) -> Expression:
    """Return the expression of a share, as `shares.shares_of` rounds it."""
    share = {"$divide": [{"$multiply": [units, percent]}, 100]}
    return {"$max": [1, {"$toInt": {"$floor": share}}]}


def _literal(claim: StockClaim, qty: int | str) -> Expression:
    """Return the expression of a claim's entry; `qty` is a number or a field path (`$name`)."""
    entry = entry_of(claim, 0)
    return {**{key: {"$literal": value} for key, value in entry.items()}, "qty": qty}


def _and(*conditions: Expression) -> Expression:
    return {"$and": [*conditions]}


def _of(cart: str) -> Expression:
    return {"$eq": ["$$each.cart", {"$literal": cart}]}


def _not_of(cart: str) -> Expression:
    return {"$ne": ["$$each.cart", {"$literal": cart}]}


def _filter(condition: Expression) -> Expression:
    return {"$filter": {"input": "$carted", "as": "each", "cond": condition}}


def _units(condition: Expression) -> Expression:
    """Return the expression of the units of the entries that meet a condition."""
    qty = {"$map": {"input": _filter(condition), "as": "each", "in": "$$each.qty"}}
    return {"$sum": qty}
