"""The form in which the API answers about a shop."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.shop.money import Currency
from chalicelib.shop.sites.settings import LayoutName, ShopSite, hold_percent
from chalicelib.sites.ids import SiteId


class ShopAnswer(TypedDict):
    """How a shop sells."""

    site: SiteId
    currency: Currency
    hold_seconds: int
    hold_percent: Annotated[
        int, Field(description="The share of a SKU that carts hold together without an order.")
    ]
    payments: Literal["fake", "stripe"]
    layout: Annotated[LayoutName, Field(description="How its products keep their details.")]
    is_rewriting: Annotated[
        bool, Field(description="Whether some products may be kept in another layout yet.")
    ]


def shop_answer(settings: ShopSite) -> ShopAnswer:
    """Return a shop's settings as the API shows them."""
    return {
        "site": settings["_id"],
        "currency": settings["currency"],
        "hold_seconds": settings["hold_seconds"],
        "hold_percent": hold_percent(settings),
        "payments": settings["payments"],
        "layout": settings["layout"],
        "is_rewriting": settings.get("is_rewriting", False),
    }
