"""The forms in which the API answers about revisions."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
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
from chalicelib.content.shapes import Revision
from chalicelib.content.slugs import Slug
from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Next
from chalicelib.texts import ShownLine


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
    """What a draft was."""

    version: int
    saved_by: WriterAnswer | None
    saved_at: datetime
    was_live: bool


class RevisionsAnswer(TypedDict):
    """A page of revisions, newest first."""

    revisions: Annotated[list[RevisionSummary], Field(max_length=MAX_PAGE)]
    next: Next


class DifferencesAnswer(TypedDict):
    """How two revisions differ."""

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
