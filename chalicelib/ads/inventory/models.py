"""Request bodies of zones."""

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
)

from chalicelib.ads.bounds import MAX_BID_MICROS
from chalicelib.ads.ids import PartId
from chalicelib.http import Input

# On a zone's list; both fit into a body, and with the zone's rows into 16 MiB.
MAX_LISTED_ADVERTISERS = 400


class Size(Input):
    """A zone's place on the page, in CSS pixels."""

    width: int = Field(ge=1, le=10_000)
    height: int = Field(ge=1, le=10_000)


def _advertisers(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("duplicate advertisers are not allowed")
    return names


Advertisers = Annotated[
    list[PartId], Field(max_length=MAX_LISTED_ADVERTISERS), AfterValidator(_advertisers)
]


class Zone(Input):
    """The body of `PUT /sites/{site}/zones/{zone}`.

    The zone takes no ad below the floor, of a blocked advertiser or, where a list of allowed
    ones is given, of any other; and no HTML creative unless `allow_html`. `count_on` says what an
    impression is: the page's beacon, or the decision itself, for pages that cannot beacon.
    """

    size: Size
    floor_ecpm_micros: int = Field(0, ge=0, le=MAX_BID_MICROS * 1_000)
    count_on: Literal["beacon", "decision"] = "beacon"
    allow_html: bool = False
    # None allows everybody, an empty list nobody.
    allowed_advertisers: Advertisers | None = None
    blocked_advertisers: Advertisers = Field([])
