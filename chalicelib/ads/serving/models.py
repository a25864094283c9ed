"""Query parameters of a request for ads."""

from typing import Annotated

from pydantic import (
    BeforeValidator,
    Field,
)

from chalicelib.ads.inventory.keywords import normalise_keyword
from chalicelib.ads.visitors.visitor_ids import VisitorValue
from chalicelib.http import Input
from chalicelib.ids import Id
from chalicelib.instants import Instant

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

    visitor: VisitorValue | None = None
    keywords: Annotated[
        tuple[str, ...], BeforeValidator(_asked_keywords), Field(max_length=MAX_ASKED_KEYWORDS)
    ] = ()
    count: int = Field(1, ge=1, le=MAX_ASKED_ADS)
    repeat: bool = False


class AdsQuery(AskedAds):
    """The query of `GET /ads/{site}/{zone}`; `consent` is what the visitor told the page."""

    consent: bool | None = None


class ExplainQuery(AskedAds):
    """The query of `.../explain`; the last three name a decision that has been made."""

    seed: Annotated[str, Id] | None = None
    at: Instant | None = None
    version: int | None = Field(None, ge=1)
