"""The forms in which the API answers about carts."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.shop.carts.ids import CartId
from chalicelib.shop.carts.shapes import MAX_LINES, Cart, State
from chalicelib.shop.ids import SkuId
from chalicelib.shop.money import Currency
from chalicelib.sites.ids import SiteId


class LineAnswer(TypedDict):
    """A line of a cart."""

    sku: SkuId
    title: str
    qty: int
    price_micros: Annotated[int, Field(description="Of one, when the line was written.")]
    until: datetime
    lapsed: Annotated[
        bool, Field(description="Whether it is held no more; the checkout holds it if it can.")
    ]


class CartAnswer(TypedDict):
    """A cart."""

    id: CartId
    site: SiteId
    state: State
    lines: Annotated[list[LineAnswer], Field(max_length=MAX_LINES)]
    lines_micros: Annotated[int, Field(description="What its lines cost.")]
    currency: Currency
    order: Annotated[
        str | None, Field(description="The order that it is checked out with, or became.")
    ]


def cart_answer(cart: Cart, currency: str, now: datetime) -> CartAnswer:
    """Return a cart as the API shows it."""
    lines = sorted(cart["lines"].items())
    is_open = cart["state"] == "open"
    return {
        "id": cart["_id"],
        "site": cart["site"],
        "state": cart["state"],
        "lines": [
            {
                "sku": sku,
                "title": line["title"],
                "qty": line["qty"],
                "price_micros": line["price_micros"],
                "until": line["until"],
                "lapsed": is_open and line["until"] <= now,
            }
            for sku, line in lines
        ],
        "lines_micros": sum(line["qty"] * line["price_micros"] for _, line in lines),
        "currency": currency,
        "order": None if is_open else cart["order"],
    }
