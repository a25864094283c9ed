"""The life of a cart: opened, claimed, frozen for an order, reopened or closed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from pymongo import ReturnDocument, UpdateOne
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.carts.clocks import ENDED
from chalicelib.shop.carts.shapes import (
    CARTS,
    MAX_ATTEMPTS,
    Cart,
    CheckoutAttempt,
    Line,
    new_cart_id,
)
from chalicelib.shop.errors import (
    CartClaimed,
    CartClosed,
    UnknownCart,
)
from chalicelib.shop.pricing import Adjustment


class PricedCart(NamedTuple):
    """The lines and adjustments of an order to make."""

    lines: Mapping[str, Line]
    adjustments: Sequence[Adjustment]


# Open carts expire after so long without a change.
IDLE = timedelta(days=30)


def open_cart(runtime: Runtime, site: str, user: str | None) -> Cart:
    """Store an empty cart and return it; raises UnknownShop."""
    settings.recall(runtime, site)
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


def find_for(database: Database[Document], cart_id: str, user: str | None) -> Cart:
    """Return a cart for a caller; raises UnknownCart, also if the cart is another user's."""
    return _seen_by(find(database, cart_id), user)


def _seen_by(cart: Cart, user: str | None) -> Cart:
    if cart["user"] not in {None, user}:
        raise UnknownCart
    return cart


def check_open(cart: Cart, user: str | None) -> Cart:
    """Return a cart that a caller may change; raises UnknownCart and CartClosed."""
    if _seen_by(cart, user)["state"] != "open":
        raise CartClosed
    return cart


def claim(runtime: Runtime, cart_id: str, user: str) -> Cart:
    """Claim a cart for a user; raises UnknownCart, and CartClaimed if another user has had it."""
    cart = CARTS.of(runtime.database).find_one_and_update(
        {"_id": cart_id, "user": {"$in": [None, user]}, "erased": {"$exists": False}},
        # The new version stops a checkout that read the former user from freezing the cart.
        {"$set": {"user": user, "touched": runtime.now()}, "$inc": {"version": 1}},
        return_document=ReturnDocument.AFTER,
    )
    if cart is None:
        find(runtime.database, cart_id)
        raise CartClaimed
    return cart


def freeze(runtime: Runtime, cart: Cart, priced: PricedCart, attempt: CheckoutAttempt) -> bool:
    """Freeze a priced cart for an attempt's order; False: it has changed, or has this attempt."""
    this = {
        "_id": cart["_id"],
        "state": "open",
        "version": cart["version"],
        "attempts.key": {"$ne": attempt["key"]},
    }
    frozen = {
        "state": "checkout",
        "order": attempt["order"],
        "lines": priced.lines,
        "adjustments": priced.adjustments,
        "touched": runtime.now(),
    }
    change = {
        "$set": frozen,
        "$inc": {"version": 1},
        "$push": {"attempts": {"$each": [attempt], "$slice": -MAX_ATTEMPTS}},
    }
    return CARTS.of(runtime.database).update_one(this, change).matched_count > 0


def reopen(runtime: Runtime, cart_id: str, order_id: str) -> None:
    """Reopen a frozen cart after its order has released its units; the holds of its lines end."""
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
    """End the holds of SKUs in open carts, given as (cart, SKU).

    `for_good`: these carts never hold these SKUs again.
    """
    now, updates = runtime.now(), list[UpdateOne]()
    for cart_id, sku in held:
        this = {"_id": cart_id, "state": "open"}
        ended = {"$set": {f"first.{sku}": ENDED}} if for_good else {}
        # Also without the line: another call may be about to store it with the released units.
        updates.append(UpdateOne(this, {"$inc": {"version": 1}, **ended}))
        change = {f"lines.{sku}.until": now, f"lines.{sku}.held": 0}
        updates.append(UpdateOne({**this, f"lines.{sku}": {"$exists": True}}, {"$set": change}))
    if updates:
        CARTS.of(runtime.database).bulk_write(updates)


def close(runtime: Runtime, cart_id: str, order_id: str) -> None:
    """Close a frozen cart whose order is paid."""
    now = runtime.now()
    change = {"$set": {"state": "ordered", "touched": now, "ended": now}}
    CARTS.of(runtime.database).update_one(_frozen(cart_id, order_id), change)


def touch_frozen(runtime: Runtime, cart_id: str, order_id: str) -> None:
    """Touch a frozen cart: `frozen_before` returns it only once it is untouched for `age` again."""
    change = {"$set": {"touched": runtime.now()}}
    CARTS.of(runtime.database).update_one(_frozen(cart_id, order_id), change)


def frozen_before(runtime: Runtime, age: timedelta) -> list[Cart]:
    """Return carts frozen and untouched for `age`, the oldest first; at most `tended_at_once`."""
    since = {"state": "checkout", "touched": {"$lte": runtime.now() - age}}
    most = runtime.bounds.shop.tended_at_once
    return list(CARTS.of(runtime.database).find(since).sort("touched", 1).limit(most))


def expire_idle(runtime: Runtime) -> int:
    """Expire the idle open carts; return their number."""
    now = runtime.now()
    idle = {"state": "open", "touched": {"$lte": now - IDLE}}
    change = {"$set": {"state": "expired", "ended": now}}
    return CARTS.of(runtime.database).update_many(idle, change).modified_count


def _frozen(cart_id: str, order_id: str) -> Document:
    return {"_id": cart_id, "state": "checkout", "order": order_id}
