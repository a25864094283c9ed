"""The lines of a cart: each is held on the shelf first, and written in the cart then.

A refusal writes nothing. After a crash in between, something is held that ends by itself; there
is never a line without goods that says it has them.
"""

from datetime import datetime, timedelta

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts
from chalicelib.shop.carts.errors import CartClosed, CartFull, NotForSale
from chalicelib.shop.carts.shapes import CARTS, MAX_LINES, Cart
from chalicelib.shop.ids import key_of
from chalicelib.shop.products.offers import Offer, offers
from chalicelib.shop.sites import settings
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.errors import HeldByOrder, OutOfStock, UnknownSku
from chalicelib.shop.stock.shapes import Claim


def put(runtime: Runtime, cart_id: str, sku: str, qty: int) -> Cart:
    """Have a cart hold this many of a SKU and return it; a repeated call changes nothing.

    Raises UnknownCart, CartClosed, CartFull, UnknownSku, NotForSale and OutOfStock.
    """
    cart = _open(runtime, cart_id)
    offer = _offer(runtime, cart["site"], sku)
    until = _until(runtime, cart["site"])
    stock_id = key_of(cart["site"], sku)
    _hold(runtime, Claim(stock_id, cart_id, qty, until))
    line = {
        "product": offer["product"],
        "qty": qty,
        "price_micros": offer["price_micros"],
        "title": offer["title"],
        "until": until,
    }
    has_room = {"$lt": [{"$size": {"$objectToArray": "$lines"}}, MAX_LINES]}
    room = {"$or": [{f"lines.{sku}": {"$exists": True}}, {"$expr": has_room}]}
    if not _change(runtime, cart_id, {"$set": {f"lines.{sku}": line}}, room):
        shelf.release(runtime, stock_id, cart_id)
        _open(runtime, cart_id)
        raise CartFull
    return carts.find(runtime.database, cart_id)


def remove(runtime: Runtime, cart_id: str, sku: str) -> Cart:
    """Take a SKU out of a cart and return it; raises UnknownCart and CartClosed."""
    cart = _open(runtime, cart_id)
    if not _change(runtime, cart_id, {"$unset": {f"lines.{sku}": ""}}):
        raise CartClosed
    shelf.release(runtime, key_of(cart["site"], sku), cart_id)
    return carts.find(runtime.database, cart_id)


def hold_all(runtime: Runtime, cart_id: str) -> Cart:
    """Hold every line of a cart from now on, as far as there is enough, and return it.

    Raises UnknownCart, CartClosed, and OutOfStock for the first line that cannot be held.
    """
    cart = _open(runtime, cart_id)
    until = _until(runtime, cart["site"])
    held, missing = [], None
    for sku, line in sorted(cart["lines"].items()):
        try:
            _hold(runtime, Claim(key_of(cart["site"], sku), cart_id, line["qty"], until))
        except OutOfStock as refusal:
            missing = missing or refusal
        else:
            held.append(sku)
    renewed = {f"lines.{sku}.until": until for sku in held}
    # A line that was removed meanwhile is not made again.
    still = {"$and": [{f"lines.{sku}": {"$exists": True}} for sku in held]} if held else {}
    if held and not _change(runtime, cart_id, {"$set": renewed}, still):
        raise CartClosed
    if missing:
        raise missing
    return carts.find(runtime.database, cart_id)


def _open(runtime: Runtime, cart_id: str) -> Cart:
    cart = carts.find(runtime.database, cart_id)
    if cart["state"] != "open":
        raise CartClosed
    return cart


def _offer(runtime: Runtime, site: str, sku: str) -> Offer:
    offer = offers(runtime.database, site, [sku]).get(sku)
    if offer is None:
        raise UnknownSku
    if offer["state"] != "active":
        raise NotForSale(sku)
    return offer


def _until(runtime: Runtime, site: str) -> datetime:
    hold_seconds = settings.find(runtime.database, site)["hold_seconds"]
    return runtime.now() + timedelta(seconds=hold_seconds)


def _hold(runtime: Runtime, claim: Claim) -> None:
    try:
        shelf.put(runtime, claim)
    except HeldByOrder:
        raise CartClosed from None


def _change(
    runtime: Runtime, cart_id: str, change: Document, condition: Document | None = None
) -> bool:
    """Change the lines of an open cart; return whether it was open and met the condition."""
    this = {"_id": cart_id, "state": "open", **(condition or {})}
    touched = {"touched": runtime.now()}
    change = {**change, "$set": {**change.get("$set", {}), **touched}, "$inc": {"version": 1}}
    return CARTS.of(runtime.database).update_one(this, change).matched_count > 0
