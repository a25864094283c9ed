"""What readers ask for."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from chalicelib.content.slugs import Slug, Tag
from chalicelib.http import Input, PageQuery

Include = Literal["discussion", "neighbours"]
PreviewToken = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,400}$"),
    Field(description="What a preview's address ends with."),
]


_INCLUDES = "^(discussion|neighbours)(,(discussion|neighbours))?$"


def _split(text: object) -> object:
    return tuple(text.split(",")) if isinstance(text, str) else text


class AddressQuery(Input):
    """The address of a page, and what is answered beside it."""

    address: Slug
    include: Annotated[
        tuple[Include, ...],
        Field(max_length=2),
        BeforeValidator(_split, json_schema_input_type=Annotated[str, Field(pattern=_INCLUDES)]),
    ] = Field(
        # A default of the list would stand in the document, where this is a text.
        default_factory=tuple,
        description="`discussion`: how many comments it has. `neighbours`: the pages of its "
        "type before and after it. Each costs the reads that it takes. Both: by a comma.",
    )


class ListQuery(PageQuery):
    """Which of a site's pages are listed."""

    type: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")] | None = Field(
        None, description="Those of one type.", examples=["blog"]
    )
    tag: Tag | None = Field(None, description="Those with a tag.")


class PreviewRequest(Input):
    """A preview's address to be made."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"end_others": True}]})

    end_others: bool = Field(
        default=False, description="Whether the addresses that were made before end."
    )
