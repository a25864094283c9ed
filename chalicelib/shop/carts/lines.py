"""The lines of a cart: each is held on the shelf first, and written in the cart then.

A refusal writes nothing. After a crash in between, something is held that ends by itself; there
is never a line without goods that says it has them. A line beyond its cart's share is in the cart
without being held, and can be checked out all the same.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts, clocks
from chalicelib.shop.carts.errors import CartClosed, CartFull, NotForSale
from chalicelib.shop.carts.shapes import CARTS, MAX_LINES, Cart
from chalicelib.shop.ids import key_of
from chalicelib.shop.products.offers import Offer, offers
from chalicelib.shop.sites import settings
from chalicelib.shop.sites.settings import ShopSite
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.errors import HeldByOrder, OutOfStock, UnknownSku
from chalicelib.shop.stock.shapes import Claim


class _Terms(NamedTuple):
    """A shop's terms of holds, for a call from a network."""

    shop: ShopSite
    source: str | None


class _Hold(NamedTuple):
    """Units that a cart holds until a time, and its first hold of them; None if it notes none."""

    units: int
    until: datetime
    since: datetime | None


def put(runtime: Runtime, cart_id: str, sku: str, qty: int, source: str | None = None) -> Cart:
    """Put so many of a SKU into a cart and return it; a repeated call changes nothing.

    The cart holds as many of them as its share allows. `source` is the network of the call. Raises
    UnknownCart, CartClosed, CartFull, UnknownSku, NotForSale, and OutOfStock if orders have them.
    """
    cart = _open(runtime, cart_id)
    offer = _offer(runtime, cart["site"], sku)
    shop = settings.find(runtime.database, cart["site"])
    stock_id = key_of(cart["site"], sku)
    hold = _hold(runtime, cart, sku, qty, _Terms(shop, source))
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
    change = {"$set": {f"lines.{sku}": line}, **_noting({sku: hold})}
    if not _change(runtime, cart_id, change, room):
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


def hold_all(runtime: Runtime, cart_id: str, source: str | None = None) -> Cart:
    """Hold every line of a cart from now on, as far as its share allows, and return it.

    Raises UnknownCart, CartClosed, and OutOfStock for the first line that orders have.
    """
    cart = _open(runtime, cart_id)
    terms = _Terms(settings.find(runtime.database, cart["site"]), source)
    holds, missing = dict[str, _Hold](), None
    for sku, line in sorted(cart["lines"].items()):
        try:
            holds[sku] = _hold(runtime, cart, sku, line["qty"], terms)
        except OutOfStock as refusal:
            missing = missing or refusal
    renewed = {f"lines.{sku}.until": hold.until for sku, hold in holds.items()}
    units = {f"lines.{sku}.held": hold.units for sku, hold in holds.items()}
    # A line that was removed meanwhile is not made again.
    still = {"$and": [{f"lines.{sku}": {"$exists": True}} for sku in holds]} if holds else {}
    change = {"$set": {**renewed, **units}, **_noting(holds)}
    if holds and not _change(runtime, cart_id, change, still):
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


def _hold(runtime: Runtime, cart: Cart, sku: str, qty: int, terms: _Terms) -> _Hold:
    """Hold as many units as the cart's share and its clock allow."""
    now = runtime.now()
    since, until = clocks.times(cart, sku, terms.shop["hold_seconds"], now)
    claim = Claim(
        key_of(cart["site"], sku),
        cart["_id"],
        qty,
        until,
        since=since,
        source=terms.source,
        most=qty if until > now else 0,
        percent=settings.hold_percent(terms.shop),
    )
    try:
        units = shelf.share(runtime, claim)
    except HeldByOrder:
        raise CartClosed from None
    return _Hold(units, until if units else now, since)


def _noting(holds: Mapping[str, _Hold]) -> Document:
    """Return the update that notes the first hold of each SKU, and never a later one."""
    first = {f"first.{sku}": hold.since for sku, hold in holds.items() if hold.since}
    return {"$min": first} if first else {}


def _change(
    runtime: Runtime, cart_id: str, change: Document, condition: Document | None = None
) -> bool:
    """Change the lines of an open cart; return whether it was open and met the condition."""
    this = {"_id": cart_id, "state": "open", **(condition or {})}
    touched = {"touched": runtime.now()}
    change = {**change, "$set": {**change.get("$set", {}), **touched}, "$inc": {"version": 1}}
    return CARTS.of(runtime.database).update_one(this, change).matched_count > 0
