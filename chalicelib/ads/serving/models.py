"""Query parameters of a request for ads."""

from typing import Annotated

from pydantic import (
    BeforeValidator,
    Field,
)

from chalicelib.ads.visitors.visitor_ids import VisitorValue
from chalicelib.http import Input
from chalicelib.ids import Id
from chalicelib.instants import Instant
from chalicelib.keywords import normalise_keyword

MAX_ASKED_KEYWORDS = 100


MAX_ASKED_CHARACTERS = 10_000


MAX_ASKED_ADS = 20


def _asked_keywords(text: object) -> object:
    """Return the keywords of `a,b`; what no ad can name is left to match none."""
    if not isinstance(text, str):
        return text
    normalised = (normalise_keyword(each) for each in text[:MAX_ASKED_CHARACTERS].split(","))
    return tuple(dict.fromkeys(filter(None, normalised)))


class AskedAds(Input):
    """What a request for ads says of the page and the visitor."""

    visitor: VisitorValue | None = Field(
        None, description="The visitor's signed value; without it, that of the cookie."
    )
    keywords: Annotated[
        tuple[str, ...], Field(max_length=MAX_ASKED_KEYWORDS), BeforeValidator(_asked_keywords)
    ] = Field(
        (),
        description="What the page is about, separated by commas; ads that name one come first.",
    )
    count: int = Field(1, ge=1, le=MAX_ASKED_ADS, description="How many ads at most.")
    repeat: bool = Field(
        default=False, description="Whether several ads may be of the same campaign."
    )


class AdsQuery(AskedAds):
    """The query of `GET /ads/{site}/{zone}`; `consent` is what the visitor told the page."""

    consent: bool | None = Field(
        None,
        description="What the visitor told the page: `true` to be remembered, by a cookie if need "
        "be, `false` for nothing to be kept. Left out, `Sec-GPC` and `DNT` decide.",
    )


class ExplainQuery(AskedAds):
    """The query of `.../explain`; the last three name a decision that has been made."""

    decision_id: Annotated[str, Id] | None = Field(
        None, description="The decision that is to be explained; left out, one is made."
    )
    decided_at: Instant | None = Field(
        None, description="When it was made: the visitor's history is that of this time."
    )
    version: int | None = Field(
        None, ge=1, description="The version that the zone had; it must still have it."
    )
