"""Requests about carts."""

from pydantic import ConfigDict, Field

from chalicelib.http import Input
from chalicelib.shop.carts.shapes import MAX_QTY
from chalicelib.sites.ids import SiteId


class NewCart(Input):
    """A cart of a site."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"site": "harbour-post"}]})

    site: SiteId


class LineQty(Input):
    """How many of a SKU a cart is to have."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"qty": 2}]})

    qty: int = Field(
        ge=1,
        le=MAX_QTY,
        strict=True,
        description="All there are of it in the cart then, and not how many are added.",
    )
