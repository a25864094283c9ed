"""The routes that pages and links call: beacons, pixels, clicks and conversions."""

from http import HTTPStatus
from typing import Annotated

from chalice.app import Blueprint, Response
from pydantic import Field, StringConstraints

from chalicelib.ads import conversions, tracking
from chalicelib.ads.bots import is_bot
from chalicelib.ads.consent import identify_visitor
from chalicelib.ads.conversions import Conversion
from chalicelib.ads.models import MAX_BUDGET_MICROS, PartId, VisitorId
from chalicelib.ads.tokens import MAX_CHARACTERS
from chalicelib.http import Input, Request, no_content, router
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


class ConversionQuery(Input):
    """The query of a conversion's pixel; without a visitor, the cookie says who it is."""

    visitor: VisitorId | None = None
    value_micros: int = Field(0, ge=0, le=MAX_BUDGET_MICROS)
    order: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")] | None = None
    consent: bool | None = None


def routes(runtime: Runtime) -> Blueprint:
    """Return the tracking routes; of a beacon or click, nothing but the token is read."""
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

    @route("GET", "/ads/conversions/{advertiser}/pixel")
    def get_conversion(request: Request, advertiser: PartId) -> Response:
        query = request.query(ConversionQuery)
        headers = request.raw.headers
        visitor = identify_visitor(headers, query.visitor, str, consent=query.consent)
        if visitor.id and not visitor.is_new and not is_bot(headers.get("user-agent")):
            happened = Conversion(advertiser, visitor.id, query.value_micros, query.order)
            conversions.record(runtime, happened)
        return _no_content()

    return blueprint


def _impression(request: Request, token: str) -> Response:
    tracking.record_impression(request.runtime, token, request.raw.headers.get("user-agent"))
    return _no_content()


def _no_content() -> Response:
    answer = no_content()
    answer.headers.update(_NOT_KEPT)
    return answer
