"""The interface for pages: beacons, pixels, and the cookie against counting own visits."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.analytics.counting.beacons import (
    Beacons,
    Reported,
    expired_cookie,
    uncounted_cookie,
)
from chalicelib.analytics.counting.forms import BODY_BYTES, NewHits, PixelQuery, SentHit
from chalicelib.analytics.errors import OriginRefused, UnknownSite
from chalicelib.analytics.hits import HITS_AT_ONCE
from chalicelib.analytics.visitors.sources import origin_of
from chalicelib.http import Accepted, NoContent, Pixel, Request, Route
from chalicelib.identity import Principal
from chalicelib.sites.ids import SiteId

# `sendBeacon` sends a text as text/plain.
BEACON_TYPES = ("text/plain", "application/json")
NO_STORE = {"Cache-Control": "no-store"}


class Taken(TypedDict):
    """The answer to a beacon: the number of hits taken."""

    hits: Annotated[
        int,
        Field(
            ge=0,
            le=HITS_AT_ONCE,
            description="How many hits were taken; none from a browser whose visits are not "
            "counted, or that loads the page ahead.",
        ),
    ]


def declare(route: Route, beacons: Beacons) -> None:
    """Declare the routes of beacons."""
    _declare_beacons(route, beacons)
    _declare_cookie(route)


def _declare_beacons(route: Route, beacons: Beacons) -> None:
    # A WAF limits the calls of an IP address: a counter here would cost more than the beacon.
    @route(
        "POST",
        "/hits",
        BEACON_TYPES,
        limit=None,
        is_audited=False,
        body_limit_bytes=BODY_BYTES,
        raises=(UnknownSite, OriginRefused),
    )
    def take_hits(request: Request, caller: Principal | None, body: NewHits) -> Accepted[Taken]:
        """Report up to 20 opened pages, as `sendBeacon` sends them.

        A hit counts once, however often a page reports it. On sites with reports by user, a token
        names the user. Plaza drops a hit without a valid path. For any other faulty detail, it
        drops the detail alone. `GET /stats/{site}/losses` counts both.
        """
        user, origin = caller.id if caller else None, request.raw.headers.get("origin")
        taken = beacons.take(Reported(request, body.site, body.hits, user, origin))
        return Accepted({"hits": taken}, NO_STORE)

    @route("GET", "/hits/{site}/pixel", raises=(UnknownSite, OriginRefused))
    def take_pixel(request: Request, site: SiteId, query: PixelQuery) -> Pixel:
        """Report an opened page by an image, for pages without scripts."""
        hit = SentHit(id=query.id, path=query.path)
        origin = origin_of(request.raw.headers.get("referer"))
        beacons.take(Reported(request, site, [hit], None, origin, "path"))
        return Pixel()


def _declare_cookie(route: Route) -> None:
    @route("PUT", "/hits/ignore", is_audited=False)
    def ignore_own_hits(request: Request) -> NoContent:
        """Exclude this browser's visits to the calling page's site from all counts, by a cookie."""
        del request
        return NoContent(headers={"Set-Cookie": uncounted_cookie(), **NO_STORE})

    @route("DELETE", "/hits/ignore", is_audited=False)
    def count_own_hits(request: Request) -> NoContent:
        """Count this browser's visits to the calling page's site again."""
        del request
        return NoContent(headers={"Set-Cookie": expired_cookie(), **NO_STORE})
