"""The forms in which the API answers about carts."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.ids import Id
from chalicelib.shop.carts.ids import CartId
from chalicelib.shop.carts.shapes import MAX_LINES, Cart, Line, State
from chalicelib.shop.ids import SkuId
from chalicelib.shop.money import Currency
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownLine


class LineAnswer(TypedDict):
    """A line of a cart."""

    sku: SkuId
    title: ShownLine
    qty: int
    price_micros: Annotated[int, Field(description="Of one, when the line was written.")]
    until: datetime
    held: Annotated[
        int,
        Field(ge=0, description="Units of it that are held: others check out before them alone."),
    ]
    lapsed: Annotated[
        bool, Field(description="Whether none of it is held; the checkout holds it if it can.")
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
        Annotated[str, Id] | None,
        Field(description="The order that it is checked out with, or became."),
    ]


def cart_answer(cart: Cart, currency: str, now: datetime) -> CartAnswer:
    """Return a cart as the API shows it."""
    lines = sorted(cart["lines"].items())
    is_open = cart["state"] == "open"
    held = {sku: _held(cart, line, now) for sku, line in lines}
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
                "held": held[sku],
                "lapsed": is_open and not held[sku],
            }
            for sku, line in lines
        ],
        "lines_micros": sum(line["qty"] * line["price_micros"] for _, line in lines),
        "currency": currency,
        "order": None if is_open else cart["order"],
    }


def _held(cart: Cart, line: Line, now: datetime) -> int:
    """Return the units of a line that are held; an order that is being paid holds all."""
    if cart["state"] == "checkout":
        return line["qty"]
    is_held = cart["state"] == "open" and line["until"] > now
    return line.get("held", line["qty"]) if is_held else 0
