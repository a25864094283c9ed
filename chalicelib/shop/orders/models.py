"""Requests about orders."""

from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from chalicelib.http import Input, PageQuery
from chalicelib.shop.carts.ids import CartId
from chalicelib.shop.carts.shapes import MAX_LINES, MAX_QTY
from chalicelib.shop.ids import SkuId
from chalicelib.shop.orders.shapes import Address, State
from chalicelib.shop.pricing import Place
from chalicelib.texts import Line

MAX_TOTAL_MICROS = 10**15

Email = Annotated[
    str,
    StringConstraints(max_length=254, pattern=r"^[^\s@<>\"']{1,64}@[A-Za-z0-9.-]{1,189}$"),
    Field(description="Where the seller reaches the buyer.", examples=["ann@example.org"]),
]
Country = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Z]{2}$"),
    Field(description="A country (ISO 3166-1, alpha-2).", examples=["NL"]),
]
RefundKey = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$"),
    Field(description="Names the refund: a repeated call with it gives nothing back again."),
]


class AddressGiven(Input):
    """Where an order goes."""

    name: Line
    street: Line
    postal_code: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9 -]{1,16}$")]
    city: Line
    region: Line | None = None
    country: Country


class Checkout(Input):
    """A buyer's agreement: what it costs, and where it goes."""

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
        ge=1,
        le=MAX_TOTAL_MICROS,
        strict=True,
        description="What the buyer saw: another price of now is 409 `total_changed`.",
    )
    email: Email
    address: AddressGiven

    @property
    def place(self) -> Place:
        """Return what pricing knows of the address."""
        return self.address.country, self.address.postal_code

    def stored_address(self) -> Address:
        """Return the address as an order has it."""
        given = self.address
        return {
            "name": given.name,
            "street": given.street,
            "postal_code": given.postal_code,
            "city": given.city,
            "region": given.region,
            "country": given.country,
        }

    def message(self, cart_id: str) -> bytes:
        """Return what is signed to tell this agreement about a cart from another."""
        return b"checkout\0" + cart_id.encode() + self.model_dump_json().encode()


class CartProof(Input):
    """The cart that an order was made of: whoever knows it may see the order."""

    cart: CartId | None = Field(None, description="The id of its cart, unless you are signed in.")


class OrdersQuery(PageQuery):
    """Which of a shop's orders."""

    state: State | None = Field(None, description="Only those in this state.")


class NewRefund(Input):
    """What is given back of an order."""

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
