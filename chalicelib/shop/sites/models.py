"""The settings that a publisher sends."""

from typing import Literal

from pydantic import ConfigDict, Field

from chalicelib.http import Input
from chalicelib.shop.money import Currency


class ShopSettings(Input):
    """How a shop sells."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"currency": "EUR"}]})

    currency: Currency
    hold_seconds: int = Field(
        900, ge=60, le=7_200, description="How long what lies in a cart is kept from others."
    )
    payments: Literal["fake", "stripe"] = Field(
        "fake", description="Who takes the money: `fake` takes none."
    )
