"""The source's order of writes, on the same collections, to be seen failing in the same swarm.

The cart first, then the stock; a SKU that is added again gets another entry. At the checkout the
cart is pending, the payment is taken, and then the entries and the cart are finished. A repair
takes back what carts have that were active for too long. Source: "MongoDB Applied Design
Patterns", ch. 5.
"""

import random
from contextlib import suppress
from datetime import timedelta

from pymongo.database import Database
from pymongo.errors import WriteError

from chalicelib.database import Document
from chalicelib.runtime import utc_now
from chalicelib.shop.carts.shapes import CARTS
from chalicelib.shop.orders import checkout
from chalicelib.shop.orders.forms import Checkout
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.shop.payments.fake import FakeProvider
from chalicelib.shop.payments.port import Charge
from chalicelib.shop.stock.shapes import STOCKS
from tests.shop.support.buyers import SLOW, SWEEPS, runtime_of
from tests.shop.support.buying import OTHER, SKU, agreement
from tests.shop.support.factories import PRICE, SITE

TIMEOUT = timedelta(seconds=2)


def trade(database: Database[Document], rng: random.Random) -> None:
    """Buy something as one buyer does, or repair."""
    if rng.random() < SWEEPS:
        repair(database)
        return
    runtime = runtime_of(database, rng)
    cart = runtime.random.randbytes(11).hex()
    CARTS.of(database).insert_one(
        {
            "_id": cart,
            "site": SITE,
            "user": None,
            "state": "open",
            "lines": {},
            "order": None,
            "attempts": [],
            "version": 0,
            "touched": utc_now(),
            "ended": None,
        }
    )
    for sku in rng.sample((SKU, OTHER), rng.randint(1, 2)):
        for _ in range(rng.randint(1, 2)):
            _add(database, cart, sku, rng.randint(1, 3))
    if rng.random() >= SLOW:
        _buy(database, cart, rng)


def repair(database: Database[Document]) -> None:
    """Take back what carts have that were active for too long."""
    old = {"state": "open", "touched": {"$lte": utc_now() - TIMEOUT}}
    for cart in CARTS.of(database).find(old):
        CARTS.of(database).update_one({"_id": cart["_id"]}, {"$set": {"state": "expired"}})
        for sku, line in cart["lines"].items():
            back = {"$inc": {"available": line["qty"]}, "$pull": {"carted": {"cart": cart["_id"]}}}
            STOCKS.of(database).update_one(
                {"_id": f"{SITE}:{sku}", "carted.cart": cart["_id"]}, back
            )


def _add(database: Database[Document], cart: str, sku: str, qty: int) -> None:
    line = {
        "product": "moby-dick",
        "qty": qty,
        "price_micros": PRICE,
        "title": "Moby-Dick",
        "until": utc_now(),
    }
    CARTS.of(database).update_one({"_id": cart}, {"$set": {f"lines.{sku}": line}})
    entry = {"cart": cart, "qty": qty, "until": utc_now(), "order": None}
    # The source's array has no bound; here the validator sets one, and no more carts are served.
    with suppress(WriteError):
        STOCKS.of(database).update_one(
            {"_id": f"{SITE}:{sku}", "available": {"$gte": qty}},
            {"$inc": {"available": -qty}, "$push": {"carted": entry}},
        )


def _buy(database: Database[Document], cart_id: str, rng: random.Random) -> None:
    pending = {"$set": {"state": "checkout"}}
    cart = CARTS.of(database).find_one_and_update({"_id": cart_id, "state": "open"}, pending)
    if cart is None:
        return
    runtime = runtime_of(database, rng)
    units = sum(line["qty"] for line in cart["lines"].values())
    wanted = Checkout.model_validate(agreement(units))
    order = checkout.order_of(runtime, cart, rng.randbytes(8).hex(), wanted)
    provider = FakeProvider(database)
    intent = provider.start(Charge(order["_id"], order["total_micros"], "EUR", "ann@example.org"))
    provider.status(order["_id"], intent.intent)
    for line in order["lines"]:
        STOCKS.of(database).update_one(
            {"_id": f"{SITE}:{line['sku']}", "carted.cart": cart_id},
            {"$inc": {"on_hand": -line["qty"]}, "$pull": {"carted": {"cart": cart_id}}},
        )
    ORDERS.of(database).insert_one({**order, "state": "done"})
    CARTS.of(database).update_one({"_id": cart_id}, {"$set": {"state": "ordered"}})
