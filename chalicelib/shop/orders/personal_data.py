"""Personal data of shops: the carts that a user claimed, and the orders of these carts.

An erasure removes the user's id, name, address and e-mail. Lines and amounts stay: the seller's
books need them. For the order of a guest, see `erase_buyer`.
"""

from datetime import datetime, timedelta
from typing import Any

from pymongo import DESCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.jobs.sweeping import Sweep
from chalicelib.people.features import ExportEntry, Step, Trace, entry
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts
from chalicelib.shop.carts.shapes import CARTS, Cart
from chalicelib.shop.errors import OrderUnfinished
from chalicelib.shop.orders.shapes import ENDED, ORDERS, Order, find

_LISTED_AT_MOST = 100
_ERASED: Document = {"user": None, "address": None, "email": None, "erased": True}
_UNCLAIMED: Document = {"user": None, "erased": {"$exists": False}}


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return the collections with a user's carts and orders, each with its filter."""
    theirs = {"user": user_id}
    return [
        Trace("shop carts", CARTS.of(database), theirs, _cart_entries),
        Trace("shop orders", ORDERS.of(database), theirs, _order_entries),
    ]


def claim(runtime: Runtime, cart_id: str, user_id: str) -> Cart:
    """Claim a cart and its earlier orders for a user; return the cart.

    Raises UnknownCart, and CartClaimed if another user has the cart.
    """
    cart = carts.claim(runtime, cart_id, user_id)
    # By the orders' own field: the cart names only its latest orders.
    made = {"cart": cart_id, **_UNCLAIMED}
    ORDERS.of(runtime.database).update_many(made, {"$set": {"user": user_id}})
    return cart


def list_orders(runtime: Runtime, cart_id: str) -> list[str]:
    """Return the ids of the latest orders of a cart, a hundred at most."""
    found = ORDERS.of(runtime.database).find({"cart": cart_id}, {"_id": 1})
    return [each["_id"] for each in found.sort("at", DESCENDING).limit(_LISTED_AT_MOST)]


def follow_claim(runtime: Runtime, order_id: str, cart_id: str) -> None:
    """Set the user of a new order if a user has claimed its cart.

    The claim may have come between the checkout's read of the cart and the insert of the order. A
    later claim finds the order.
    """
    cart = CARTS.of(runtime.database).find_one({"_id": cart_id})
    if cart is not None and cart["user"] is not None:
        this = {"_id": order_id, **_UNCLAIMED}
        ORDERS.of(runtime.database).update_one(this, {"$set": {"user": cart["user"]}})


def rename(_runtime: Runtime, _user_id: str, _name: str) -> None:
    """Do nothing: an order retains the name that its buyer entered."""


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Remove a user from their carts and orders; with `until`, only from those up to that time.

    Includes unclaimed orders of the user's carts: a claim may have failed half way.
    """

    def before(time: str) -> Document:
        return {time: {"$lte": until}} if until else {}

    carts_of, orders_of = CARTS.of(runtime.database), ORDERS.of(runtime.database)
    theirs = {"user": user_id, **before("touched")}
    claimed = [each["_id"] for each in carts_of.find(theirs, {"_id": 1})]
    left = {"cart": {"$in": claimed}, **_UNCLAIMED}
    orders_of.update_many({"$or": [{"user": user_id}, left], **before("at")}, {"$set": _ERASED})
    # The new version stops a checkout that read the user from freezing the cart.
    carts_of.update_many(theirs, {"$set": {"user": None}, "$inc": {"version": 1}})
    return Step.DONE


def erase_buyer(runtime: Runtime, order: Order, email: str) -> Order:
    """Remove the buyer from an order in `done` or `void`; return the order. Calls may repeat.

    `email` proves the buyer: it must equal the order's e-mail, ignoring case. An order without an
    e-mail loses its user, whatever `email` is. If the order's cart is over, the cart loses its
    user, too. No later claim of the cart adds a buyer. Raises OrderUnfinished and InvalidRequest.
    """
    if order["state"] not in ENDED:
        raise OrderUnfinished
    if order["email"] is not None and email.casefold() != order["email"].casefold():
        detail = "the order has another e-mail address"
        raise InvalidRequest(errors=[FieldError("email", "other_email", detail)])
    this = {"_id": order["_id"], "state": {"$in": list(ENDED)}}
    ORDERS.of(runtime.database).update_one(this, {"$set": _ERASED})
    over = {"_id": order["cart"], "order": order["_id"], "state": {"$in": ["ordered", "expired"]}}
    CARTS.of(runtime.database).update_one(over, {"$set": {"user": None, "erased": True}})
    return find(runtime.database, order["_id"]) or order


def forget_buyers(runtime: Runtime) -> int:
    """Remove address and e-mail from the oldest orders past `buyer_days`; return their number.

    Lines, amounts and the user's id stay. A run handles at most `tended_at_once` orders.
    """
    rows, kept = ORDERS.of(runtime.database), timedelta(days=runtime.settings.buyer_days)
    over = Sweep(ORDERS, "at", after=kept, where={"email": {"$gt": ""}}, fields={"at": 1})
    found = list(over.find(runtime, runtime.bounds.shop.tended_at_once))
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
