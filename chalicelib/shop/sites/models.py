"""The settings that a publisher sends."""

from typing import Literal

from pydantic import ConfigDict, Field

from chalicelib.http import Input
from chalicelib.shop.money import Currency

HOLD_PERCENT = 50


class ShopSettings(Input):
    """How a shop sells."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"currency": "EUR"}]})

    currency: Currency
    hold_seconds: int = Field(
        900,
        ge=60,
        le=7_200,
        description="How long a cart holds its lines. It renews a hold to twice as long at most.",
    )
    hold_percent: int = Field(
        HOLD_PERCENT,
        ge=1,
        le=100,
        description="The share of a SKU's units, at least one, that carts hold together without an "
        "order. The carts of one network hold this share of it at most, and one cart this share of "
        "that: of 50, a half, a quarter and an eighth. Units beyond that are in the cart and not "
        "held. 100 is for shops that trust their visitors.",
    )
    payments: Literal["fake", "stripe"] = Field(
        "fake", description="Who takes the money: `fake` takes none."
    )
