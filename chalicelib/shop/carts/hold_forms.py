"""Holds as a shop's publisher reads and ends them."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.http import Input, PageQuery
from chalicelib.http.paging import Next
from chalicelib.shop.ids import SkuId

MAX_HOLDERS = 20
MAX_SKUS = 50

_Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
_Units = Annotated[int, Field(ge=0)]


class Holder(TypedDict):
    """A cart that holds units of a SKU without an order."""

    cart: Annotated[_Digest, Field(description="Names the cart here; it is not its id.")]
    address: Annotated[
        _Digest | None, Field(description="The same for all carts of one network; null if unknown.")
    ]
    units: _Units
    since: Annotated[datetime | None, Field(description="Of its first hold of the SKU.")]
    until: datetime


class HeldSku(TypedDict):
    """The holds of a SKU."""

    sku: SkuId
    on_hand: _Units
    in_carts: Annotated[
        int, Field(ge=0, description="Units that carts hold; a checkout of others can have them.")
    ]
    in_orders: Annotated[int, Field(ge=0, description="Units of orders that are not paid yet.")]
    carts: Annotated[int, Field(ge=0, description="Carts that hold some.")]
    holders: Annotated[
        list[Holder], Field(max_length=MAX_HOLDERS, description="The carts that hold most.")
    ]


class HoldsAnswer(TypedDict):
    """A page of a shop's holds, ordered by SKU."""

    holds: Annotated[list[HeldSku], Field(max_length=MAX_SKUS)]
    next: Next


class FreedAnswer(TypedDict):
    """The units and holds that a call has ended."""

    units: _Units
    holds: _Units
    is_done: Annotated[bool, Field(description="If false, there are more: call again.")]


class HoldsQuery(PageQuery):
    """A page of holds."""

    limit: int = Field(20, ge=1, le=MAX_SKUS, description="How many SKUs a page has at most.")


class FreeQuery(Input):
    """The holds to end; without `sku` and `cart`, all holds of the shop."""

    sku: SkuId | None = Field(None, description="Only of this SKU.")
    cart: _Digest | None = Field(None, description="Only of this cart, as `holders` name it.")
