"""The routes that pages and links call: beacons, pixels and clicks."""

from http import HTTPStatus

from chalice.app import Response

from chalicelib.ads.responses import NO_STORE
from chalicelib.ads.tracking import beacons
from chalicelib.ads.tracking.models import BEACON_TYPES, Token
from chalicelib.http import Request, Route, no_content


def declare(route: Route) -> None:
    """Declare the routes of beacons and clicks; nothing but the token is read of a call."""

    # The address is what a WAF limits: a count of ours would cost more than the beacon.
    @route("POST", "/ads/events/{token}", BEACON_TYPES, limit=None, is_audited=False)
    def post_event(request: Request, token: Token) -> Response:
        return _impression(request, token)

    @route("GET", "/ads/events/{token}/pixel")
    def get_pixel(request: Request, token: Token) -> Response:
        return _impression(request, token)

    @route("GET", "/ads/click/{token}")
    def get_click(request: Request, token: Token) -> Response:
        url = beacons.record_click(request.runtime, token, request.user_agent)
        return Response(
            body="", status_code=HTTPStatus.FOUND, headers={"Location": url, **NO_STORE}
        )


def _impression(request: Request, token: str) -> Response:
    beacons.record_impression(request.runtime, token, request.user_agent)
    return _no_content()


def _no_content() -> Response:
    answer = no_content()
    answer.headers.update(NO_STORE)
    return answer
