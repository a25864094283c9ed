"""The blueprint of analytics: counting, settings, reports and sessions."""

from chalice.app import Blueprint

from chalicelib.analytics import settings_routes
from chalicelib.analytics.counting import routes as counting
from chalicelib.analytics.counting.beacons import Beacons
from chalicelib.analytics.reports import routes as reports
from chalicelib.analytics.reports.names import Pages
from chalicelib.analytics.sessions import routes as sessions
from chalicelib.http import router
from chalicelib.runtime import Runtime


def routes(runtime: Runtime, pages: Pages) -> Blueprint:
    """Return the blueprint of analytics; `pages` finds the names that are pages of a site."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Analytics")
    beacons = Beacons(runtime, pages)
    counting.declare(route, beacons)
    settings_routes.declare(route)
    reports.declare(route)
    sessions.declare(route)
    return blueprint
