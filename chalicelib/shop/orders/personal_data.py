"""What shops store of a person: the carts that they have claimed, and the orders made of those.

An erasure takes the person's id, name, address and e-mail off them; lines and amounts stay, as
they are the seller's books.
"""

from datetime import datetime, timedelta
from typing import Any

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.people.follows import ExportEntry, Step, Trace, entry
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts
from chalicelib.shop.carts.shapes import CARTS, Cart
from chalicelib.shop.orders.shapes import ORDERS


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return the collections that name a user, each with its filter."""
    theirs = {"user": user_id}
    return [
        Trace("shop carts", CARTS.of(database), theirs, _cart_entries),
        Trace("shop orders", ORDERS.of(database), theirs, _order_entries),
    ]


def claim(runtime: Runtime, cart_id: str, user_id: str) -> Cart:
    """Make a cart a person's, with the orders that were made of it before.

    Raises UnknownCart, and CartClaimed if it is another's.
    """
    cart = carts.claim(runtime, cart_id, user_id)
    made = {"_id": {"$in": [each["order"] for each in cart["attempts"]]}, "user": None}
    ORDERS.of(runtime.database).update_many(made, {"$set": {"user": user_id}})
    return cart


def follow_claim(runtime: Runtime, order_id: str, cart_id: str) -> None:
    """Make a stored order its cart's user's, if the cart was claimed after it was read for that.

    Whoever claims the cart after this finds the order.
    """
    cart = CARTS.of(runtime.database).find_one({"_id": cart_id})
    if cart is not None and cart["user"] is not None:
        this = {"_id": order_id, "user": None}
        ORDERS.of(runtime.database).update_one(this, {"$set": {"user": cart["user"]}})


def rename(_runtime: Runtime, _user_id: str, _name: str) -> None:
    """Do nothing: an order goes to the name that its buyer gave it."""


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Take a user off their carts and orders; with `until`, only those of by then."""

    def theirs(time: str) -> Document:
        return {"user": user_id, **({time: {"$lte": until}} if until else {})}

    CARTS.of(runtime.database).update_many(theirs("touched"), {"$set": {"user": None}})
    nobody = {"$set": {"user": None, "address": None, "email": None}}
    ORDERS.of(runtime.database).update_many(theirs("at"), nobody)
    return Step.DONE


def forget_buyers(runtime: Runtime) -> int:
    """Take the address and e-mail off the oldest orders that had them long enough; count them.

    Lines and amounts stay, as does whose order it is if its buyer has an account.
    """
    rows, kept = ORDERS.of(runtime.database), timedelta(days=runtime.settings.buyer_days)
    over = {"email": {"$gt": ""}, "at": {"$lte": runtime.now() - kept}}
    oldest = rows.find(over, {"_id": 1}).sort("at", ASCENDING)
    found = list(oldest.limit(runtime.bounds.shop.tended_at_once))
    if found:
        nobody = {"$set": {"address": None, "email": None}}
        rows.update_many({"_id": {"$in": [each["_id"] for each in found]}}, nobody)
    return len(found)


def _cart_entries(cart: Any) -> list[ExportEntry]:
    lines = {sku: line["qty"] for sku, line in cart["lines"].items()}
    return [entry("cart", id=cart["_id"], site=cart["site"], state=cart["state"], lines=lines)]


def _order_entries(order: Any) -> list[ExportEntry]:
    return [
        entry(
            "order",
            id=order["_id"],
            site=order["site"],
            state=order["state"],
            lines=order["lines"],
            total_micros=order["total_micros"],
            currency=order["currency"],
            email=order["email"],
            address=order["address"],
            at=order["at"],
        )
    ]
