"""The routes of zones."""

from collections.abc import Callable

from chalicelib.ads.errors import UnknownZone
from chalicelib.ads.ids import PartId, ServingSiteId
from chalicelib.ads.inventory import zones
from chalicelib.ads.inventory.answers import ZoneAnswer, zone_answer
from chalicelib.ads.inventory.models import Zone
from chalicelib.errors import ChangeTooLarge
from chalicelib.http import Created, NoContent, Ok, Request, Route
from chalicelib.limits import INVENTORY
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import Publisher, check_publisher


def declare(route: Route, runtime: Runtime, on_change: Callable[[], None]) -> None:
    """Declare the routes of zones; `on_change` has the container look at its zones again."""
    database = runtime.database

    @route("PUT", "/sites/{site}/zones/{zone}", limit=INVENTORY, raises=(ChangeTooLarge,))
    def put_zone(
        request: Request, site: ServingSiteId, zone: PartId, caller: Publisher, body: Zone
    ) -> Ok[ZoneAnswer] | Created[ZoneAnswer]:
        """Make a zone or change its settings.

        Ads that the new settings refuse leave at once. Those that they no longer refuse come back
        within minutes.
        """
        del request
        check_publisher(caller, site)
        stored = zones.put(database, site, zone, body)
        on_change()
        answer = zone_answer(stored)
        return Created(answer) if stored["version"] == 1 else Ok(answer)

    @route("GET", "/sites/{site}/zones/{zone}", raises=(UnknownZone,))
    def get_zone(request: Request, site: SiteId, zone: PartId, caller: Publisher) -> Ok[ZoneAnswer]:
        """Read a zone's settings, and how many ads it has."""
        del request
        check_publisher(caller, site)
        return Ok(zone_answer(zones.get(database, site, zone)))

    @route("DELETE", "/sites/{site}/zones/{zone}", raises=(ChangeTooLarge,))
    def delete_zone(request: Request, site: SiteId, zone: PartId, caller: Publisher) -> NoContent:
        """Delete a zone; one that is not there stays so.

        The campaigns keep it as a target, and their ads wait for a zone of this id. Ads that it
        has shown are counted and paid as promised.
        """
        del request
        check_publisher(caller, site)
        zones.delete(database, site, zone)
        on_change()
        return NoContent()
