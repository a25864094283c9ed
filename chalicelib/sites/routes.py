"""The routes of a site's settings."""

from chalice.app import Blueprint

from chalicelib.http import Ok, Request, router
from chalicelib.runtime import Runtime
from chalicelib.sites import settings
from chalicelib.sites.answers import SiteAnswer, site_answer
from chalicelib.sites.ids import SiteId
from chalicelib.sites.models import SiteShare
from chalicelib.sites.permissions import Admin, Publisher, check_publisher
from chalicelib.sites.settings import WHOLE_BP


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of sites."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Sites")

    @route("GET", "/sites/{site}")
    def get_site(request: Request, site: SiteId, publisher: Publisher) -> Ok[SiteAnswer]:
        """Read a site's share of what its ads earn."""
        check_publisher(publisher, site)
        return Ok(site_answer(site, settings.get_share(request.runtime.database, site)))

    @route("PUT", "/sites/{site}")
    def put_site(request: Request, site: SiteId, admin: Admin, body: SiteShare) -> Ok[SiteAnswer]:
        """Set a site's share of what its ads earn from now on."""
        del admin
        share_bp = round(body.revenue_share * WHOLE_BP)
        request.details["revenue_share"] = share_bp / WHOLE_BP
        settings.put_share(request.runtime.database, site, share_bp)
        return Ok(site_answer(site, share_bp))

    return blueprint
