"""Drafts and revisions as the API reads and shows them."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from chalicelib.content.answers import (
    ShownSummary,
    TagsAnswer,
    WordsAnswer,
    WriterAnswer,
    words_answer,
    writer_answer,
)
from chalicelib.content.editing.differences import MAX_SENT_BYTES, FieldDifference
from chalicelib.content.shapes import MAX_SUMMARY_CHARACTERS, Revision
from chalicelib.content.slugs import Slug, Tags
from chalicelib.content.types import CONTENT_TYPES, TypeName
from chalicelib.content.visibility import State
from chalicelib.http import MAX_PAGE, Input, PageQuery
from chalicelib.http.paging import Next
from chalicelib.registered import AnyOf
from chalicelib.texts import Line, Paragraphs, ShownLine, at_most

# 200,000 characters take up to 600 kB of UTF-8, and more with JSON's escapes.
BODY_LIMIT_BYTES = 1_500_000

Summary = Annotated[
    Paragraphs,
    at_most(MAX_SUMMARY_CHARACTERS),
    Field(description="Plain text, for lists and feeds."),
]
AnyTypesDetail = Annotated[Any, AnyOf(CONTENT_TYPES), Field(description="The fields of the type.")]


def _example(**body: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [body]})


class NewContent(Input):
    """A new page, post or photo; `type` decides the fields of `detail`."""

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
    """The changes of a draft; omitted fields stay. A `detail` replaces the whole detail."""

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
    """The query of the desk: a site's pages in one state."""

    state: Annotated[State, Field(description="The state of the pages.")] = "draft"


class RevisionSummary(TypedDict):
    """A revision in a list, without its detail."""

    version: int
    slug: Slug
    title: ShownLine
    summary: ShownSummary | None
    tags: TagsAnswer
    saved_by: WriterAnswer | None
    saved_at: datetime
    was_live: Annotated[bool, Field(description="Whether readers saw it, or will.")]


class RevisionAnswer(WordsAnswer):
    """A revision: the draft as one save left it."""

    version: int
    saved_by: WriterAnswer | None
    saved_at: datetime
    was_live: bool


class RevisionsAnswer(TypedDict):
    """A page of revisions, newest first."""

    revisions: Annotated[list[RevisionSummary], Field(max_length=MAX_PAGE)]
    next: Next


class DifferencesAnswer(TypedDict):
    """The differences between two revisions."""

    before: int
    after: int
    fields: Annotated[
        list[FieldDifference],
        Field(max_length=100, json_schema_extra={"x-plaza-max-bytes": MAX_SENT_BYTES}),
    ]


def revision_summary(revision: Revision) -> RevisionSummary:
    """Return a revision as a list shows it."""
    return {
        "version": revision["_id"]["version"],
        "slug": revision["slug"],
        "title": revision["title"],
        "summary": revision["summary"],
        "tags": revision["tags"],
        "saved_by": writer_answer(revision["by"]),
        "saved_at": revision["at"],
        "was_live": revision["was_live"],
    }


def revision_answer(revision: Revision) -> RevisionAnswer:
    """Return a revision as the API shows it."""
    return {
        **words_answer(revision),
        "version": revision["_id"]["version"],
        "saved_by": writer_answer(revision["by"]),
        "saved_at": revision["at"],
        "was_live": revision["was_live"],
    }
