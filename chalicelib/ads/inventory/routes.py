"""The interface to zones, and the API's forms of creatives."""

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.ads.errors import UnknownZone
from chalicelib.ads.ids import PartId, ServingSiteId
from chalicelib.ads.inventory import zones
from chalicelib.ads.inventory.creatives import (
    MAX_HTML_BYTES,
    MAX_LINE_CHARACTERS,
    MAX_NATIVE_FIELDS,
    MAX_URL_CHARACTERS,
    FieldName,
)
from chalicelib.ads.inventory.forms import MAX_LISTED_ADVERTISERS, Zone
from chalicelib.ads.inventory.zones import ZoneDescription
from chalicelib.errors import ChangeTooLarge
from chalicelib.http import Created, NoContent, Ok, Request, Route
from chalicelib.http.callers import Publisher
from chalicelib.limits import INVENTORY
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher

Listed = Annotated[list[PartId], Field(max_length=MAX_LISTED_ADVERTISERS)]
AdvertisersUrl = Annotated[str, Field(max_length=MAX_URL_CHARACTERS)]
LandingUrl = Annotated[AdvertisersUrl, Field(description="The page that a click leads to.")]
AdLine = Annotated[str, Field(max_length=MAX_LINE_CHARACTERS)]


class ZoneSizeAnswer(TypedDict):
    """The size of a zone's place on the page, in CSS pixels."""

    width: int
    height: int


class ZoneAnswer(TypedDict):
    """A zone: a place on a site's pages where ads are shown."""

    id: PartId
    site_id: SiteId
    size: ZoneSizeAnswer
    floor_ecpm_micros: Annotated[
        int, Field(description="It takes no ad that pays less for a thousand impressions.")
    ]
    count_on: Annotated[
        Literal["beacon", "decision"],
        Field(description="What an impression is: the page's beacon, or the decision itself."),
    ]
    can_hold_html: Annotated[bool, Field(description="Whether it takes HTML creatives.")]
    allowed_advertisers: Annotated[
        Listed | None, Field(description="The only advertisers that it takes; null for all.")
    ]
    blocked_advertisers: Annotated[Listed, Field(description="Advertisers that it never takes.")]
    version: Annotated[int, Field(description="Grows with each change of settings or ads.")]
    ad_count: Annotated[int, Field(description="How many ads are in it now.")]


class ImageCreativeAnswer(TypedDict):
    """A picture."""

    type: Literal["image"]
    landing_url: LandingUrl
    url: Annotated[AdvertisersUrl, Field(description="Where the picture is.")]
    width: Annotated[int, Field(description="In pixels.")]
    height: Annotated[int, Field(description="In pixels.")]
    alt: Annotated[AdLine, Field(description="The words for those who do not see it.")]


class TextCreativeAnswer(TypedDict):
    """A headline and a line below it; plain text, which a page escapes."""

    type: Literal["text"]
    landing_url: LandingUrl
    headline: AdLine
    body: AdLine


class HtmlCreativeAnswer(TypedDict):
    """The advertiser's own markup; only the advertiser and admins read it in this form."""

    type: Literal["html"]
    landing_url: LandingUrl
    html: Annotated[str, Field(max_length=MAX_HTML_BYTES)]


class NativeCreativeAnswer(TypedDict):
    """Named plain texts that the page lays out by itself."""

    type: Literal["native"]
    landing_url: LandingUrl
    fields: Annotated[dict[FieldName, AdLine], Field(max_length=MAX_NATIVE_FIELDS)]


def zone_answer(zone: ZoneDescription) -> ZoneAnswer:
    """Return the API's form of a zone."""
    return {
        "id": zone["zone_id"],
        "site_id": zone["site_id"],
        "size": zone["size"],
        "floor_ecpm_micros": zone["floor_ecpm_micros"],
        "count_on": zone["count_on"],
        "can_hold_html": zone["allow_html"],
        "allowed_advertisers": zone["allowed_advertisers"],
        "blocked_advertisers": zone["blocked_advertisers"],
        "version": zone["version"],
        "ad_count": zone["ad_count"],
    }


def declare(route: Route, runtime: Runtime, on_change: Callable[[], None]) -> None:
    """Declare the routes of zones; `on_change` expires the zones in the container's memory."""
    database = runtime.database

    @route("PUT", "/sites/{site}/zones/{zone}", limit=INVENTORY, raises=(ChangeTooLarge,))
    def put_zone(
        request: Request, site: ServingSiteId, zone: PartId, caller: Publisher, body: Zone
    ) -> Ok[ZoneAnswer] | Created[ZoneAnswer]:
        """Make a zone or change its settings.

        Ads that the new settings refuse leave at once. Ads that the settings no longer refuse come
        back within minutes.
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
        """Delete a zone; a missing zone is no error.

        The campaigns still target the zone, and their ads wait for a new zone of this id. Events of
        ads that the zone has shown still count and cost.
        """
        del request
        check_publisher(caller, site)
        zones.delete(database, site, zone)
        on_change()
        return NoContent()
