"""The forms in which the API answers about stock."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.shop.ids import SkuId, name_of
from chalicelib.shop.stock.models import MAX_SHOWN
from chalicelib.shop.stock.shapes import Stock

# More are shown as this many: how well something sells is its shop's own.
MOST_SHOWN = 100


class StockAnswer(TypedDict):
    """The stock of a SKU, as its publisher sees it."""

    sku: SkuId
    on_hand: Annotated[int, Field(ge=0, description="All there are.")]
    available: Annotated[int, Field(ge=0, description="Those that nobody holds.")]
    held: Annotated[int, Field(ge=0, description="Those that carts and unfinished orders hold.")]


class AvailableAnswer(TypedDict):
    """How many of some SKUs are available."""

    available: Annotated[
        dict[SkuId, int],
        Field(max_length=MAX_SHOWN, description=f"By SKU; {MOST_SHOWN} means that or more."),
    ]


def stock_answer(stock: Stock) -> StockAnswer:
    """Return a stock as its publisher sees it."""
    return {
        "sku": name_of(stock["_id"]),
        "on_hand": stock["on_hand"],
        "available": stock["available"],
        "held": stock["on_hand"] - stock["available"],
    }


def available_answer(available: dict[str, int]) -> AvailableAnswer:
    """Return how many are available, as everybody sees it."""
    return {"available": {sku: min(units, MOST_SHOWN) for sku, units in available.items()}}
