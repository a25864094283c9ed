"""The life of a cart: opened, changed, claimed, frozen for an order, reopened or closed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pymongo import ReturnDocument, UpdateOne
from pymongo.database import Database

from chalicelib.currencies import MAX_TOTAL_MICROS
from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.carts import clocks
from chalicelib.shop.carts.clocks import ENDED
from chalicelib.shop.carts.shapes import (
    CARTS,
    MAX_ATTEMPTS,
    MAX_LINES,
    Cart,
    CheckoutAttempt,
    Line,
    new_cart_id,
)
from chalicelib.shop.carts.sources import GUEST, Buyer
from chalicelib.shop.catalogue.offers import SkuOffer, offer_beside, products_beside
from chalicelib.shop.errors import (
    CartClaimed,
    CartClosed,
    CartFull,
    HeldByOrder,
    NotForSale,
    OutOfStock,
    UnknownCart,
    UnknownSku,
)
from chalicelib.shop.ids import key_of
from chalicelib.shop.pricing import Adjustment
from chalicelib.shop.settings import ShopSite
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import StockClaim


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


def claim(runtime: Runtime, cart_id: str, user: str) -> Cart:
    """Claim a cart for a user; raises UnknownCart, and CartClaimed if another user has it."""
    cart = CARTS.of(runtime.database).find_one_and_update(
        {"_id": cart_id, "user": {"$in": [None, user]}},
        # The version: a checkout that read the former user cannot freeze the cart.
        {"$set": {"user": user, "touched": runtime.now()}, "$inc": {"version": 1}},
        return_document=ReturnDocument.AFTER,
    )
    if cart is None:
        find(runtime.database, cart_id)
        raise CartClaimed
    return cart


def freeze(runtime: Runtime, cart: Cart, priced: PricedCart, attempt: CheckoutAttempt) -> bool:
    """Freeze a priced cart for an attempt's order; False: the cart has changed."""
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


def let_go(runtime: Runtime, cart_id: str, order_id: str) -> None:
    """Open a frozen cart again after its order has released the units of its lines."""
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
    """End the holds of SKUs in carts, given as (cart, SKU).

    `for_good`: these carts never hold these SKUs again.
    """
    now, updates = runtime.now(), []
    for cart_id, sku in held:
        this = {"_id": cart_id, "state": "open", f"lines.{sku}": {"$exists": True}}
        change = {f"lines.{sku}.until": now, f"lines.{sku}.held": 0}
        ended = {f"first.{sku}": ENDED} if for_good else {}
        updates.append(UpdateOne(this, {"$set": {**change, **ended}}))
    if updates:
        CARTS.of(runtime.database).bulk_write(updates, ordered=False)


def close(runtime: Runtime, cart_id: str, order_id: str) -> None:
    """Close a frozen cart whose order is paid."""
    now = runtime.now()
    change = {"$set": {"state": "ordered", "touched": now, "ended": now}}
    CARTS.of(runtime.database).update_one(_frozen(cart_id, order_id), change)


def stay_frozen(runtime: Runtime, cart_id: str, order_id: str) -> None:
    """Record a look at a frozen cart; its order goes on without it."""
    change = {"$set": {"touched": runtime.now()}}
    CARTS.of(runtime.database).update_one(_frozen(cart_id, order_id), change)


def frozen_before(runtime: Runtime, age: timedelta) -> list[Cart]:
    """Return frozen carts without a freeze or a look since `age` ago, the oldest first."""
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


# The shelf holds a line before the cart stores it. A refusal writes nothing. A crash in between
# leaves a hold that ends by itself, never a line without its units. A line beyond its cart's share
# stays in the cart without a hold; a checkout may still buy it.


class _Terms(NamedTuple):
    """A shop's terms of holds, for a buyer."""

    shop: ShopSite
    buyer: Buyer


class _Hold(NamedTuple):
    """Units that a cart holds until a time. `since`: its first hold; None: it holds none."""

    units: int
    until: datetime
    since: datetime | None


def put(runtime: Runtime, cart_id: str, sku: str, qty: int, buyer: Buyer = GUEST) -> Cart:
    """Set the quantity of a SKU in a cart and return the cart; a repeated call changes nothing.

    The cart holds as many units as its share allows. Raises UnknownCart, CartClosed, CartFull,
    UnknownSku, NotForSale, InvalidRequest for too large an amount, and OutOfStock if orders have
    the units.
    """
    cart, offer = _open_with_offer(runtime, cart_id, sku, buyer)
    if qty * offer["price_micros"] > MAX_TOTAL_MICROS:
        detail = "these units cost more than an order may"
        raise InvalidRequest(errors=[FieldError("qty", "too_large", detail)])
    shop = settings.recall(runtime, cart["site"])
    stock_id = key_of(cart["site"], sku)
    hold = _hold(runtime, cart, sku, qty, _Terms(shop, buyer))
    line = {
        "product": offer["product"],
        "qty": qty,
        "price_micros": offer["price_micros"],
        "title": offer["title"],
        "until": hold.until,
        "held": hold.units,
    }
    has_room = {"$lt": [{"$size": {"$objectToArray": "$lines"}}, MAX_LINES]}
    room = {"$or": [{f"lines.{sku}": {"$exists": True}}, {"$expr": has_room}]}
    change = {"$set": {f"lines.{sku}": line}, **_note_first({sku: hold})}
    changed = _change(runtime, cart, change, room)
    if changed is None:
        shelf.release(runtime, stock_id, cart_id)
        _open(runtime, cart_id, buyer)
        raise CartFull
    return changed


