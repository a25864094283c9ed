"""Publications and moves as publishers send them."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, model_validator

from chalicelib.content.shapes import CommentsChoice
from chalicelib.content.slugs import Prefix
from chalicelib.http import Input
from chalicelib.instants import Instant, in_utc

_YEARS = range(1971, 2101)


def _example(**body: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [body]})


def _check_year(time: datetime) -> datetime:
    # The indexes of published pages begin in 1970.
    if time.year not in _YEARS:
        raise ValueError(f"the year must be between {_YEARS.start} and {_YEARS.stop - 1}")
    return in_utc(time)


Date = Annotated[AwareDatetime, AfterValidator(_check_year)]


class Publication(Input):
    """The publication of a draft, from an instant, until an instant."""

    model_config = _example(version=3, at="2026-12-01T06:00:00Z")

    version: Annotated[int, Field(ge=1, description="The version of the draft that was read.")]
    at: Instant | None = Field(
        None,
        description="From when readers see it; left out, from now. A past instant is the date of a "
        "page that is published for the first time.",
    )
    dated: Date | None = Field(
        None,
        description="The date that readers see, and that lists are sorted by, such as of a page "
        "that moves here; no later than `at`. Left out, it stays, and is first the instant of the "
        "first publication.",
    )
    until: Instant | None = Field(
        None,
        description="Until when; left out, it stays as it was, and null means for good. Of a page "
        "that ends before `at`, it has to be given.",
    )
    minor: bool = Field(
        default=False,
        description="Whether feeds show it as no newer than it was: a corrected slip.",
    )
    comments: CommentsChoice | None = Field(
        None,
        description="Whether the page has a discussion; left out, its earlier choice or else the "
        "site's holds. A discussion that was begun stays.",
    )
    take: bool = Field(
        default=False, description="Whether it takes an address that another page had once."
    )


class AddressMove(Input):
    """A change of the prefix of addresses."""

    model_config = _example(**{"from": "news/2025/", "to": "archive/2025/"})

    from_: Prefix = Field(alias="from")
    to: Prefix

    @model_validator(mode="after")
    def _check_change(self) -> Self:
        if self.from_ == self.to:
            raise ValueError("the prefixes must differ")
        return self
