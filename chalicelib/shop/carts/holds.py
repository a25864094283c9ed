"""A publisher's view of the holds in a shop's carts, and the end of such holds.

A cart's id is a secret: a keyed digest names the cart here.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from chalicelib import signing
from chalicelib.database import prefix_range
from chalicelib.runtime import Runtime
from chalicelib.shop.carts import carts
from chalicelib.shop.carts.hold_forms import MAX_HOLDERS, FreedAnswer, HeldSku, Holder
from chalicelib.shop.ids import key_of, name_of
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import STOCKS, Stock, StockEntry, find

_DIGEST_BYTES = 8
# Stocks of one read.
_STOCKS = 100


def page(runtime: Runtime, site: str, after: str, limit: int) -> list[HeldSku]:
    """Return at most `limit` held SKUs after the SKU `after`, ordered by SKU."""
    return list(islice(_held_skus(runtime, site, after), limit))


def free(runtime: Runtime, site: str, sku: str | None, cart: str | None) -> FreedAnswer:
    """End the holds of a site's carts: all, or those of one SKU or one cart; unpaid orders stay.

    These carts never hold these SKUs again. One call ends at most `tended_at_once` holds;
    `is_done`: none is left.
    """
    most = runtime.bounds.shop.tended_at_once
    found = list(islice(_holds(runtime, site, sku, cart), most + 1))
    ended = [(cart_id, name_of(stock_id)) for stock_id, cart_id in found[:most]]
    # Before the release, so that no cart holds its units again meanwhile or after a crash.
    carts.lapse(runtime, ended, for_good=True)
    units = sum(shelf.release(runtime, stock_id, cart_id) for stock_id, cart_id in found[:most])
    return {"units": units, "holds": len(ended), "is_done": len(found) <= most}


def cart_digest(runtime: Runtime, cart_id: str) -> str:
    """Return the digest that names a cart to its publisher, in hexadecimal."""
    key = signing.signing_key(runtime.settings.signing_keys)
    return signing.tag(b"hold cart\0" + cart_id.encode(), key, _DIGEST_BYTES).hex()


def _holds(
    runtime: Runtime, site: str, sku: str | None, cart: str | None
) -> Iterator[tuple[str, str]]:
    """Yield (stock, cart) for each hold without an order."""
    stocks: Iterable[Stock | None] = (
        [find(runtime.database, key_of(site, sku))] if sku else _stocks(runtime, site, "")
    )
    for stock in filter(None, stocks):
        for entry in _entries(runtime, stock):
            is_meant = cart is None or cart_digest(runtime, entry["cart"]) == cart
            if entry["order"] is None and is_meant:
                yield stock["_id"], entry["cart"]


def _held_skus(runtime: Runtime, site: str, after: str) -> Iterator[HeldSku]:
    for stock in _stocks(runtime, site, after):
        entries = _entries(runtime, stock)
        if entries:
            yield _held_sku(runtime, stock, entries)


def _entries(runtime: Runtime, stock: Stock) -> list[StockEntry]:
    """Return a stock's entries: most stocks embed their entries, the others need a query."""
    if stock["store"] == "embedded":
        return stock["carted"]
    return shelf.entries(runtime, stock["_id"])


def _stocks(runtime: Runtime, site: str, after: str) -> Iterator[Stock]:
    """Yield a site's stocks that may have entries, ordered by SKU."""
    last = key_of(site, after)
    while True:
        some = {
            "_id": {**prefix_range(f"{site}:"), "$gt": last},
            "$or": [{"carted.0": {"$exists": True}}, {"store": "documents"}],
        }
        found = list(STOCKS.of(runtime.database).find(some).sort("_id", 1).limit(_STOCKS))
        yield from found
        if len(found) < _STOCKS:
            return
        last = found[-1]["_id"]


def _held_sku(runtime: Runtime, stock: Stock, entries: list[StockEntry]) -> HeldSku:
    in_carts = [each for each in entries if each["order"] is None]
    largest = sorted(in_carts, key=lambda each: -each["qty"])[:MAX_HOLDERS]
    units = sum(each["qty"] for each in in_carts)
    return {
        "sku": name_of(stock["_id"]),
        "on_hand": stock["on_hand"],
        "in_carts": units,
        "in_orders": sum(each["qty"] for each in entries) - units,
        "carts": len(in_carts),
        "holders": [_holder(runtime, each) for each in largest],
    }


def _holder(runtime: Runtime, entry: StockEntry) -> Holder:
    return {
        "cart": cart_digest(runtime, entry["cart"]),
        "address": entry.get("source"),
        "units": entry["qty"],
        "since": entry.get("since"),
        "until": entry["until"],
    }
