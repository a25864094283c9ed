"""Orders, payments and refunds as the API reads and shows them."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints, ValidationInfo, field_validator
from typing_extensions import TypedDict

from chalicelib.addresses import Country, Email, PostalCode, needs_city, postal_code_of
from chalicelib.currencies import MAX_TOTAL_MICROS
from chalicelib.http import MAX_PAGE, Input, PageQuery
from chalicelib.http.paging import Next
from chalicelib.ids import ID_PATTERN
from chalicelib.shop.carts.shapes import MAX_LINES, MAX_QTY, CartId
from chalicelib.shop.ids import SkuId
from chalicelib.shop.money import Currency
from chalicelib.shop.orders.allocation import paid_by_line
from chalicelib.shop.orders.shapes import Address, Order, State
from chalicelib.shop.payments.port import DisputeState, Name, Status
from chalicelib.shop.payments.records import (
    MAX_DISPUTES,
    MAX_REFUNDS,
    OrderPayment,
    Refund,
    RefundState,
)
from chalicelib.shop.pricing import MAX_ADJUSTMENTS, Kind, Place
from chalicelib.sites.ids import SiteId
from chalicelib.texts import Line, ShownLine, ShownUrl

RefundKey = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$"),
    Field(description="Names the refund: a repeated call with it gives nothing back again."),
]


class AddressGiven(Input):
    """Where an order goes."""

    name: Line
    street: Line
    # Before the fields whose rules it decides.
    country: Country
    postal_code: PostalCode = Field(
        "", validate_default=True, description="In its country's form; empty where there is none."
    )
    city: Line | None = Field(
        None, validate_default=True, description="Left out where a country's addresses have none."
    )
    region: Line | None = None

    @field_validator("postal_code")
    @classmethod
    def _in_its_countrys_form(cls, code: str, info: ValidationInfo) -> str:
        country = info.data.get("country")
        return postal_code_of(code, country) if country else code

    @field_validator("city")
    @classmethod
    def _there_is_one(cls, city: str | None, info: ValidationInfo) -> str | None:
        country = info.data.get("country")
        if city is None and country and needs_city(country):
            raise ValueError("this country's addresses have a city")
        return city


class Checkout(Input):
    """A buyer's agreement to a total and an address."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "total_micros": 18_990_000,
                    "email": "ann@example.org",
                    "address": {
                        "name": "Ann Harbour",
                        "street": "Quay 1",
                        "postal_code": "1011 AB",
                        "city": "Amsterdam",
                        "country": "NL",
                    },
                }
            ]
        }
    )

    total_micros: int = Field(
        ge=0,
        le=MAX_TOTAL_MICROS,
        strict=True,
        description="The total that the buyer saw; a changed total is 409 `total_changed`. An "
        "order of 0 is paid at once.",
    )
    email: Annotated[
        Email,
        Field(description="Where the seller reaches the buyer.", examples=["ann@example.org"]),
    ]
    address: AddressGiven

    @property
    def place(self) -> Place:
        """Return the parts of the address for pricing."""
        return self.address.country, self.address.postal_code

    def stored_address(self) -> Address:
        """Return the address as an order stores it."""
        given = self.address
        return {
            "name": given.name,
            "street": given.street,
            "postal_code": given.postal_code,
            "city": given.city or "",
            "region": given.region,
            "country": given.country,
        }

    def message(self, cart_id: str) -> bytes:
        """Return the bytes that identify this agreement about a cart, for its signed digest."""
        return b"checkout\0" + cart_id.encode() + self.model_dump_json().encode()


class CartProof(Input):
    """The cart of a guest's order: its secret id grants the reading of the order."""

    cart: CartId | None = Field(
        None, description="The id of its cart, unless a user has claimed the cart."
    )


class Erasure(Input):
    """The proof of an erasure: the e-mail address of the order's buyer."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"email": "ann@example.org"}]})

    email: Annotated[Email, Field(examples=["ann@example.org"])]


class OrdersQuery(PageQuery):
    """A selection of a shop's orders."""

    state: State | None = Field(None, description="Only those in this state.")


class NewRefund(Input):
    """A refund to make: units of an order, or all that is left."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"lines": {"MOBY-HARD": 1}, "restock": True, "key": "r1"}]}
    )

    lines: (
        Annotated[
            dict[SkuId, Annotated[int, Field(ge=1, le=MAX_QTY, strict=True)]],
            Field(
                min_length=1,
                max_length=MAX_LINES,
                json_schema_extra={"additionalProperties": False},
            ),
        ]
        | None
    ) = Field(
        None,
        description="Units by SKU: the share of each in discounts and taxes is given back with it, "
        "and shipping with the last units. Left out, all that is left.",
    )
    restock: bool = Field(description="Whether the units are put back on the shelf.")
    key: RefundKey


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
    """The payment of an order."""

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
    """A refund of an order."""

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


class DisputeAnswer(TypedDict):
    """A dispute: the buyer's bank takes a payment back, or asks about it."""

    id: Annotated[
        Annotated[str, Field(max_length=255)], Field(description="As the provider names it.")
    ]
    amount_micros: int
    state: Annotated[
        DisputeState,
        Field(
            description="`inquiry`: the bank asks, and no money has moved. `opened`: the bank has "
            "the money until it decides; answer in the provider's dashboard. `won`: the seller has "
            "it. `lost`: the buyer has it."
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
    refunded_micros: Annotated[
        int, Field(description="All that was given back, wherever the seller did it.")
    ]
    refunded_elsewhere_micros: Annotated[
        int,
        Field(
            ge=0,
            description="The part that was not given back by `refunds`, as in the provider's "
            "dashboard.",
        ),
    ]
    refunds: Annotated[list[RefundAnswer], Field(max_length=MAX_REFUNDS)]
    disputed_micros: Annotated[
        int, Field(ge=0, description="What the buyer's bank has by disputes, opened or lost.")
    ]
    disputes: Annotated[list[DisputeAnswer], Field(max_length=MAX_DISPUTES)]
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
    """An order with its payment; the secret and the URL are there while the buyer can pay."""

    order: OrderAnswer
    payment: PaymentAnswer | None


class OrdersAnswer(TypedDict):
    """A page of orders, the newest first."""

    orders: Annotated[list[OrderAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def order_answer(order: Order, payment: OrderPayment | None) -> OrderAnswer:
    """Return an order as the API shows it."""
    elsewhere = payment.get("elsewhere_micros", 0) if payment else 0
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
        "refunded_micros": payment["refunded_micros"] + elsewhere if payment else 0,
        "refunded_elsewhere_micros": elsewhere,
        "refunds": [_refund(each) for each in payment["refunds"]] if payment else [],
        "disputed_micros": payment.get("disputed_micros", 0) if payment else 0,
        "disputes": [{**each} for each in payment.get("disputes", [])] if payment else [],
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


def checkout_answer(order: Order, payment: OrderPayment | None) -> CheckoutAnswer:
    """Return an order with its payment as its buyer sees them."""
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
