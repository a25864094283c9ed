"""The interface for pages and links: beacons, pixels, clicks and conversions."""

from contextlib import suppress
from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.ads.errors import InvalidSignature, InvalidToken, TokenExpired, UnknownCampaign
from chalicelib.ads.ids import PartId
from chalicelib.ads.permissions import check_advertiser
from chalicelib.ads.responses import NO_STORE
from chalicelib.ads.tracking import beacons, conversion_keys, conversions
from chalicelib.ads.tracking.conversion_keys import MAX_KEYS, ConversionKey
from chalicelib.ads.tracking.conversions import Conversion
from chalicelib.ads.tracking.tokens import MAX_CHARACTERS
from chalicelib.ads.visitors.visitor_ids import VisitorValue, identify_visitor
from chalicelib.currencies import MAX_AMOUNT_MICROS
from chalicelib.http import Created, Found, Input, NoContent, Ok, Pixel, Request, Route
from chalicelib.http.callers import Advertiser
from chalicelib.limits import MONEY

Token = Annotated[
    str,
    StringConstraints(max_length=MAX_CHARACTERS),
    Field(description="What an address of a served ad ends with; it counts for a day."),
]


# `sendBeacon` sends a text as text/plain, URLSearchParams as a form, a Blob as its own type.
BEACON_TYPES = (
    "text/plain",
    "application/json",
    "application/x-www-form-urlencoded",
    "application/octet-stream",
)


def declare(route: Route) -> None:
    """Declare the routes of beacons and clicks; a call needs nothing but its token."""

    # A WAF limits the calls of an IP address: a counter here would cost more than the beacon.
    @route(
        "POST",
        "/ads/events/{token}",
        BEACON_TYPES,
        limit=None,
        is_audited=False,
        raises=(InvalidToken, TokenExpired),
    )
    def record_impression(request: Request, token: Token) -> NoContent:
        """Record an impression: the `impression_url` of an ad, for `sendBeacon`.

        Ignores the body. An impression counts once, however often a page reports it.
        """
        _impression(request, token)
        return NoContent(headers=NO_STORE)

    @route("GET", "/ads/events/{token}/pixel", raises=(InvalidToken,))
    def record_impression_by_pixel(request: Request, token: Token) -> Pixel:
        """Record an impression by an image, for pages without scripts.

        An expired token returns the image, but counts nothing.
        """
        with suppress(TokenExpired):
            _impression(request, token)
        return Pixel()

    @route("GET", "/ads/click/{token}", raises=(InvalidToken, UnknownCampaign))
    def follow_click(request: Request, token: Token) -> Found:
        """Record a click on an ad and lead to its page: the `click_url` of an ad.

        A click counts once, within a day of the decision. A later click leads to the page, but
        does not count. A removed ad leads to its last page for a year.
        """
        url = beacons.record_click(request.runtime, token, by_person=request.is_by_person)
        return Found(headers={"Location": url, **NO_STORE})


def _impression(request: Request, token: str) -> None:
    beacons.record_impression(request.runtime, token, by_person=request.is_by_person)


class ConversionKeyAnswer(TypedDict):
    """A key that an advertiser's server signs conversions with."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8}$")]
    secret: Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43}$")],
        Field(description="The characters themselves are the key of the MAC."),
    ]
    made_at: datetime


class ConversionKeysAnswer(TypedDict):
    """An advertiser's valid keys."""

    keys: Annotated[
        list[ConversionKeyAnswer],
        Field(max_length=MAX_KEYS, description="The newest first; empty before the first."),
    ]


def keys_answer(keys: list[ConversionKey]) -> ConversionKeysAnswer:
    """Return the API's form of an advertiser's keys."""
    return {
        "keys": [
            {"id": key["key_id"], "secret": key["secret"], "made_at": key["made_at"]}
            for key in keys
        ]
    }


OrderName = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,64}$")]


class ConversionQuery(Input):
    """The query of a conversion's pixel; without `visitor`, the cookie names the visitor."""

    visitor: VisitorValue | None = Field(
        None, description="The visitor's signed value; without it, that of the cookie."
    )
    value_micros: int = Field(
        0,
        ge=0,
        le=MAX_AMOUNT_MICROS,
        description="What the order is worth, in millionths of the currency.",
    )
    order: OrderName | None = Field(
        None,
        description="The order's id, as its advertiser writes it: each counts once. Without it, "
        "once for each ad shown.",
    )
    signature: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        None,
        description="HMAC-SHA256 of `conversion:<advertiser>:<order>:<value_micros>` by one of the "
        "advertiser's keys, in hexadecimal. A call without it is refused.",
    )
    consent: bool | None = Field(
        None, description="What the visitor told the page; `false` records nothing."
    )


def declare_conversions(route: Route) -> None:
    """Declare the routes of conversions and keys; a conversion needs a valid signature."""

    @route("GET", "/ads/conversions/{advertiser}/pixel", raises=(InvalidSignature,))
    def record_conversion(request: Request, advertiser: PartId, query: ConversionQuery) -> Pixel:
        """Record a conversion, and credit it to the ad that led to it.

        The ad of the visitor's last click within 30 days, else of the last impression within a
        day, gets the credit. The answer for an unknown visitor is the same.
        """
        _check_signature(request, advertiser, query)
        headers, keys = request.raw.headers, request.runtime.settings.signing_keys
        visitor = identify_visitor(headers, query.visitor, keys, str, consent=query.consent)
        if visitor.id and not visitor.is_new and request.is_by_person:
            happened = Conversion(advertiser, visitor.id, query.value_micros, query.order)
            conversions.record(request.runtime, happened)
        return Pixel()

    _declare_keys(route)


def _declare_keys(route: Route) -> None:
    @route("GET", "/advertisers/{advertiser}/conversion-key")
    def list_conversion_keys(
        request: Request, advertiser: PartId, caller: Advertiser
    ) -> Ok[ConversionKeysAnswer]:
        """Read the keys that an advertiser's conversions may be signed with."""
        check_advertiser(caller, advertiser)
        keys = conversion_keys.read(request.runtime.database, advertiser)
        return Ok(keys_answer(keys), NO_STORE)

    @route("POST", "/advertisers/{advertiser}/conversion-key", limit=MONEY)
    def rotate_conversion_key(
        request: Request, advertiser: PartId, caller: Advertiser
    ) -> Created[ConversionKeysAnswer]:
        """Make a new conversion key; the previous key stays valid, older keys do not."""
        check_advertiser(caller, advertiser)
        runtime = request.runtime
        keys = conversion_keys.rotate(runtime.database, advertiser, runtime.now(), runtime.random)
        return Created(keys_answer(keys), NO_STORE)


def _check_signature(request: Request, advertiser: str, query: ConversionQuery) -> None:
    database, signature = request.runtime.database, query.signature
    if signature is None or not conversion_keys.is_signed(
        database, advertiser, query.order, query.value_micros, signature
    ):
        raise InvalidSignature
