"""The forms in which the API answers readers."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.content.answers import (
    DetailBesideText,
    TagsAnswer,
    WriterAnswer,
    without_text,
    writer_answer,
)
from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.content.slugs import ContentId, Slug
from chalicelib.http import MAX_PAGE
from chalicelib.http.pages import Next
from chalicelib.sites.ids import SiteId


class EntryAnswer(TypedDict):
    """A page in a list, without its text."""

    id: ContentId
    type: str
    address: Slug
    title: str
    summary: str | None
    tags: TagsAnswer
    detail: DetailBesideText
    author: WriterAnswer | None
    published_at: datetime
    updated_at: Annotated[datetime, Field(description="The last change that was not minor.")]
    views: Annotated[
        int | None, Field(description="If asked for, and if the site's analytics are public.")
    ]


class EntriesAnswer(TypedDict):
    """A page of a list, newest first."""

    entries: Annotated[list[EntryAnswer], Field(max_length=MAX_PAGE)]
    next: Next


class TagCountAnswer(TypedDict):
    """A tag, and how many pages that are shown have it."""

    tag: str
    count: int


class TagCountsAnswer(TypedDict):
    """The tags of a site, the most used first."""

    tags: Annotated[list[TagCountAnswer], Field(max_length=500)]


class FeedsAnswer(TypedDict):
    """The addresses of a site's feeds."""

    atom: str
    json: str


class NeighbourAnswer(TypedDict):
    """The page of the same type before or after one."""

    address: Slug
    title: str


class DiscussionCountAnswer(TypedDict):
    """A page's discussion."""

    id: str
    comments: Annotated[int, Field(description="How many comments everybody sees.")]


class NeighboursAnswer(TypedDict):
    """The pages of the same type before and after one, by their publication."""

    previous: NeighbourAnswer | None
    next: NeighbourAnswer | None


class ShownAnswer(EntryAnswer):
    """A page as its readers see it."""

    site: SiteId
    html: Annotated[str, Field(description="The text as sanitised HTML.")]
    discussion_id: Annotated[str | None, Field(description="The node of its comments.")]
    feeds: FeedsAnswer
    discussion: Annotated[
        DiscussionCountAnswer | None, Field(description="If asked for, and if it has one.")
    ]
    neighbours: Annotated[NeighboursAnswer | None, Field(description="If asked for.")]


class PreviewAddressAnswer(TypedDict):
    """The address of a preview."""

    url: str
    ends_at: datetime


class DraftShownAnswer(TypedDict):
    """A draft as it would be shown."""

    site: SiteId
    type: str
    address: Slug
    title: str
    summary: str | None
    tags: TagsAnswer
    detail: dict[str, Any]
    html: str


def entry_answer(node: ContentNode, edition: Edition) -> EntryAnswer:
    """Return a page as a list shows it, before its views are asked for."""
    published = node["published"]
    assert published is not None  # noqa: S101 - it is shown
    return {
        "id": node["_id"],
        "type": node["type"],
        "address": edition["slug"],
        "title": edition["title"],
        "summary": edition["summary"],
        "tags": edition["tags"],
        "detail": without_text(edition["detail"]),
        "author": writer_answer(node["author"]),
        "published_at": published,
        "updated_at": edition["updated"],
        "views": None,
    }


def feeds_of(public_url: str, site: str) -> FeedsAnswer:
    """Return the addresses of a site's feeds."""
    base = f"{public_url}/content/{site}/feed"
    return {"atom": f"{base}.atom", "json": f"{base}.json"}
