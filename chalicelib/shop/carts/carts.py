"""Carts opened, found and claimed; frozen for an order, and let go or closed by it."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from pymongo import ReturnDocument, UpdateOne
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.carts.clocks import ENDED
from chalicelib.shop.carts.errors import CartClaimed, UnknownCart
from chalicelib.shop.carts.ids import new_cart_id
from chalicelib.shop.carts.shapes import CARTS, MAX_ATTEMPTS, Attempt, Cart, Line
from chalicelib.shop.sites import settings

# An open cart that nobody has touched for so long is expired.
IDLE = timedelta(days=30)


def open_cart(runtime: Runtime, site: str, user: str | None) -> Cart:
    """Store an empty cart and return it; raises UnknownShop."""
    settings.find(runtime.database, site)
    cart: Cart = {
        "_id": new_cart_id(runtime.random),
        "site": site,
        "user": user,
        "state": "open",
        "lines": {},
        "order": None,
        "attempts": [],
        "version": 0,
        "touched": runtime.now(),
        "ended": None,
    }
    CARTS.of(runtime.database).insert_one(cart)
    return cart


def find(database: Database[Document], cart_id: str) -> Cart:
    """Return a cart; raises UnknownCart."""
    cart = CARTS.of(database).find_one({"_id": cart_id})
    if cart is None:
        raise UnknownCart
    return cart


def claim(runtime: Runtime, cart_id: str, user: str) -> Cart:
    """Make a cart a person's; raises UnknownCart, and CartClaimed if it is another's."""
    cart = CARTS.of(runtime.database).find_one_and_update(
        {"_id": cart_id, "user": {"$in": [None, user]}},
        # A checkout that has read whose it was before freezes it no more.
        {"$set": {"user": user, "touched": runtime.now()}, "$inc": {"version": 1}},
        return_document=ReturnDocument.AFTER,
    )
    if cart is None:
        find(runtime.database, cart_id)
        raise CartClaimed
    return cart


def freeze(runtime: Runtime, cart: Cart, lines: Mapping[str, Line], attempt: Attempt) -> bool:
    """Freeze a cart with these lines for the order of an attempt; False if it has changed."""
    this = {
        "_id": cart["_id"],
        "state": "open",
        "version": cart["version"],
        "attempts.key": {"$ne": attempt["key"]},
    }
    frozen = {
        "state": "checkout",
        "order": attempt["order"],
        "lines": lines,
        "touched": runtime.now(),
    }
    change = {
        "$set": frozen,
        "$inc": {"version": 1},
        "$push": {"attempts": {"$each": [attempt], "$slice": -MAX_ATTEMPTS}},
    }
    return CARTS.of(runtime.database).update_one(this, change).matched_count > 0


def let_go(runtime: Runtime, cart_id: str, order_id: str) -> None:
    """Open a cart again that was frozen for an order, which has given back what its lines held."""
    now = runtime.now()
    lapsed = {"k": "$$line.k", "v": {"$mergeObjects": ["$$line.v", {"until": now}]}}
    each = {"input": {"$objectToArray": "$lines"}, "as": "line", "in": lapsed}
    change = {
        "state": "open",
        "lines": {"$arrayToObject": {"$map": each}},
        "touched": now,
        "version": {"$add": ["$version", 1]},
    }
    CARTS.of(runtime.database).update_one(_frozen(cart_id, order_id), [{"$set": change}])


def lapse(runtime: Runtime, held: Iterable[tuple[str, str]], *, for_good: bool = False) -> None:
    """Note of carts and SKUs that they are held no more; `for_good`, not again either."""
    now, updates = runtime.now(), []
    for cart_id, sku in held:
        this = {"_id": cart_id, "state": "open", f"lines.{sku}": {"$exists": True}}
        change = {f"lines.{sku}.until": now, f"lines.{sku}.held": 0}
        ended = {f"first.{sku}": ENDED} if for_good else {}
        updates.append(UpdateOne(this, {"$set": {**change, **ended}}))
    if updates:
        CARTS.of(runtime.database).bulk_write(updates, ordered=False)


def close(runtime: Runtime, cart_id: str, order_id: str) -> None:
    """Close a cart that was frozen for an order which is paid."""
    now = runtime.now()
    change = {"$set": {"state": "ordered", "touched": now, "ended": now}}
    CARTS.of(runtime.database).update_one(_frozen(cart_id, order_id), change)


def stay_frozen(runtime: Runtime, cart_id: str, order_id: str) -> None:
    """Note that a frozen cart was looked at, and that its order will see to it."""
    change = {"$set": {"touched": runtime.now()}}
    CARTS.of(runtime.database).update_one(_frozen(cart_id, order_id), change)


def frozen_before(runtime: Runtime, age: timedelta) -> list[Cart]:
    """Return carts that were frozen, or looked at, so long ago."""
    since = {"state": "checkout", "touched": {"$lte": runtime.now() - age}}
    most = runtime.bounds.shop.tended_at_once
    return list(CARTS.of(runtime.database).find(since).sort("touched", 1).limit(most))


def expire_idle(runtime: Runtime) -> int:
    """Expire the open carts that nobody uses; return how many there were."""
    now = runtime.now()
    idle = {"state": "open", "touched": {"$lte": now - IDLE}}
    change = {"$set": {"state": "expired", "ended": now}}
    return CARTS.of(runtime.database).update_many(idle, change).modified_count


def _frozen(cart_id: str, order_id: str) -> Document:
    return {"_id": cart_id, "state": "checkout", "order": order_id}
