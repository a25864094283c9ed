"""Cost of a cart and of its checkout, from the call to the paid order, by how many lines it has.

The floor is the writes of a checkout that nobody interrupts and no other buyer meets: each in its
place, without a condition, and nothing read between.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import orjson

from bench.calls import AppCalls
from bench.case import Case
from bench.stage import Stage
from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.carts import carts, lines
from chalicelib.shop.carts.shapes import CARTS
from chalicelib.shop.ids import key_of
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.shop.payments.fake import FAKE_PAYMENTS
from chalicelib.shop.payments.records import PAYMENTS
from chalicelib.shop.settings import ShopSettings
from chalicelib.shop.stock import movements
from chalicelib.shop.stock.movements import NewMovement
from chalicelib.shop.stock.shapes import STOCKS

SITE = "bench"
PRICE = 10_000_000
LINES = (1, 10)
UNITS = 1_000_000
ADDRESS = {
    "name": "Ann Harbour",
    "street": "Quay 1",
    "postal_code": "1011 AB",
    "city": "Amsterdam",
    "country": "NL",
}


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield a line that is put into a cart, and checkouts of carts with one line and with ten."""
    buyers = [Buyer(stage.runtime, count) for count in LINES]
    yield [buyers[0].line(), *(each.checkout() for each in buyers)]


class Buyer:
    """Buys so many lines of a shop's books, over and over."""

    def __init__(self, runtime: Runtime, count: int) -> None:
        self._runtime, self._count = runtime, count
        self._calls = AppCalls(runtime)
        self._skus = [f"BOOK-{count}-{number}" for number in range(count)]
        self._keys = itertools.count()
        self._cart = ""
        settings.put(runtime.database, SITE, ShopSettings(currency="EUR"))
        paula = AppCalls(runtime, "paula", roles=["publisher"], sites=[SITE])
        for sku in self._skus:
            path = {"site": SITE, "product": sku.lower()}
            paula("PUT", "/shops/{site}/products/{product}", path, body=_book(sku))
            movements.move(runtime, key_of(SITE, sku), NewMovement("first", UNITS, None, ""))
        self._like = self._bought()

    def line(self) -> Case:
        """Return the case of a line that is put into an empty cart."""
        return Case(
            "a line is put into a cart",
            lambda: self._put(self._skus[0]),
            self._put_raw,
            floor_is="the two writes",
            prepare=self._open,
            prepare_floor=self._open,
            samples_at_most=200,
        )

    def checkout(self) -> Case:
        """Return the case of a checkout, and the look by which its order is paid and done."""
        return Case(
            "a checkout, paid and done",
            self._buy,
            self._buy_raw,
            floor_is="its writes",
            size=self._count,
            unit="lines",
            prepare=self._fill,
            prepare_floor=self._fill,
            samples_at_most=100,
        )

    def _bought(self) -> dict[str, Document]:
        """Buy once; return what a purchase leaves, for the floor to write again."""
        self._fill()
        self._buy()
        database, found = self._runtime.database, dict[str, Document]()
        order: Any = database[ORDERS.name].find_one({"cart": self._cart})
        for name in (PAYMENTS.name, FAKE_PAYMENTS.name):
            found[name] = database[name].find_one({"_id": order["_id"]}) or {}
        return {**found, ORDERS.name: order}

    def _open(self) -> None:
        """Open a cart, and let the stocks forget the lines of those before: they have a bound."""
        keys = [key_of(SITE, sku) for sku in self._skus]
        emptied: Document = {"$set": {"carted": []}}
        self._runtime.database[STOCKS.name].update_many({"_id": {"$in": keys}}, emptied)
        self._cart = carts.open_cart(self._runtime, SITE, None)["_id"]

    def _fill(self) -> None:
        self._open()
        for sku in self._skus:
            lines.put(self._runtime, self._cart, sku, 1)

    def _put(self, sku: str) -> None:
        path = {"cart": self._cart, "sku": sku}
        self._calls("PUT", "/carts/{cart}/lines/{sku}", path, body={"qty": 1})

    def _put_raw(self) -> None:
        now, sku = self._runtime.now(), self._skus[0]
        entry = {"cart": self._cart, "qty": 1, "until": now, "order": None}
        line = {"product": "book", "qty": 1, "price_micros": PRICE, "title": "A book", "until": now}
        database = self._runtime.database
        database[STOCKS.name].update_one(
            {"_id": key_of(SITE, sku)}, {"$inc": {"available": -1}, "$push": {"carted": entry}}
        )
        written = {"$set": {f"lines.{sku}": line, "touched": now}, "$inc": {"version": 1}}
        database[CARTS.name].update_one({"_id": self._cart}, written)

    def _buy(self) -> None:
        body = {
            "total_micros": PRICE * self._count,
            "email": "ann@example.org",
            "address": ADDRESS,
        }
        event = self._calls.event("POST", "/carts/{cart}/checkout", {"cart": self._cart}, body=body)
        key = f"key-{next(self._keys)}"
        event["headers"]["idempotency-key"] = key
        event["multiValueHeaders"]["idempotency-key"] = [key]
        answer = orjson.loads(self._calls.send(event)["body"])
        path, query = {"order": answer["order"]["id"]}, {"cart": self._cart}
        self._calls("POST", "/orders/{order}/payment", path, query)

    def _buy_raw(self) -> None:
        """Write the cart, the order, each stock, both payments, and each of them once more."""
        database, cart = self._runtime.database, {"_id": self._cart}
        order_id = new_id(self._runtime.now(), self._runtime.random)
        order = {"_id": order_id}
        database[CARTS.name].update_one(cart, {"$set": {"state": "checkout", "order": order_id}})
        stored = {**self._like[ORDERS.name], **order, "cart": self._cart, "state": "holding"}
        database[ORDERS.name].insert_one(stored)
        held = {"$set": {"carted.$.order": order_id}}
        for sku in self._skus:
            database[STOCKS.name].update_one(self._own(sku), held)
        database[ORDERS.name].update_one(order, {"$set": {"state": "paying"}})
        for name in (FAKE_PAYMENTS.name, PAYMENTS.name):
            database[name].insert_one({**self._like[name], **order, "status": "pending"})
        for name in (FAKE_PAYMENTS.name, PAYMENTS.name):
            database[name].update_one(order, {"$set": {"status": "succeeded"}})
        database[ORDERS.name].update_one(order, {"$set": {"state": "paid"}})
        sold = {"$inc": {"on_hand": -1}, "$pull": {"carted": {"cart": self._cart}}}
        for sku in self._skus:
            database[STOCKS.name].update_one(self._own(sku), sold)
        database[CARTS.name].update_one(cart, {"$set": {"state": "ordered"}})
        database[ORDERS.name].update_one(order, {"$set": {"state": "done"}})

    def _own(self, sku: str) -> Document:
        return {"_id": key_of(SITE, sku), "carted.cart": self._cart}


def _book(sku: str) -> Document:
    return {
        "type": "book",
        "title": f"Book {sku}",
        "state": "active",
        "skus": [{"sku": sku, "price_micros": PRICE}],
        "details": {"author": ["Herman Melville"], "language": "en"},
    }
