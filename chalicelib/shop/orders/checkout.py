"""Checkout: freeze a cart, insert its order, hold every line, start the payment.

Only the call that inserted an order, its preparer, holds units for the order (as for transfers,
decision 0032). So no repeated call holds again the units that the order has already sold. If a
preparation outlives its lease, the sweep refuses the order. The preparer learns this from its next
conditional write, and releases the units. If the preparer dies first, its entries stay; the sweep
ends them after their time.
"""

from collections.abc import Sequence
from datetime import timedelta

from pymongo.errors import DuplicateKeyError

from chalicelib import signing
from chalicelib.currencies import MAX_TOTAL_MICROS
from chalicelib.errors import FieldError, IdempotencyKeyReused, InvalidRequest, Unavailable
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.carts import carts
from chalicelib.shop.carts.carts import PricedCart
from chalicelib.shop.carts.shapes import Cart, CheckoutAttempt, Line
from chalicelib.shop.carts.sources import GUEST, Buyer
from chalicelib.shop.catalogue.offers import offers
from chalicelib.shop.errors import (
    AmountNotTaken,
    CartClosed,
    EmptyCart,
    HeldByOrder,
    NotForSale,
    OutOfStock,
    TotalChanged,
)
from chalicelib.shop.ids import key_of, name_of
from chalicelib.shop.money import step_micros
from chalicelib.shop.orders import excess, personal_data, resuming
from chalicelib.shop.orders.allocation import allocate
from chalicelib.shop.orders.forms import Checkout
from chalicelib.shop.orders.messages import ResumeOrder
from chalicelib.shop.orders.shapes import ORDERS, Order, OrderLine, charge_of, find
from chalicelib.shop.orders.strays import end_stray
from chalicelib.shop.payments import providers, records
from chalicelib.shop.payments.port import PaymentRefused
from chalicelib.shop.payments.records import OrderPayment
from chalicelib.shop.pricing import PricedShop, adjustments, total_micros
from chalicelib.shop.settings import ShopSite
from chalicelib.shop.stock import shelf
from chalicelib.shop.stock.shapes import StockClaim

# Tries of a freeze while the buyer changes the cart in another window.
_ATTEMPTS = 5
# The most unpaid orders that the hold of one line cancels; each may wait for the provider.
_CALLED_OFF = 3
_DIGEST_BYTES = 16
SHORT = "out_of_stock:"


def check_out(
    runtime: Runtime, cart_id: str, wanted: Checkout, attempt_key: str, buyer: Buyer = GUEST
) -> tuple[Order, OrderPayment | None]:
    """Check a cart out, once for each `attempt_key`; return its order and the order's payment.

    Raises UnknownCart, CartClosed, EmptyCart, NotForSale, InvalidRequest for too large an amount,
    PricingFailed, TotalChanged, AmountNotTaken, OutOfStock, PaymentsNotSetUp and
    IdempotencyKeyReused. Raises Unavailable in an outage of the payment provider: a repeated call
    with the key continues the checkout. Payment None: it never started, or the provider refused it.
    """
    cart, order_id = _freeze(runtime, cart_id, wanted, attempt_key, buyer)
    order = order_of(runtime, cart, order_id, wanted)
    try:
        ORDERS.of(runtime.database).insert_one(order)
        is_new = True
    except DuplicateKeyError:
        is_new = False
    personal_data.follow_claim(runtime, order_id, cart_id)
    if is_new:
        _prepare(runtime, order, buyer.source)
    else:
        resuming.resume(runtime, order_id)
    found, payment = _begin_payment(runtime, order_id)
    if (found["reason"] or "").startswith(SHORT):
        sku = (found["reason"] or "").removeprefix(SHORT)
        raise OutOfStock(sku, shelf.available(runtime.database, cart["site"], [sku])[sku])
    return found, payment


