"""An order's events for the webhooks of its site; the write that causes an event also stores it."""

from datetime import datetime
from typing import Any

from chalicelib.shop.orders.shapes import Order
from chalicelib.shop.payments.records import Refund
from chalicelib.webhooks.kinds import OrderEventData, OrderKind
from chalicelib.webhooks.rows import DueEvent


def event_of(
    order: Order,
    kind: OrderKind,
    at: datetime,
    *,
    number: str = "",
    amount_micros: int | None = None,
) -> DueEvent:
    """Return an event of an order; `order` is the order before the change that causes the event.

    `number`: distinguishes the events of one kind, as of several refunds.
    """
    states: dict[OrderKind, Any] = {"order.paid": "paid", "order.cancelled": "declined"}
    data: OrderEventData = {
        "id": order["_id"],
        "site": order["site"],
        "state": states.get(kind, order["state"]),
        "total_micros": order["total_micros"],
        "amount_micros": amount_micros,
        "currency": order["currency"],
        "at": order["at"],
    }
    name = kind.partition(".")[2]
    event_id = "-".join(filter(None, (order["_id"], name, number)))
    return {"id": event_id, "kind": kind, "at": at, "data": {**data}}


def refund_number(index: int, refund: Refund) -> str:
    """Return the number of a refund's events, by its index in its payment and its try."""
    return f"{index}-{refund.get('again', 0)}"
