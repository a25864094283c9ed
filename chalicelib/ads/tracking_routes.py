"""The routes that pages and links call: beacons, pixels and clicks."""

from http import HTTPStatus
from typing import Annotated

from chalice.app import Blueprint, Response
from pydantic import StringConstraints

from chalicelib.ads import tracking
from chalicelib.ads.tokens import MAX_CHARACTERS
from chalicelib.http import Request, no_content, router
from chalicelib.runtime import Runtime

Token = Annotated[str, StringConstraints(max_length=MAX_CHARACTERS)]
# `sendBeacon` sends a text as text/plain, a form as one of the others.
BEACON_TYPES = (
    "text/plain",
    "application/json",
    "application/x-www-form-urlencoded",
    "application/octet-stream",
)
_NOT_KEPT = {"Cache-Control": "no-store"}


def routes(runtime: Runtime) -> Blueprint:
    """Return the tracking routes; what a request's body or query says is never read."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)

    @route("POST", "/ads/events/{token}", BEACON_TYPES)
    def post_event(request: Request, token: Token) -> Response:
        return _impression(request, token)

    @route("GET", "/ads/events/{token}/pixel")
    def get_pixel(request: Request, token: Token) -> Response:
        return _impression(request, token)

    @route("GET", "/ads/click/{token}")
    def get_click(request: Request, token: Token) -> Response:
        url = tracking.record_click(runtime, token, request.raw.headers.get("user-agent"))
        return Response(
            body="", status_code=HTTPStatus.FOUND, headers={"Location": url, **_NOT_KEPT}
        )

    return blueprint


def _impression(request: Request, token: str) -> Response:
    tracking.record_impression(request.runtime, token, request.raw.headers.get("user-agent"))
    answer = no_content()
    answer.headers.update(_NOT_KEPT)
    return answer
