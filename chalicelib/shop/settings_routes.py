"""A shop's settings in the API, for its publisher."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.http import Ok, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.shop import settings
from chalicelib.shop.errors import CurrencyFixed, OtherAccount, UnknownShop
from chalicelib.shop.money import Currency
from chalicelib.shop.settings import LayoutName, ShopSettings, ShopSite, hold_percent
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher
from chalicelib.texts import ShownUrl


class ShopAnswer(TypedDict):
    """How a shop sells."""

    site: SiteId
    currency: Currency
    hold_seconds: int
    hold_percent: Annotated[
        int, Field(description="The share of a SKU that carts hold together without an order.")
    ]
    payments: Literal["fake", "stripe"]
    order_page: ShownUrl | None
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
        "order_page": settings.get("order_page"),
        "layout": settings["layout"],
        "is_rewriting": settings.get("is_rewriting", False),
    }


def _check_account(request: Request, site: str) -> None:
    """Raise OtherAccount unless the deployment's Stripe account may take a site's payments.

    The setting `stripe_sites` names the sites (`*`: all). A shop that already uses Stripe passes.
    """
    named = request.runtime.settings.stripe_sites
    if not {"*", site} & {*named}:
        shop = settings.SITES.of(request.runtime.database).find_one({"_id": site})
        if shop is None or shop["payments"] != "stripe":
            raise OtherAccount


def declare(route: Route) -> None:
    """Declare the routes."""

    @route("GET", "/shops/{site}", raises=(UnknownShop,))
    def get_shop(request: Request, site: SiteId, publisher: Publisher) -> Ok[ShopAnswer]:
        """Read how a shop sells."""
        check_publisher(publisher, site)
        return Ok(shop_answer(settings.find(request.runtime.database, site)))

    @route("PUT", "/shops/{site}", raises=(CurrencyFixed, OtherAccount))
    def put_shop(
        request: Request, site: SiteId, publisher: Publisher, body: ShopSettings
    ) -> Ok[ShopAnswer]:
        """Open a shop, or change how it sells; its currency never changes.

        With `stripe` the buyers pay into the account of this deployment; a setting of the
        deployment names the sites that may use it.
        """
        check_publisher(publisher, site)
        if body.payments == "stripe":
            _check_account(request, site)
        stored = settings.put(request.runtime.database, site, body)
        settings.recall.forget(request.runtime, site)
        return Ok(shop_answer(stored))
