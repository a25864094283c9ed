"""Orders in the API: checkout and payment for buyers, refunds and sending for sellers."""

from typing import Annotated

from chalicelib import limits
from chalicelib.errors import IdempotencyKeyReused, TooFast
from chalicelib.http import Created, Ok, PageQuery, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.http.idempotency import required_key_of
from chalicelib.identity import Principal
from chalicelib.ids import Id
from chalicelib.limits import CHECKOUTS, ORDER_LOOKS
from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.carts.routes import CartAnswer, cart_answer
from chalicelib.shop.carts.shapes import CartId
from chalicelib.shop.carts.sources import buyer_of
from chalicelib.shop.errors import (
    AmountNotTaken,
    CartClaimed,
    CartClosed,
    EmptyCart,
    NotForSale,
    OrderDecided,
    OrderNotPaid,
    OrderRefunded,
    OrderUnfinished,
    OutOfStock,
    PaymentsNotSetUp,
    PricingFailed,
    RefundRefused,
    RefundTooLarge,
    TotalChanged,
    UnknownCart,
    UnknownOrder,
)
from chalicelib.shop.orders import (
    checkout,
    personal_data,
    reading,
    refund_sums,
    refunds,
    resuming,
    webhooks,
)
from chalicelib.shop.orders.events import event_of
from chalicelib.shop.orders.forms import (
    CartProof,
    Checkout,
    CheckoutAnswer,
    Erasure,
    NewRefund,
    OrderAnswer,
    OrdersAnswer,
    OrdersQuery,
    checkout_answer,
    order_answer,
)
from chalicelib.shop.orders.shapes import ENDED, ORDERS, Order, find
from chalicelib.shop.payments import records
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher
from chalicelib.webhooks import due

OrderId = Annotated[str, Id]


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_checkout(route)
    _declare_claim(route)
    _declare_paying(route)
    _declare_erasure(route)
    _declare_lists(route)
    _declare_selling(route)
    webhooks.declare(route)


def _declare_checkout(route: Route) -> None:
    @route(
        "POST",
        "/carts/{cart}/checkout",
        limit=CHECKOUTS,
        secrets=("cart",),
        needs_idempotency_key=True,
        raises=(
            UnknownCart,
            CartClosed,
            EmptyCart,
            NotForSale,
            TotalChanged,
            OutOfStock,
            AmountNotTaken,
            PaymentsNotSetUp,
            PricingFailed,
            IdempotencyKeyReused,
        ),
    )
    def check_out_cart(
        request: Request, cart: CartId, caller: Principal | None, body: Checkout
    ) -> Created[CheckoutAnswer]:
        """Check a cart out, once for each key: hold all of it, and begin the payment.

        `total_micros` is the total that the buyer saw. A refusal leaves the cart open. If the
        answer is lost, repeat the call with the same key: the checkout continues.
        """
        key, buyer = required_key_of(request), buyer_of(request, caller)
        order, payment = checkout.check_out(request.runtime, cart, body, key, buyer)
        request.details["order"] = order["_id"]
        return Created(checkout_answer(order, payment))


def _declare_claim(route: Route) -> None:
    @route("POST", "/carts/{cart}/claim", secrets=("cart",), raises=(UnknownCart, CartClaimed))
    def claim_cart(request: Request, cart: CartId, caller: Principal) -> Ok[CartAnswer]:
        """Claim a cart and its orders, as after signing in."""
        # `script/restored` repeats the caller's erasure by these ids: no log has the cart's id.
        request.details["orders"] = personal_data.list_orders(request.runtime, cart)
        claimed = personal_data.claim(request.runtime, cart, caller.id)
        shop = settings.recall(request.runtime, claimed["site"])
        return Ok(cart_answer(claimed, shop["currency"], request.runtime.now()))


def _declare_paying(route: Route) -> None:
    @route("GET", "/orders/{order}", raises=(UnknownOrder,))
    def get_order(
        request: Request, order: OrderId, caller: Principal | None, query: CartProof
    ) -> Ok[CheckoutAnswer]:
        """Read an order as its buyer or its publisher, or a guest's order with its cart's id."""
        found = reading.seen_by(request.runtime, order, caller, query.cart)
        return Ok(_with_payment(request, found))

    @route("POST", "/orders/{order}/payment", raises=(UnknownOrder, PaymentsNotSetUp))
    def look_at_payment(
        request: Request, order: OrderId, caller: Principal | None, query: CartProof
    ) -> Ok[CheckoutAnswer]:
        """Check the payment of an order now, as after the buyer's page has confirmed it.

        After five checks at once, an order that is over is checked once in 30 seconds.
        """
        found = reading.seen_by(request.runtime, order, caller, query.cart)
        checked = _resume(request, order) if _may_ask(request.runtime, found) else found
        return Ok(_with_payment(request, checked))

    @route("POST", "/orders/{order}/cancel", raises=(UnknownOrder, OrderDecided, PaymentsNotSetUp))
    def cancel_order(
        request: Request, order: OrderId, caller: Principal | None, query: CartProof
    ) -> Ok[CheckoutAnswer]:
        """Cancel an unpaid order; if the payment was faster, the order stays."""
        found = reading.seen_by(request.runtime, order, caller, query.cart)
        if found["state"] != "paying":
            raise OrderDecided
        return Ok(_with_payment(request, _resume(request, order, cancels=True)))


