"""The lines of a cart: put, removed, held again, and moved from another cart.

The shelf holds a line before the cart stores it. A refused put stores no line. A crash in between
leaves a hold that ends by itself, never a line without its units. A line beyond its cart's share
stays in the cart without a hold; a checkout may still buy it.
"""

import contextlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pymongo import ReturnDocument

from chalicelib.currencies import MAX_TOTAL_MICROS
from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest, Problem, Unavailable
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.carts import carts, clocks
from chalicelib.shop.carts.shapes import CARTS, MAX_LINES, Cart
from chalicelib.shop.carts.sources import GUEST, Buyer
from chalicelib.shop.catalogue.offers import SkuOffer, offer_beside, products_beside
from chalicelib.shop.errors import (
    CartClosed,
    CartFull,
    HeldByOrder,
    NotForSale,
    OutOfStock,
    UnknownCart,
    UnknownSku,
)
from chalicelib.shop.ids import key_of
from chalicelib.shop.settings import ShopSite
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import StockClaim

# Attempts of a call against concurrent changes of its cart: a page may put ten lines at once.
_ATTEMPTS = 10
_CHANGES = "The cart changes at this moment"


class _Terms(NamedTuple):
    """The shop and the buyer of a hold: they decide how long it lasts, and its most units."""

    shop: ShopSite
    buyer: Buyer


class _Hold(NamedTuple):
    """Units that a cart holds until a time. `since`: its first hold's start; None: no units."""

    units: int
    until: datetime
    since: datetime | None


def put(runtime: Runtime, cart_id: str, sku: str, qty: int, buyer: Buyer = GUEST) -> Cart:
    """Set the quantity of a SKU in a cart and return the cart; a repeated call renews the hold.

    The cart holds as many units as its share allows. Raises UnknownCart, CartClosed, CartFull,
    UnknownSku, NotForSale, InvalidRequest for too large an amount, OutOfStock if orders have the
    units, and Unavailable if other calls keep changing the cart.
    """
    may_hold = False
    try:
        for _ in range(_ATTEMPTS):
            changed = _put(runtime, cart_id, sku, qty, buyer)
            if changed is not None:
                return changed
            may_hold = True
            cart = _open(runtime, cart_id, buyer)
            if sku not in cart["lines"] and len(cart["lines"]) >= MAX_LINES:
                raise CartFull
        raise Unavailable(_CHANGES)
    except Problem:
        # Not after each attempt: the next attempt holds the same units again.
        if may_hold:
            _give_back(runtime, cart_id, [sku])
        raise


def remove(runtime: Runtime, cart_id: str, sku: str, buyer: Buyer = GUEST) -> Cart:
    """Remove a SKU from a cart and return the cart.

    Raises UnknownCart, CartClosed, and Unavailable if other calls keep changing the cart.
    """
    for _ in range(_ATTEMPTS):
        cart = _open(runtime, cart_id, buyer)
        changed = _change(runtime, cart, {"$unset": {f"lines.{sku}": ""}})
        if changed is not None:
            shelf.release(runtime, key_of(cart["site"], sku), cart_id)
            # Another call may have put the line again meanwhile, with the units released here.
            carts.lapse(runtime, [(cart_id, sku)])
            return changed
    # Raises CartClosed for a cart that another call has closed meanwhile.
    _open(runtime, cart_id, buyer)
    raise Unavailable(_CHANGES)


def hold_all(runtime: Runtime, cart_id: str, buyer: Buyer = GUEST) -> Cart:
    """Renew the hold of every line as far as the cart's share allows; return the cart.

    Raises UnknownCart, CartClosed, OutOfStock for the first line whose units orders have, and
    Unavailable if other calls keep changing the cart.
    """
    for _ in range(_ATTEMPTS):
        cart = _open(runtime, cart_id, buyer)
        changed = _hold_lines(runtime, cart, buyer)
        if changed is not None:
            return changed
        _give_back(runtime, cart_id, cart["lines"])
    raise Unavailable(_CHANGES)


def merge(runtime: Runtime, cart_id: str, source_id: str, buyer: Buyer = GUEST) -> Cart:
    """Move the lines of another open cart into a cart and return the cart.

    Of a SKU in both, the larger quantity counts, so a repeated call changes nothing. Lines that
    this cart cannot take stay in the other. Raises UnknownCart, also for carts of two sites,
    CartClosed, and Unavailable if other calls keep changing either cart.
    """
    for _ in range(_ATTEMPTS):
        cart, source = (_open(runtime, each, buyer) for each in (cart_id, source_id))
        if source["site"] != cart["site"]:
            raise UnknownCart
        if source_id == cart_id:
            return cart
        moved = [sku for sku in sorted(source["lines"]) if _take(runtime, cart, source, sku, buyer)]
        if not moved:
            return cart
        # After `_take`: a crash leaves the lines in both carts, and a repeated call ends the move.
        if _change(runtime, source, {"$unset": {f"lines.{sku}": "" for sku in moved}}):
            _give_back(runtime, source_id, moved)
            with contextlib.suppress(OutOfStock):
                return hold_all(runtime, cart_id, buyer)
            return _open(runtime, cart_id, buyer)
    raise Unavailable(_CHANGES)


