"""The forms in which the API answers those who write and publish."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.content.shapes import (
    MAX_SUMMARY_CHARACTERS,
    MAX_TAGS,
    ContentNode,
    Draft,
    Edition,
    Words,
    Writer,
)
from chalicelib.content.slugs import ContentId, Slug
from chalicelib.content.types import CONTENT_TYPES
from chalicelib.content.visibility import State, state
from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Next
from chalicelib.keywords import Keyword
from chalicelib.people.ids import UserId
from chalicelib.registered import AnyOf
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownLine, ShownName

TagsAnswer = Annotated[list[Keyword], Field(max_length=MAX_TAGS)]
ShownSummary = Annotated[str, Field(max_length=MAX_SUMMARY_CHARACTERS)]
ShownType = Annotated[str, Field(max_length=64)]
DiscussionId = Annotated[str, Field(max_length=256, pattern=r"^[A-Za-z0-9._~:-]*$")]
# What lists leave out of a detail.
_TEXTS = ("text",)
DetailBesideText = Annotated[
    Any,
    AnyOf(CONTENT_TYPES, without=_TEXTS),
    Field(description="What its type has beside the text."),
]


class WriterAnswer(TypedDict):
    """Who wrote something."""

    id: UserId
    name: ShownName


class WordsAnswer(TypedDict):
    """What a page says."""

    slug: Slug
    title: ShownLine
    summary: ShownSummary | None
    tags: TagsAnswer
    detail: Annotated[Any, AnyOf(CONTENT_TYPES)]


class DraftAnswer(WordsAnswer):
    """What editors work on, and who saved it last."""

    saved_by: Annotated[WriterAnswer | None, Field(description="Null once they were erased.")]
    saved_at: datetime


class EditionAnswer(WordsAnswer):
    """A version of a page as readers see it, or will."""

    version: int
    minor: bool
    shown_from: datetime


class _PlacedAnswer(TypedDict):
    """A page beside its words: where it is on its way, and since when."""

    id: ContentId
    site: SiteId
    type: ShownType
    version: Annotated[int, Field(description="How often the draft was saved.")]
    state: State
    author: WriterAnswer | None
    published_at: Annotated[
        datetime | None, Field(description="The first instant of being shown; it may be to come.")
    ]
    until: Annotated[datetime | None, Field(description="When it is no longer shown.")]
    updated_at: datetime
    discussion_id: Annotated[DiscussionId | None, Field(description="The node of its comments.")]


class ContentAnswer(_PlacedAnswer):
    """A page, a post or a photo as those who write it see it."""

    draft: DraftAnswer
    live: Annotated[EditionAnswer | None, Field(description="What readers see.")]
    next: Annotated[
        EditionAnswer | None, Field(description="What replaces it, at its `shown_from`.")
    ]


class ListedWords(TypedDict):
    """What a page says, without its text."""

    slug: Slug
    title: ShownLine
    summary: ShownSummary | None
    tags: TagsAnswer
    detail: DetailBesideText


class ListedDraft(ListedWords):
    """What editors work on, without its text, and who saved it last."""

    saved_by: Annotated[WriterAnswer | None, Field(description="Null once they were erased.")]
    saved_at: datetime


class ListedEdition(ListedWords):
    """A version of a page as readers see it, or will, without its text."""

    version: int
    minor: bool
    shown_from: datetime


class ListedContentAnswer(_PlacedAnswer):
    """A page on the desk, without its texts."""

    draft: ListedDraft
    live: Annotated[ListedEdition | None, Field(description="What readers see.")]
    next: Annotated[
        ListedEdition | None, Field(description="What replaces it, at its `shown_from`.")
    ]


class DeskAnswer(TypedDict):
    """A page of the desk, last changed first."""

    nodes: Annotated[list[ListedContentAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def content_answer(node: ContentNode, now: datetime) -> ContentAnswer:
    """Return a page as those who write it see it; a deleted one has none."""
    draft = node["draft"]
    assert draft is not None  # noqa: S101 - only a deleted page has none
    return {
        "id": node["_id"],
        "site": node["site"],
        "type": node["type"],
        "version": node["version"],
        "state": state(node, now),
        "author": writer_answer(node["author"]),
        "draft": draft_answer(draft),
        "live": _edition(node["live"]),
        "next": _edition(node["next"]),
        "published_at": node["published"],
        "until": node["until"],
        "updated_at": node["updated"],
        "discussion_id": node["discussion"],
    }


def listed_content_answer(node: ContentNode, now: datetime) -> ListedContentAnswer:
    """Return a page as the desk lists it; a deleted one is not there."""
    whole = content_answer(node, now)
    draft, live, following = whole["draft"], whole["live"], whole["next"]
    return {
        **whole,
        "draft": {**draft, "detail": without_text(draft["detail"])},
        "live": {**live, "detail": without_text(live["detail"])} if live else None,
        "next": {**following, "detail": without_text(following["detail"])} if following else None,
    }


def without_text(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return a detail without what readers get as HTML."""
    return {name: value for name, value in detail.items() if name not in _TEXTS}


def writer_answer(writer: Writer | None) -> WriterAnswer | None:
    """Return who wrote something."""
    return {"id": writer["id"], "name": writer["name"]} if writer else None


def draft_answer(draft: Draft) -> DraftAnswer:
    """Return a draft as the API shows it."""
    return {
        **words_answer(draft),
        "saved_by": writer_answer(draft["by"]),
        "saved_at": draft["at"],
    }


def words_answer(words: Words) -> WordsAnswer:
    """Return what a page says as the API shows it."""
    return {
        "slug": words["slug"],
        "title": words["title"],
        "summary": words["summary"],
        "tags": words["tags"],
        "detail": words["detail"],
    }


def _edition(edition: Edition | None) -> EditionAnswer | None:
    if edition is None:
        return None
    return {
        **words_answer(edition),
        "version": edition["version"],
        "minor": edition["minor"],
        "shown_from": edition["shown_from"],
    }
