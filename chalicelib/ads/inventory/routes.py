"""The routes of zones."""

from collections.abc import Callable
from http import HTTPStatus

from chalice.app import Response

from chalicelib.ads.ids import PartId, SiteId
from chalicelib.ads.inventory import zones
from chalicelib.ads.inventory.models import Zone
from chalicelib.ads.permissions import require_publisher
from chalicelib.http import Request, Route, no_content, reply
from chalicelib.limits import INVENTORY
from chalicelib.runtime import Runtime


def declare(route: Route, runtime: Runtime, on_change: Callable[[], None]) -> None:
    """Declare the routes of zones; `on_change` has the container look at its zones again."""
    database = runtime.database

    @route("PUT", "/sites/{site}/zones/{zone}", limit=INVENTORY)
    def put_zone(request: Request, site: SiteId, zone: PartId) -> Response:
        require_publisher(request, site)
        stored = zones.put(database, site, zone, request.body(Zone))
        on_change()
        return reply(stored, HTTPStatus.CREATED if stored["version"] == 1 else HTTPStatus.OK)

    @route("GET", "/sites/{site}/zones/{zone}")
    def get_zone(request: Request, site: PartId, zone: PartId) -> Response:
        require_publisher(request, site)
        return reply(zones.get(database, site, zone))

    @route("DELETE", "/sites/{site}/zones/{zone}")
    def delete_zone(request: Request, site: PartId, zone: PartId) -> Response:
        require_publisher(request, site)
        zones.delete(database, site, zone)
        on_change()
        return no_content()
