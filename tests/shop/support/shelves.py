"""Stocks of the tests: filled, held and looked at."""

from dataclasses import replace
from datetime import timedelta

from chalicelib.runtime import Runtime
from chalicelib.shop.ids import key_of
from chalicelib.shop.stock import documents, movements, shelf
from chalicelib.shop.stock.movements import NewMovement
from chalicelib.shop.stock.shapes import STOCKS, Stock, StockClaim, StockEntry

SITE = "harbour"
HOLD = timedelta(seconds=900)


def key(sku: str = "moby") -> str:
    return key_of(SITE, sku)


def fill(runtime: Runtime, units: int, sku: str = "moby", movement: str = "first") -> Stock:
    """Put units on the shelf."""
    return movements.move(runtime, key(sku), NewMovement(movement, units, None, ""))


def hold(
    runtime: Runtime, cart: str, qty: int, order: str | None = None, span: timedelta = HOLD
) -> None:
    """Hold units for a cart, or for its order."""
    shelf.put(runtime, StockClaim(key(), cart, qty, runtime.now() + span, order))


def stored(runtime: Runtime, sku: str = "moby") -> Stock:
    found = STOCKS.of(runtime.database).find_one({"_id": key(sku)})
    assert found is not None
    return found


def held(runtime: Runtime, sku: str = "moby") -> dict[str, tuple[int, str | None]]:
    """Return what carts and orders hold: units and order, by cart."""
    entries: list[StockEntry] = shelf.entries(runtime, key(sku))
    return {each["cart"]: (each["qty"], each["order"]) for each in entries}


def counted(runtime: Runtime, sku: str = "moby") -> tuple[int, int, int]:
    """Return (on hand, available, held), which must fit."""
    stock = stored(runtime, sku)
    units = sum(qty for qty, _ in held(runtime, sku).values())
    assert stock["available"] + units == stock["on_hand"]
    assert min(stock["available"], units) >= 0
    return stock["on_hand"], stock["available"], units


def move_to_documents(runtime: Runtime, sku: str = "moby") -> None:
    documents.move_in(runtime.database, key(sku))


def with_entries(runtime: Runtime, most: int) -> Runtime:
    """Return a runtime whose stocks' documents have room for this many entries."""
    shop = replace(runtime.bounds.shop, embedded_entries=most)
    return replace(runtime, bounds=replace(runtime.bounds, shop=shop))
