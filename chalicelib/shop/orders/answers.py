"""The forms in which the API answers about orders."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Next
from chalicelib.ids import ID_PATTERN
from chalicelib.shop.carts.shapes import MAX_LINES
from chalicelib.shop.ids import SkuId
from chalicelib.shop.money import Currency
from chalicelib.shop.orders.allocation import paid_by_line
from chalicelib.shop.orders.shapes import Order, State
from chalicelib.shop.payments.port import Name, Status
from chalicelib.shop.payments.records import MAX_REFUNDS, Payment, Refund, RefundState
from chalicelib.shop.pricing import MAX_ADJUSTMENTS, Kind
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownLine, ShownUrl


class OrderLineAnswer(TypedDict):
    """Units of a SKU that were bought."""

    sku: SkuId
    title: ShownLine
    qty: int
    price_micros: int
    paid_micros: Annotated[
        int,
        Field(
            ge=0,
            description="The share of these units in the total: their price with discounts and "
            "taxes, without shipping. A refund of them all gives it back.",
        ),
    ]


class AdjustmentAnswer(TypedDict):
    """An amount beside the lines."""

    kind: Kind
    label: ShownLine
    amount_micros: int


class AddressAnswer(TypedDict):
    """Where an order goes."""

    name: ShownLine
    street: ShownLine
    postal_code: Annotated[str, Field(max_length=16)]
    city: ShownLine
    region: ShownLine | None
    country: Annotated[str, Field(max_length=2)]


class PaymentAnswer(TypedDict):
    """How an order is paid."""

    provider: Name
    status: Status
    client_secret: Annotated[
        Annotated[str, Field(max_length=500)] | None,
        Field(description="With it the buyer's page confirms the payment."),
    ]
    redirect_url: Annotated[
        ShownUrl | None, Field(description="Where the buyer pays, if elsewhere.")
    ]


class RefundAnswer(TypedDict):
    """Money given back of an order."""

    key: Annotated[
        Annotated[str, Field(max_length=64)], Field(description="As its seller named it.")
    ]
    amount_micros: int
    state: Annotated[
        RefundState,
        Field(
            description="`owed` and `made` are being finished. `failed` came back from the buyer's "
            "bank: the same call makes it again. `refused` was not taken on."
        ),
    ]
    at: datetime


class OrderAnswer(TypedDict):
    """An order."""

    id: Annotated[str, Field(pattern=ID_PATTERN)]
    site: SiteId
    state: Annotated[
        State,
        Field(description="`done` is paid and taken off the shelf; `void` was let go."),
    ]
    reason: Annotated[
        Annotated[str, Field(max_length=500)] | None, Field(description="Why it was let go.")
    ]
    lines: Annotated[list[OrderLineAnswer], Field(max_length=MAX_LINES)]
    adjustments: Annotated[list[AdjustmentAnswer], Field(max_length=MAX_ADJUSTMENTS)]
    total_micros: int
    refunded_micros: int
    refunds: Annotated[list[RefundAnswer], Field(max_length=MAX_REFUNDS)]
    currency: Currency
    email: Annotated[
        Annotated[str, Field(max_length=254)] | None,
        Field(description="Null once its buyer was erased, or it was kept for long enough."),
    ]
    address: AddressAnswer | None
    at: datetime
    pay_until: datetime | None
    sent: datetime | None


class CheckoutAnswer(TypedDict):
    """An order, and how it is paid; a payment is there while it can be made."""

    order: OrderAnswer
    payment: PaymentAnswer | None


class OrdersAnswer(TypedDict):
    """A page of orders, the newest first."""

    orders: Annotated[list[OrderAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def order_answer(order: Order, payment: Payment | None) -> OrderAnswer:
    """Return an order as the API shows it."""
    return {
        "id": order["_id"],
        "site": order["site"],
        "state": order["state"],
        "reason": order["reason"],
        "lines": [
            {**line, "paid_micros": paid}
            for line, paid in zip(order["lines"], paid_by_line(order), strict=True)
        ],
        "adjustments": [{**each} for each in order["adjustments"]],
        "total_micros": order["total_micros"],
        "refunded_micros": payment["refunded_micros"] if payment else 0,
        "refunds": [_refund(each) for each in payment["refunds"]] if payment else [],
        "currency": order["currency"],
        "email": order["email"],
        "address": {**order["address"]} if order["address"] else None,
        "at": order["at"],
        "pay_until": order["deadline"],
        "sent": order["sent"],
    }


def _refund(refund: Refund) -> RefundAnswer:
    return {
        "key": refund["key"],
        "amount_micros": refund["amount_micros"],
        "state": refund["state"],
        "at": refund["at"],
    }


def checkout_answer(order: Order, payment: Payment | None) -> CheckoutAnswer:
    """Return an order with its payment, as whoever buys sees it."""
    answer: CheckoutAnswer = {"order": order_answer(order, payment), "payment": None}
    if payment is not None:
        can_pay = order["state"] == "paying"
        answer["payment"] = {
            "provider": payment["provider"],
            "status": payment["status"],
            "client_secret": payment["client_secret"] if can_pay else None,
            "redirect_url": payment["redirect_url"] if can_pay else None,
        }
    return answer
