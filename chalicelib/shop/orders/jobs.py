"""The worker of the queue `orders`; any number of runs may resume an order at once."""

from typing import Any

from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.shop.orders import resuming
from chalicelib.shop.orders.messages import RESUME_ORDER, ResumeOrder


def resume_orders(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Resume the order of each message; once it has ended, read its refunds and disputes."""

    def handle(message: ResumeOrder) -> None:
        resuming.resume(runtime, message.order, reconciles=True)

    return consume(event, RESUME_ORDER, handle)
