"""Buyers and sellers of the tests: a stocked shop, carts, checkouts, and what became of them."""

from dataclasses import dataclass
from typing import Any

import orjson

from chalicelib.runtime import Runtime
from chalicelib.shop.ids import key_of
from chalicelib.shop.orders import sweep
from chalicelib.shop.orders.shapes import ORDERS, Order
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import find
from tests.shop.support.factories import PRICE, SITE, book, open_shop, put
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

SKU, OTHER = "MOBY-HARD", "PEQUOD"
ADDRESS = {
    "name": "Ann Harbour",
    "street": "Quay 1",
    "postal_code": "1011 AB",
    "city": "Amsterdam",
    "country": "NL",
}


@dataclass(frozen=True)
class Shelf:
    """What there is of a SKU."""

    on_hand: int
    available: int
    held: int


def stocked(client: Client, units: int = 5, **settings: Any) -> Client:
    """Open a shop with units of two products; return its publisher.

    Its carts hold all that they have; the tests of shares set their own.
    """
    paula = open_shop(client, **{"hold_percent": 100, **settings})
    for name, sku in (("moby-dick", SKU), ("pequod", OTHER)):
        assert put(paula, name, book(sku)).status == 201
        fill(paula, units, sku)
    return paula


def fill(paula: Client, units: int, sku: str = SKU, key: str = "first") -> Reply:
    """Put units of a SKU on the shelf."""
    reply = paula.post(f"/shops/{SITE}/stock/{sku}", change=units, key=key)
    assert reply.status == 200, reply.body
    return reply


def cart_of(client: Client, **lines: int) -> str:
    """Open a cart with lines; `MOBY_HARD=2` puts two of MOBY-HARD into it."""
    reply = client.post("/carts", site=SITE)
    assert reply.status == 201, reply.body
    cart = str(reply.json["id"])
    for name, qty in lines.items():
        filled = put_line(client, cart, name.replace("_", "-"), qty)
        assert filled.status == 200, filled.body
    return cart


def put_line(client: Client, cart: str, sku: str, qty: Any) -> Reply:
    """Have a cart hold this many of a SKU."""
    return client.put(f"/carts/{cart}/lines/{sku}", qty=qty)


def agreement(units: int = 1, email: str = "ann@example.org", **others: Any) -> dict[str, Any]:
    """Return the body of a checkout of so many units."""
    return {"total_micros": units * PRICE, "email": email, "address": ADDRESS, **others}


def check_out(
    client: Client, cart: str, body: dict[str, Any] | None = None, key: str = "k1"
) -> Reply:
    """Check a cart out."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    sent = orjson.dumps(body or agreement())
    return client.request("POST", f"/carts/{cart}/checkout", body=sent, headers=headers)


def ordered(client: Client, cart: str, body: dict[str, Any] | None = None, key: str = "k1") -> str:
    """Check a cart out; return its order's id."""
    reply = check_out(client, cart, body, key)
    assert reply.status == 201, reply.body
    return str(reply.json["order"]["id"])


def pay(client: Client, cart: str, order: str) -> Any:
    """Look at an order's payment; return the order."""
    reply = client.post(f"/orders/{order}/payment?cart={cart}")
    assert reply.status == 200, reply.body
    return reply.json["order"]


def bought(client: Client, email: str = "ann@example.org", **lines: int) -> tuple[str, str]:
    """Buy lines; return the cart and the order, which is done."""
    cart = cart_of(client, **(lines or {"MOBY_HARD": 1}))
    units = sum(lines.values()) or 1
    order = ordered(client, cart, agreement(units, email))
    assert pay(client, cart, order)["state"] == "done"
    return cart, order


def shelf_of(runtime: Runtime, sku: str = SKU) -> Shelf:
    """Return what there is of a SKU, which must fit."""
    stock = find(runtime.database, key_of(SITE, sku))
    assert stock is not None
    held = sum(each["qty"] for each in shelf.entries(runtime, key_of(SITE, sku)))
    assert stock["available"] + held == stock["on_hand"]
    return Shelf(stock["on_hand"], stock["available"], held)


def stored_order(runtime: Runtime, order: str) -> Order:
    found = ORDERS.of(runtime.database).find_one({"_id": order})
    assert found is not None
    return found


def paid_late(client: Client, runtime: Runtime, clock: Clock) -> None:
    """Have an order paid after it was let go, and seen by the sweep an hour later."""
    stocked(client, 1)
    cart = cart_of(client, MOBY_HARD=1)
    order = ordered(client, cart, agreement(email="late@example.org"))
    client.post(f"/orders/{order}/cancel?cart={cart}")
    for minutes in (59, 1, 1, 1):
        clock.advance(minutes=minutes)
        sweep.sweep(runtime)


def refund_came_back(client: Client) -> tuple[str, str]:
    """Have an order refunded, in a shop that is stocked, whose refund fails after it was made.

    Returns the cart and the order.
    """
    paula = open_shop(client)
    fill(paula, 1, SKU, key="another")
    cart, order = bought(client, "refund-fails@example.org")
    given = {"restock": True, "key": "back", "lines": {SKU: 1}}
    assert paula.post(f"/orders/{order}/refund", **given).status == 200
    assert pay(client, cart, order)["refunds"][0]["state"] == "failed"
    return cart, order


def bank_takes_back(client: Client, runtime: Runtime, cart: str, order: str) -> None:
    """Have the buyer's bank dispute an order's payment, and the payment looked at."""
    dispute = {"id": "dp_1", "amount_micros": PRICE, "state": "opened", "at": runtime.now()}
    payments = runtime.database["shop.fake_payment"]
    assert payments.update_one({"_id": order}, {"$push": {"disputes": dispute}}).matched_count
    assert pay(client, cart, order)["disputed_micros"] == PRICE
