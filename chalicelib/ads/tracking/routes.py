"""The routes that pages and links call: beacons, pixels and clicks."""

from chalicelib.ads.errors import InvalidToken, TokenExpired, UnknownCampaign
from chalicelib.ads.responses import NO_STORE
from chalicelib.ads.tracking import beacons
from chalicelib.ads.tracking.models import BEACON_TYPES, Token
from chalicelib.http import Found, NoContent, Request, Route


def declare(route: Route) -> None:
    """Declare the routes of beacons and clicks; nothing but the token is read of a call."""

    # The address is what a WAF limits: a count of ours would cost more than the beacon.
    @route(
        "POST",
        "/ads/events/{token}",
        BEACON_TYPES,
        limit=None,
        is_audited=False,
        raises=(InvalidToken, TokenExpired),
    )
    def record_impression(request: Request, token: Token) -> NoContent:
        """Record that an ad was seen: the `impression_url` of an ad, for `sendBeacon`.

        Nothing of the body is read. An impression counts once, however often it is reported.
        """
        return _impression(request, token)

    @route("GET", "/ads/events/{token}/pixel", raises=(InvalidToken, TokenExpired))
    def record_impression_by_pixel(request: Request, token: Token) -> NoContent:
        """Record that an ad was seen, by an image: for pages without scripts."""
        return _impression(request, token)

    @route("GET", "/ads/click/{token}", raises=(InvalidToken, TokenExpired, UnknownCampaign))
    def follow_click(request: Request, token: Token) -> Found:
        """Record a click on an ad and lead to its page: the `click_url` of an ad.

        A click counts once. If the ad was removed since it was shown, there is no page to lead to.
        """
        url = beacons.record_click(request.runtime, token, request.user_agent)
        return Found(headers={"Location": url, **NO_STORE})


def _impression(request: Request, token: str) -> NoContent:
    beacons.record_impression(request.runtime, token, request.user_agent)
    return NoContent(headers=NO_STORE)
