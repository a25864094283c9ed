"""The routes of conversions: the pixel of an advertiser's page, and the keys that sign it."""

from http import HTTPStatus
from typing import Annotated

from chalice.app import Response
from pydantic import Field, StringConstraints

from chalicelib.ads.errors import InvalidSignature
from chalicelib.ads.ids import PartId
from chalicelib.ads.permissions import require_advertiser
from chalicelib.ads.responses import NO_STORE
from chalicelib.ads.tracking import conversion_keys, conversions
from chalicelib.ads.tracking.bots import is_bot
from chalicelib.ads.tracking.conversion_keys import ConversionKey
from chalicelib.ads.tracking.conversions import MAX_VALUE_MICROS, Conversion
from chalicelib.ads.visitors.consent import identify_visitor
from chalicelib.ads.visitors.visitor_ids import VisitorValue
from chalicelib.database import Document
from chalicelib.http import Input, Request, Route, no_content, reply
from chalicelib.limits import MONEY


class ConversionQuery(Input):
    """The query of a conversion's pixel; without a visitor, the cookie says who it is."""

    visitor: VisitorValue | None = None
    value_micros: int = Field(0, ge=0, le=MAX_VALUE_MICROS)
    order: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")] | None = None
    signature: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    consent: bool | None = None


def declare(route: Route) -> None:
    """Declare the routes of conversions; an unsigned one is refused before anything is read."""

    @route("GET", "/ads/conversions/{advertiser}/pixel")
    def get_conversion(request: Request, advertiser: PartId) -> Response:
        query = request.query(ConversionQuery)
        _require_signature(request, advertiser, query)
        headers, keys = request.raw.headers, request.runtime.settings.signing_keys
        visitor = identify_visitor(headers, query.visitor, keys, str, consent=query.consent)
        if visitor.id and not visitor.is_new and not is_bot(request.user_agent):
            happened = Conversion(advertiser, visitor.id, query.value_micros, query.order)
            conversions.record(request.runtime, happened)
        answer = no_content()
        answer.headers.update(NO_STORE)
        return answer

    @route("GET", "/advertisers/{advertiser}/conversion-key")
    def get_key(request: Request, advertiser: PartId) -> Response:
        require_advertiser(request, advertiser)
        return reply(
            _keys(conversion_keys.read(request.runtime.database, advertiser)), headers=NO_STORE
        )

    @route("POST", "/advertisers/{advertiser}/conversion-key", limit=MONEY)
    def post_key(request: Request, advertiser: PartId) -> Response:
        require_advertiser(request, advertiser)
        keys = conversion_keys.rotate(
            request.runtime.database, advertiser, request.runtime.now(), request.runtime.random
        )
        return reply(_keys(keys), HTTPStatus.CREATED, headers=NO_STORE)


def _require_signature(request: Request, advertiser: str, query: ConversionQuery) -> None:
    database, signature = request.runtime.database, query.signature
    if signature is None or not conversion_keys.is_signed(
        database, advertiser, query.order, query.value_micros, signature
    ):
        raise InvalidSignature


def _keys(keys: list[ConversionKey]) -> Document:
    return {"keys": keys}
