"""The errors of orders."""

from collections.abc import Sequence
from typing import Any

from chalicelib.errors import Problem


class UnknownOrder(Problem):
    """There is no order of this id that the caller may see."""

    status = 404
    code = "unknown_order"
    title = "Order not found"


class EmptyCart(Problem):
    """There is nothing in the cart to be bought."""

    status = 422
    code = "empty_cart"
    title = "This cart is empty"


class TotalChanged(Problem):
    """The cart costs something else than the buyer saw; `facts` have the lines of now."""

    status = 409
    code = "total_changed"
    title = "The price has changed: look at it, and check out again"

    def __init__(self, total_micros: int, lines: Sequence[Any], adjustments: Sequence[Any]) -> None:
        facts = {"total_micros": total_micros, "lines": lines, "adjustments": adjustments}
        super().__init__(facts=facts)


class OrderDecided(Problem):
    """The order is not being paid: it was paid, declined or cancelled before."""

    status = 409
    code = "order_decided"
    title = "This order can no longer be cancelled"


class OrderNotPaid(Problem):
    """The order was not paid."""

    status = 409
    code = "order_not_paid"
    title = "This order was not paid"


class RefundTooLarge(Problem):
    """More would be given back than was bought, or is left of it; nothing was."""

    status = 409
    code = "refund_too_large"
    title = "There is not so much left to be given back"


class RefundRefused(Problem):
    """The payment's provider does not give the money back; nothing was changed."""

    status = 409
    code = "refund_refused"
    title = "The payment's provider refused this refund"