def order_of(runtime: Runtime, cart: Cart, order_id: str, wanted: Checkout | None) -> Order:
    """Return a new order in `holding` for a frozen cart, without storing it.

    `wanted` None: the buyer's agreement is unknown, and the order has no e-mail and no address.
    """
    shop = settings.recall(runtime, cart["site"])
    lines = _order_lines(cart["lines"])
    adjusted = cart.get("adjustments")
    if adjusted is None:
        # Frozen by release 0.3.0.
        adjusted = adjustments(lines, wanted.place, priced_shop(shop)) if wanted else []
    total = total_micros(lines, adjusted)
    step = step_micros(shop["currency"], shop["payments"])
    for line, paid in zip(lines, allocate(lines, adjusted, total, step), strict=True):
        line["paid_micros"] = paid
    now = runtime.now()
    return {
        "_id": order_id,
        "cart": cart["_id"],
        "site": cart["site"],
        "user": cart["user"],
        "state": "holding",
        "lines": lines,
        "adjustments": adjusted,
        "total_micros": total,
        "currency": shop["currency"],
        "provider": shop["payments"],
        "email": wanted.email if wanted else None,
        "address": wanted.stored_address() if wanted else None,
        "at": now,
        "deadline": None,
        "reason": None,
        "sent": None,
        "due": now + runtime.bounds.shop.order_lease,
    }


def _freeze(
    runtime: Runtime, cart_id: str, wanted: Checkout, attempt_key: str, buyer: Buyer
) -> tuple[Cart, str]:
    """Freeze a cart for a new order; return the cart and the order's id.

    If an earlier call with the key froze the cart, return the id of its order. Raises
    IdempotencyKeyReused if that call had another agreement, CartClosed, and the problems of
    `carts.find_for` and `_price`.
    """
    message, keys = wanted.message(cart_id), runtime.settings.signing_keys
    digest = signing.tag(message, signing.signing_key(keys), _DIGEST_BYTES).hex()
    for _ in range(_ATTEMPTS):
        cart = carts.find_for(runtime.database, cart_id, buyer.user)
        before = next((each for each in cart["attempts"] if each["key"] == attempt_key), None)
        if before is not None:
            given = bytes.fromhex(before["digest"])
            if signing.verifying_key(given, message, keys, _DIGEST_BYTES) is None:
                raise IdempotencyKeyReused
            return cart, before["order"]
        if cart["state"] != "open":
            raise CartClosed
        priced = _price(runtime, cart, wanted)
        order_id = new_id(runtime.now(), runtime.random)
        attempt = CheckoutAttempt(key=attempt_key, digest=digest, order=order_id)
        if carts.freeze(runtime, cart, priced, attempt):
            lines, adjusted = dict(priced.lines), list(priced.adjustments)
            return {**cart, "lines": lines, "adjustments": adjusted}, order_id
    raise CartClosed


def priced_shop(shop: ShopSite) -> PricedShop:
    """Return a shop as pricing sees it."""
    step = step_micros(shop["currency"], shop["payments"])
    return PricedShop(shop["_id"], shop["currency"], step)


def _price(runtime: Runtime, cart: Cart, wanted: Checkout) -> PricedCart:
    """Return a cart's lines with current prices and titles, and its adjustments.

    Raises EmptyCart, NotForSale, InvalidRequest for lines above MAX_TOTAL_MICROS, PricingFailed,
    TotalChanged if the buyer saw another total, PaymentsNotSetUp unless the total is 0, and
    AmountNotTaken: a price may date from the shop's former payment provider.
    """
    if not cart["lines"]:
        raise EmptyCart
    shop = settings.recall(runtime, cart["site"])
    lines = _lines_of_now(runtime, cart)
    priced = _order_lines(lines)
    if total_micros(priced, []) > MAX_TOTAL_MICROS:
        detail = "these lines cost more than an order may"
        raise InvalidRequest(errors=[FieldError("lines", "too_large", detail)])
    adjusted = adjustments(priced, wanted.place, priced_shop(shop))
    total = total_micros(priced, adjusted)
    if total:
        providers.check_sells(runtime, shop["payments"])
    if total != wanted.total_micros:
        raise TotalChanged(total, priced, adjusted)
    step = step_micros(shop["currency"], shop["payments"])
    if total % step:
        raise AmountNotTaken(total, step)
    return PricedCart(lines, adjusted)


def _lines_of_now(runtime: Runtime, cart: Cart) -> dict[str, Line]:
    """Return a cart's lines with current prices and titles; raises NotForSale.

    Raises it also for a SKU that has moved to another product since the buyer added the line.
    """
    found = offers(runtime.database, cart["site"], list(cart["lines"]))
    lines: dict[str, Line] = {}
    for sku, line in cart["lines"].items():
        offer = found.get(sku)
        if offer is None or offer["state"] != "active" or offer["product"] != line["product"]:
            raise NotForSale(sku)
        lines[sku] = {**line, "title": offer["title"], "price_micros": offer["price_micros"]}
    return lines


