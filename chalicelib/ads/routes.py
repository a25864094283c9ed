"""The blueprint of the ad network: its packages share one cache of zones per container."""

from chalice.app import Blueprint

from chalicelib.ads.billing import routes as billing
from chalicelib.ads.campaigns import routes as campaigns
from chalicelib.ads.inventory import routes as inventory
from chalicelib.ads.inventory.campaigns import time_zone_of
from chalicelib.ads.reports import routes as reports
from chalicelib.ads.serving import frame_routes as frames
from chalicelib.ads.serving import routes as serving
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.tracking import routes as tracking
from chalicelib.ads.visitors import routes as visitors
from chalicelib.http import router
from chalicelib.runtime import Runtime


def routes(runtime: Runtime) -> Blueprint:
    """Return the ad network's routes; a changed campaign or zone expires this container's cache."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Ads")
    zones = ZoneCache(runtime)
    campaigns.declare(route, runtime, zones.expire)
    inventory.declare(route, runtime, zones.expire)
    serving.declare(route, zones)
    for room in (frames, tracking, visitors):
        room.declare(route)
    tracking.declare_conversions(route)
    billing.declare(router(blueprint, runtime, "Money"))
    reports.declare(router(blueprint, runtime, "Reports"), time_zone_of)
    return blueprint
