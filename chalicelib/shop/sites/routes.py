"""The routes of a shop's settings."""

from chalicelib.http import Ok, Request, Route
from chalicelib.shop.errors import CurrencyFixed, UnknownShop
from chalicelib.shop.sites import settings
from chalicelib.shop.sites.answers import ShopAnswer, shop_answer
from chalicelib.shop.sites.models import ShopSettings
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import Publisher, check_publisher


def declare(route: Route) -> None:
    """Declare the routes."""

    @route("GET", "/shops/{site}", raises=(UnknownShop,))
    def get_shop(request: Request, site: SiteId, publisher: Publisher) -> Ok[ShopAnswer]:
        """Read how a shop sells."""
        check_publisher(publisher, site)
        return Ok(shop_answer(settings.find(request.runtime.database, site)))

    @route("PUT", "/shops/{site}", raises=(CurrencyFixed,))
    def put_shop(
        request: Request, site: SiteId, publisher: Publisher, body: ShopSettings
    ) -> Ok[ShopAnswer]:
        """Open a shop, or change how it sells; its currency never changes."""
        check_publisher(publisher, site)
        return Ok(shop_answer(settings.put(request.runtime.database, site, body)))
