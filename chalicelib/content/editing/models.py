"""What those who write send."""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from chalicelib.content.shapes import MAX_SUMMARY_CHARACTERS
from chalicelib.content.slugs import Slug, Tags
from chalicelib.content.types import CONTENT_TYPES, TypeName
from chalicelib.content.visibility import State
from chalicelib.http import Input, PageQuery
from chalicelib.registered import AnyOf
from chalicelib.texts import Line, Paragraphs, at_most

# 200,000 characters take up to 600 kB of UTF-8, and more with JSON's escapes.
BODY_LIMIT_BYTES = 1_500_000

Summary = Annotated[
    Paragraphs,
    at_most(MAX_SUMMARY_CHARACTERS),
    Field(description="Plain text, for lists and feeds."),
]
AnyTypesDetail = Annotated[Any, AnyOf(CONTENT_TYPES), Field(description="What the type has.")]


def _example(**body: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [body]})


class NewContent(Input):
    """A page, a post or a photo to write; `type` decides what `detail` has."""

    model_config = _example(
        type="blog",
        slug="ferry-timetable",
        title="The new ferry timetable",
        summary="The last boat leaves at nine.",
        tags=["harbour"],
        detail={"text": "The last boat leaves at *nine*, and on Sundays at eight."},
    )

    type: TypeName
    slug: Slug
    title: Line
    summary: Summary | None = None
    tags: Tags = Field(default_factory=list)
    detail: AnyTypesDetail


class ContentEdit(Input):
    """What changes on a draft; what is left out stays. A `detail` is the whole new one."""

    model_config = _example(
        title="The ferry's new timetable", detail={"text": "The last boat leaves at *ten*."}
    )

    slug: Slug | None = None
    title: Line | None = None
    summary: Summary | None = None
    tags: Tags | None = None
    detail: AnyTypesDetail | None = None

    @model_validator(mode="after")
    def _check_given(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("nothing is changed")
        for name in self.model_fields_set - {"summary"}:
            if getattr(self, name) is None:
                raise ValueError(f"{name} must not be null")
        return self


class DeskQuery(PageQuery):
    """The query of the desk."""

    state: Annotated[State, Field(description="Where the pages are on their way.")] = "draft"