def _order_lines(lines: dict[str, Line]) -> list[OrderLine]:
    """Return the lines of an order, sorted by SKU; the checkout holds them in this sequence."""
    return [
        {
            "sku": sku,
            "title": line["title"],
            "qty": line["qty"],
            "price_micros": line["price_micros"],
        }
        for sku, line in sorted(lines.items())
    ]


def _prepare(runtime: Runtime, order: Order, source: str | None) -> None:
    """Hold every line for a new order, then change the order to `paying`, or to `refused`."""
    reason = _hold(runtime, order, order["lines"], source)
    pays_until = runtime.now() + timedelta(seconds=runtime.bounds.shop.payment_seconds)
    if reason is None and resuming.advance(runtime, order, "paying", deadline=pays_until):
        return
    if reason is not None:
        resuming.advance(runtime, order, "refused", reason=reason)
    # A sweep may have refused the order meanwhile, before these entries existed.
    for line in order["lines"]:
        stock_id = key_of(order["site"], line["sku"])
        shelf.release(runtime, stock_id, order["cart"], order["_id"])
    resuming.resume(runtime, order["_id"])


def _hold(
    runtime: Runtime, order: Order, lines: Sequence[OrderLine], source: str | None
) -> str | None:
    """Hold lines for an order; return the reason of a failure. None: all are held."""
    lease = runtime.bounds.shop.order_lease
    for line in lines:
        stock_id = key_of(order["site"], line["sku"])
        until = runtime.now() + lease
        cart, order_id = order["cart"], order["_id"]
        claim = StockClaim(stock_id, cart, line["qty"], until, order_id, source=source)
        try:
            _put(runtime, claim)
        except OutOfStock:
            return SHORT + line["sku"]
        except (HeldByOrder, Unavailable):
            # End the order now, so that its buyer need not wait for a sweep.
            return "abandoned"
    return None


def _put(runtime: Runtime, claim: StockClaim) -> None:
    """Hold a line; if an ended order of the cart has left its entry, release that entry first."""
    try:
        _put_first(runtime, claim)
    except HeldByOrder as other:
        resuming.resume(runtime, other.order)
        end_stray(runtime, claim.stock, claim.cart, other.order)
        _put_first(runtime, claim)


def _put_first(runtime: Runtime, claim: StockClaim) -> None:
    """Hold a line; on a shortage take units from carts, and end those carts' holds."""
    try:
        shelf.put(runtime, claim)
    except OutOfStock:
        gave_way = _hold_first(runtime, claim, _CALLED_OFF)
        carts.lapse(runtime, [(cart, name_of(claim.stock)) for cart in gave_way])


def _hold_first(runtime: Runtime, claim: StockClaim, orders: int) -> list[str]:
    """Hold a line, if needed with units of other carts; return the carts that lost theirs.

    On a shortage call off at most `orders` unpaid orders, too. Raises OutOfStock.
    """
    try:
        return shelf.put_first(runtime, claim)
    except OutOfStock:
        if not (orders and excess.call_off(runtime, claim)):
            raise
    return _hold_first(runtime, claim, orders - 1)


def _begin_payment(runtime: Runtime, order_id: str) -> tuple[Order, OrderPayment | None]:
    """Start the payment of an order in `paying`; return the order and the payment.

    An order of 0 becomes paid at once. Payment None: it never started.
    """
    order = _existing(runtime, order_id)
    if order["state"] == "paying":
        runtime.queues.send(ResumeOrder(order=order_id))
        payment = payment_of(runtime, order)
        if payment is not None and order["total_micros"]:
            return order, payment
        if payment is not None:
            resuming.resume(runtime, order_id)
        order = _existing(runtime, order_id)
    return order, records.find(runtime.database, order_id)


def _existing(runtime: Runtime, order_id: str) -> Order:
    order = find(runtime.database, order_id)
    assert order is not None  # noqa: S101 - orders are never deleted
    return order


def payment_of(runtime: Runtime, order: Order) -> OrderPayment | None:
    """Return an order's payment; start it if the order is in `paying` without a payment.

    None: the payment never started, or the provider refused it, which ends the order.
    """
    payment = records.find(runtime.database, order["_id"])
    if payment is not None or order["state"] != "paying":
        return payment
    try:
        return providers.begin(runtime, order["provider"], charge_of(order))
    except PaymentRefused:
        resuming.resume(runtime, order["_id"])
        return None