def remove(runtime: Runtime, cart_id: str, sku: str, buyer: Buyer = GUEST) -> Cart:
    """Remove a SKU from a cart and return the cart; raises UnknownCart and CartClosed."""
    cart = _open(runtime, cart_id, buyer)
    changed = _change(runtime, cart, {"$unset": {f"lines.{sku}": ""}})
    if changed is None:
        _open(runtime, cart_id, buyer)
        raise CartClosed
    shelf.release(runtime, key_of(cart["site"], sku), cart_id)
    return changed


def hold_all(runtime: Runtime, cart_id: str, buyer: Buyer = GUEST) -> Cart:
    """Renew the hold of every line as far as the cart's share allows; return the cart.

    Raises UnknownCart, CartClosed, and OutOfStock for the first line whose units orders have.
    """
    cart = _open(runtime, cart_id, buyer)
    terms = _Terms(settings.recall(runtime, cart["site"]), buyer)
    holds, missing = dict[str, _Hold](), None
    for sku, line in sorted(cart["lines"].items()):
        try:
            holds[sku] = _hold(runtime, cart, sku, line["qty"], terms)
        except OutOfStock as refusal:
            missing = missing or refusal
    renewed = {f"lines.{sku}.until": hold.until for sku, hold in holds.items()}
    units = {f"lines.{sku}.held": hold.units for sku, hold in holds.items()}
    # Another call may have removed a line: do not write it again.
    still = {"$and": [{f"lines.{sku}": {"$exists": True}} for sku in holds]} if holds else {}
    change = {"$set": {**renewed, **units}, **_note_first(holds)}
    changed = _change(runtime, cart, change, still) if holds else cart
    if changed is None:
        _open(runtime, cart_id, buyer)
        raise CartClosed
    if missing:
        raise missing
    return changed


def _open(runtime: Runtime, cart_id: str, buyer: Buyer) -> Cart:
    return _check_open(find_for(runtime.database, cart_id, buyer.user))


def _check_open(cart: Cart) -> Cart:
    if cart["state"] != "open":
        raise CartClosed
    return cart


def _open_with_offer(
    runtime: Runtime, cart_id: str, sku: str, buyer: Buyer
) -> tuple[Cart, SkuOffer]:
    """Read an open cart and the offer of a SKU in one round trip.

    Raises UnknownCart, CartClosed, UnknownSku and NotForSale.
    """
    stages = [{"$match": {"_id": cart_id}}, products_beside(sku, "products")]
    row: Any = next(CARTS.of(runtime.database).aggregate(stages), None)
    if row is None:
        raise UnknownCart
    products = row.pop("products")
    cart = _check_open(_seen_by(row, buyer.user))
    offer = offer_beside(products, sku)
    if offer is None:
        raise UnknownSku
    if offer["state"] != "active":
        raise NotForSale(sku)
    return cart, offer


def _hold(runtime: Runtime, cart: Cart, sku: str, qty: int, terms: _Terms) -> _Hold:
    """Hold as many units as the cart's share and clock allow."""
    now = runtime.now()
    since, until = clocks.times(cart, sku, terms.shop["hold_seconds"], now)
    claim = StockClaim(
        key_of(cart["site"], sku),
        cart["_id"],
        qty,
        until,
        since=since,
        source=terms.buyer.source,
        most=qty if until > now else 0,
        percent=settings.hold_percent(terms.shop),
    )
    try:
        units = shelf.share(runtime, claim)
    except HeldByOrder:
        raise CartClosed from None
    # A share that others use up starts no clock: the cart may hold the SKU for its time later.
    return _Hold(units, until, since) if units else _Hold(0, now, None)


def _note_first(holds: Mapping[str, _Hold]) -> Document:
    """Return the update that stores the first hold of each SKU, and no later hold."""
    first = {f"first.{sku}": hold.since for sku, hold in holds.items() if hold.since}
    return {"$min": first} if first else {}


def _change(
    runtime: Runtime, cart: Cart, change: Document, condition: Document | None = None
) -> Cart | None:
    """Change an open cart that meets the condition and has the user read, and return it.

    None: it does not meet them.
    """
    this = {"_id": cart["_id"], "user": cart["user"], "state": "open", **(condition or {})}
    touched = {"touched": runtime.now()}
    change = {**change, "$set": {**change.get("$set", {}), **touched}, "$inc": {"version": 1}}
    return CARTS.of(runtime.database).find_one_and_update(
        this, change, return_document=ReturnDocument.AFTER
    )
