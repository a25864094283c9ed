"""The routes of stock."""

from chalicelib.errors import IdempotencyKeyReused
from chalicelib.http import Ok, Request, Route
from chalicelib.shop.ids import SkuId, key_of
from chalicelib.shop.products.offers import offers
from chalicelib.shop.stock import movements, shelf
from chalicelib.shop.stock.answers import (
    AvailableAnswer,
    StockAnswer,
    available_answer,
    stock_answer,
)
from chalicelib.shop.stock.errors import StockIsCarted, UnknownSku
from chalicelib.shop.stock.models import StockChange, StockQuery
from chalicelib.shop.stock.movements import Change
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import Publisher, check_publisher


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
        """Put units on the shelf, take some off, or say what a count has found.

        Once for each `key`. What carts and orders hold is never taken from them.
        """
        check_publisher(publisher, site)
        if sku not in offers(request.runtime.database, site, [sku]):
            raise UnknownSku
        change = Change(body.key, body.change, body.counted, body.reason or "")
        return Ok(stock_answer(movements.move(request.runtime, key_of(site, sku), change)))

    @route("GET", "/shops/{site}/stock")
    def list_stock(request: Request, site: SiteId, query: StockQuery) -> Ok[AvailableAnswer]:
        """Read how many of some SKUs are available; 0 of those that are unknown."""
        return Ok(available_answer(shelf.available(request.runtime.database, site, query.skus)))
