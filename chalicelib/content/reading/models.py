"""What readers ask for."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from chalicelib.content.slugs import Slug, Tag
from chalicelib.http import Input, PageQuery

# Analytics count for so many pages in one call.
MAX_VIEWED = 100
Include = Literal["discussion", "neighbours", "views"]
PreviewToken = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,400}$"),
    Field(description="What a preview's address ends with."),
]


_INCLUDE = "(discussion|neighbours|views)"
_INCLUDES = f"^{_INCLUDE}(,{_INCLUDE}){{0,2}}$"
_VIEWS = "`views`: how often it was read, where the site's analytics are public; else null."


def _split(text: object) -> object:
    return tuple(text.split(",")) if isinstance(text, str) else text


class AddressQuery(Input):
    """The address of a page, and what is answered beside it."""

    address: Slug
    include: Annotated[
        tuple[Include, ...],
        Field(max_length=3),
        BeforeValidator(_split, json_schema_input_type=Annotated[str, Field(pattern=_INCLUDES)]),
    ] = Field(
        # A default of the list would stand in the document, where this is a text.
        default_factory=tuple,
        description="`discussion`: how many comments it has. `neighbours`: the pages of its "
        f"type before and after it. {_VIEWS} Each costs its reads. Several: by commas.",
    )


class ListQuery(PageQuery):
    """Which of a site's pages are listed."""

    type: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")] | None = Field(
        None, description="Those of one type.", examples=["blog"]
    )
    tag: Tag | None = Field(None, description="Those with a tag.")
    include: Literal["views"] | None = Field(
        None, description=f"{_VIEWS} For at most {MAX_VIEWED} pages at once."
    )

    @model_validator(mode="after")
    def _check_viewed(self) -> Self:
        if self.include and self.limit > MAX_VIEWED:
            raise ValueError(f"views are told of at most {MAX_VIEWED} pages at once")
        return self


class PreviewRequest(Input):
    """A preview's address to be made."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"end_others": True}]})

    end_others: bool = Field(
        default=False, description="Whether the addresses that were made before end."
    )
