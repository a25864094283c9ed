"""Routes of stock: publishers change a stock, and any caller reads the available units."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from chalicelib.errors import IdempotencyKeyReused
from chalicelib.http import Input, Ok, Request, Route
from chalicelib.http.batches import batch_of
from chalicelib.http.callers import Publisher
from chalicelib.identity import Principal
from chalicelib.shop.catalogue.offers import offers
from chalicelib.shop.errors import StockIsCarted, UnknownSku
from chalicelib.shop.ids import SkuId, key_of, name_of
from chalicelib.shop.stock import movements, shelf
from chalicelib.shop.stock.movements import NewMovement
from chalicelib.shop.stock.shapes import Stock
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher, owns
from chalicelib.texts import Line

MAX_UNITS = 1_000_000
MAX_SHOWN = 100

MovementKey = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$"),
    Field(description="Names the movement: a repeated call with it changes nothing."),
]


class StockChange(Input):
    """A movement of units: a change, or the result of a count."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"change": 12, "key": "delivery-2026-03-01"}]}
    )

    change: int | None = Field(
        None, ge=-MAX_UNITS, le=MAX_UNITS, description="By how many units; negative for a loss."
    )
    counted: int | None = Field(
        None,
        ge=0,
        le=MAX_UNITS,
        description="How many there are, with those that carts and orders hold.",
    )
    key: MovementKey
    reason: Line | None = Field(None, description="The reason, for later readers.")

    @model_validator(mode="after")
    def _says_one(self) -> Self:
        if (self.change is None) == (self.counted is None):
            raise ValueError("either change or counted is needed")
        return self


class StockQuery(Input):
    """A selection of SKUs."""

    skus: Annotated[list[SkuId], batch_of(SkuId, MAX_SHOWN, str)] = Field(
        description="SKUs, separated by commas, at most 100. The answer leaves out an id that no "
        "SKU can have."
    )


# The list of available units shows at most this number for a SKU, to hide the shop's sales.
MOST_SHOWN = 100


class StockAnswer(TypedDict):
    """The stock of a SKU, as its publisher sees it."""

    sku: SkuId
    on_hand: Annotated[int, Field(ge=0, description="All there are.")]
    available: Annotated[int, Field(ge=0, description="Units without a hold.")]
    held: Annotated[int, Field(ge=0, description="Units that carts and unfinished orders hold.")]


class AvailableAnswer(TypedDict):
    """Available units by SKU."""

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
    """Return the available units by SKU, each capped at `MOST_SHOWN`."""
    return {"available": {sku: min(units, MOST_SHOWN) for sku, units in available.items()}}


def declare(route: Route) -> None:
    """Declare the routes."""

    @route(
        "POST",
        "/shops/{site}/stock/{sku}",
        raises=(UnknownSku, StockIsCarted, IdempotencyKeyReused),
    )
    def change_stock(
        request: Request, site: SiteId, sku: SkuId, publisher: Publisher, body: StockChange
    ) -> Ok[StockAnswer]:
        """Put units on the shelf, remove units, or send the result of a count, once for each `key`.

        Carts and orders keep the units that they hold.
        """
        check_publisher(publisher, site)
        if sku not in offers(request.runtime.database, site, [sku]):
            raise UnknownSku
        change = NewMovement(body.key, body.change, body.counted, body.reason or "")
        return Ok(stock_answer(movements.move(request.runtime, key_of(site, sku), change)))

    @route("GET", "/shops/{site}/stock")
    def list_stock(
        request: Request, site: SiteId, caller: Principal | None, query: StockQuery
    ) -> Ok[AvailableAnswer]:
        """Read the available units of SKUs; 0 for unknown SKUs.

        Other callers than the publisher read 0 for SKUs that are not for sale, such as drafts.
        """
        database, is_own = request.runtime.database, caller is not None and owns(caller, site)
        shown = query.skus
        if not is_own:
            found = offers(database, site, query.skus)
            shown = [sku for sku, offer in found.items() if offer["state"] == "active"]
        available = {**dict.fromkeys(query.skus, 0), **shelf.available(database, site, shown)}
        return Ok(available_answer(available))