def _declare_erasure(route: Route) -> None:
    @route("POST", "/orders/{order}/erasure", raises=(UnknownOrder, OrderUnfinished))
    def erase_buyer(
        request: Request,
        order: OrderId,
        caller: Principal | None,
        query: CartProof,
        body: Erasure,
    ) -> Ok[OrderAnswer]:
        """Remove name, address and e-mail from an order that is over; lines and amounts stay.

        The order's buyer calls this (a guest with the cart's id), or its publisher, after a
        request of the buyer from this e-mail address. Deleting a user does the same to all their
        orders.
        """
        found = reading.seen_by(request.runtime, order, caller, query.cart)
        erased = personal_data.erase_buyer(request.runtime, found, body.email)
        return Ok(order_answer(erased, records.find(request.runtime.database, order)))


def _declare_lists(route: Route) -> None:
    @route("GET", "/shops/{site}/orders")
    def list_orders(
        request: Request, site: SiteId, publisher: Publisher, query: OrdersQuery
    ) -> Ok[OrdersAnswer]:
        """List a shop's orders, the newest first."""
        check_publisher(publisher, site)
        return Ok(reading.of_site(request.runtime, site, query.state, query))

    @route("GET", "/users/me/orders")
    def list_my_orders(request: Request, caller: Principal, query: PageQuery) -> Ok[OrdersAnswer]:
        """List the orders of carts that you have claimed, the newest first."""
        return Ok(reading.of_user(request.runtime, caller.id, query))


def _declare_selling(route: Route) -> None:
    @route(
        "POST",
        "/orders/{order}/refund",
        raises=(
            UnknownOrder,
            OrderNotPaid,
            RefundTooLarge,
            RefundRefused,
            PaymentsNotSetUp,
            IdempotencyKeyReused,
        ),
    )
    def refund_order(
        request: Request, order: OrderId, publisher: Publisher, body: NewRefund
    ) -> Ok[OrderAnswer]:
        """Give money back for units of a paid order, once for each `key`.

        With `restock`, the units return to the shelf.
        """
        sold = reading.sold_by(request.runtime, order, publisher)
        payment = refunds.refund_order(
            request.runtime, sold, body.key, body.lines, restock=body.restock
        )
        return Ok(order_answer(sold, payment))

    @route("POST", "/orders/{order}/sent", raises=(UnknownOrder, OrderNotPaid, OrderRefunded))
    def send_order(request: Request, order: OrderId, publisher: Publisher) -> Ok[OrderAnswer]:
        """Mark an order as sent; the first time counts."""
        sold = reading.sold_by(request.runtime, order, publisher)
        if sold["state"] != "done":
            raise OrderNotPaid
        payment = records.find(request.runtime.database, order)
        if sold["sent"] is None and payment is not None and refund_sums.is_all_back(sold, payment):
            raise OrderRefunded
        now, rows = request.runtime.now(), ORDERS.of(request.runtime.database)
        shipped = due.push(event_of(sold, "order.shipped", now))
        rows.update_one({"_id": order, "sent": None}, {"$set": {"sent": now}, "$push": shipped})
        found = find(request.runtime.database, order) or sold
        return Ok(order_answer(found, payment))


def _may_ask(runtime: Runtime, order: Order) -> bool:
    """Return whether to ask the provider about an order; count the checks of an ended order.

    All shops share the provider's limit of calls; a check of an ended order takes up to three.
    """
    try:
        if order["state"] in ENDED:
            limits.take_for(runtime, ORDER_LOOKS, order["_id"])
    except TooFast:
        return False
    return True


def _resume(request: Request, order_id: str, *, cancels: bool = False) -> Order:
    order = resuming.resume(request.runtime, order_id, cancels=cancels)
    if order is None:
        raise UnknownOrder
    return order


def _with_payment(request: Request, order: Order) -> CheckoutAnswer:
    return checkout_answer(order, records.find(request.runtime.database, order["_id"]))
