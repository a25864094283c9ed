"""Publications and moves as publishers send them."""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from chalicelib.content.slugs import Prefix
from chalicelib.http import Input
from chalicelib.instants import Instant


def _example(**body: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [body]})


class Publication(Input):
    """The publication of a draft, from an instant, until an instant."""

    model_config = _example(version=3, at="2026-12-01T06:00:00Z")

    version: Annotated[int, Field(ge=1, description="The version of the draft that was read.")]
    at: Instant | None = Field(None, description="From when readers see it; left out, from now.")
    until: Instant | None = Field(
        None, description="Until when; left out, it stays as it was, and null means for good."
    )
    minor: bool = Field(
        default=False,
        description="Whether feeds show it as no newer than it was: a corrected slip.",
    )
    take: bool = Field(
        default=False, description="Whether it takes an address that another page had once."
    )


class AddressMove(Input):
    """A change of the beginning of addresses."""

    model_config = _example(**{"from": "news/2025/", "to": "archive/2025/"})

    from_: Prefix = Field(alias="from")
    to: Prefix

    @model_validator(mode="after")
    def _check_change(self) -> Self:
        if self.from_ == self.to:
            raise ValueError("the prefixes must differ")
        return self