def _take(runtime: Runtime, cart: Cart, source: Cart, sku: str, buyer: Buyer) -> bool:
    """Put a line of the cart `source` into `cart`; return whether `cart` could take the line."""
    qty = max(each["lines"][sku]["qty"] for each in (cart, source) if sku in each["lines"])
    try:
        put(runtime, cart["_id"], sku, qty, buyer)
    except (CartFull, InvalidRequest, NotForSale, OutOfStock, UnknownSku):
        return False
    return True


def _put(runtime: Runtime, cart_id: str, sku: str, qty: int, buyer: Buyer) -> Cart | None:
    """Hold and store a line; None: the cart has changed meanwhile, or has no room."""
    cart, offer = _open_with_offer(runtime, cart_id, sku, buyer)
    if qty * offer["price_micros"] > MAX_TOTAL_MICROS:
        detail = "these units cost more than an order may"
        raise InvalidRequest(errors=[FieldError("qty", "too_large", detail)])
    shop = settings.recall(runtime, cart["site"])
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
    return _change(runtime, cart, change, room)


def _hold_lines(runtime: Runtime, cart: Cart, buyer: Buyer) -> Cart | None:
    """Hold every line and store the holds; None: the cart has changed meanwhile.

    Raises OutOfStock for the first line without units, after it has stored the other holds.
    """
    terms = _Terms(settings.recall(runtime, cart["site"]), buyer)
    holds, missing = dict[str, _Hold](), None
    for sku, line in sorted(cart["lines"].items()):
        try:
            holds[sku] = _hold(runtime, cart, sku, line["qty"], terms)
        except OutOfStock as refusal:
            missing = missing or refusal
    renewed = {f"lines.{sku}.until": hold.until for sku, hold in holds.items()}
    units = {f"lines.{sku}.held": hold.units for sku, hold in holds.items()}
    change = {"$set": {**renewed, **units}, **_note_first(holds)}
    changed = _change(runtime, cart, change) if holds else cart
    if changed is not None and missing:
        raise missing
    return changed


def _give_back(runtime: Runtime, cart_id: str, skus: Iterable[str]) -> None:
    """Release the units of those SKUs that have no line in the cart; raises UnknownCart.

    A line keeps its units, even if another user has claimed the cart.
    """
    cart = carts.find(runtime.database, cart_id)
    for sku in skus:
        if sku not in cart["lines"] and shelf.release(runtime, key_of(cart["site"], sku), cart_id):
            # Another call may have put the line meanwhile, with the units released here.
            carts.lapse(runtime, [(cart_id, sku)])


def _open(runtime: Runtime, cart_id: str, buyer: Buyer) -> Cart:
    return carts.check_open(carts.find(runtime.database, cart_id), buyer.user)


def _open_with_offer(
    runtime: Runtime, cart_id: str, sku: str, buyer: Buyer
) -> tuple[Cart, SkuOffer]:
    """Read an open cart and the offer of a SKU in one round trip.

    Raises UnknownCart, CartClosed, UnknownSku and NotForSale.
    """
    stages = [{"$match": {"_id": cart_id}}, products_beside(sku)]
    row: Any = next(CARTS.of(runtime.database).aggregate(stages), None)
    if row is None:
        raise UnknownCart
    products = row.pop("products")
    cart = carts.check_open(row, buyer.user)
    offer = offer_beside(products, sku)
    if offer is None or (offer["state"] == "draft" and sku not in cart["lines"]):
        raise UnknownSku
    if offer["state"] != "active":
        raise NotForSale(sku)
    return cart, offer


def _hold(runtime: Runtime, cart: Cart, sku: str, qty: int, terms: _Terms) -> _Hold:
    """Hold as many units as the cart's share and clock allow; raises OutOfStock and CartClosed."""
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
    # A hold of no units starts no clock: the cart may hold the SKU for its full time later.
    return _Hold(units, until, since) if units else _Hold(0, now, None)


def _note_first(holds: Mapping[str, _Hold]) -> Document:
    """Return the update that stores the start of each SKU's first hold, and of no later hold."""
    first = {f"first.{sku}": hold.since for sku, hold in holds.items() if hold.since}
    return {"$min": first} if first else {}


def _change(
    runtime: Runtime, cart: Cart, change: Document, condition: Document | None = None
) -> Cart | None:
    """Change an open cart that still has the version of `cart` and meets the condition; return it.

    None: the cart is not open, has changed, or does not meet the condition.
    """
    this = {"_id": cart["_id"], "version": cart["version"], "state": "open", **(condition or {})}
    touched = {"touched": runtime.now()}
    change = {**change, "$set": {**change.get("$set", {}), **touched}, "$inc": {"version": 1}}
    return CARTS.of(runtime.database).find_one_and_update(
        this, change, return_document=ReturnDocument.AFTER
    )
