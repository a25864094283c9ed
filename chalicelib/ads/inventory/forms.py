"""The form of a zone's settings, with every bound."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from chalicelib.ads.bounds import MAX_BID_MICROS
from chalicelib.ads.ids import PartId
from chalicelib.http import Input

# For each of a zone's two lists. Both fit into a request, and with the zone's rows into 16 MiB.
MAX_LISTED_ADVERTISERS = 400


class Size(Input):
    """The size of a zone's place on the page, in CSS pixels."""

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
    """A publisher's settings of a zone; missing fields have their defaults."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "size": {"width": 300, "height": 250},
                    "floor_ecpm_micros": 500_000,
                    "blocked_advertisers": ["loud-horns"],
                }
            ]
        }
    )

    size: Size
    floor_ecpm_micros: int = Field(
        0,
        ge=0,
        le=MAX_BID_MICROS * 1_000,
        description="It takes no ad that pays less for a thousand impressions, in millionths of "
        "the currency.",
    )
    count_on: Literal["beacon", "decision"] = Field(
        "beacon",
        description="What an impression is: the page's beacon, or the decision itself, for pages "
        "that cannot beacon.",
    )
    # Stored under this name since the first release.
    allow_html: bool = Field(
        default=False, alias="can_hold_html", description="Whether it takes HTML creatives."
    )
    allowed_advertisers: Advertisers | None = Field(
        None,
        description="The only advertisers that it takes, each once; null for all, an empty list "
        "for none.",
    )
    blocked_advertisers: Advertisers = Field(
        [], description="Advertisers that it never takes, each once."
    )
