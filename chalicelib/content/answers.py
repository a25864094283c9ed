"""Pages as the API shows them to editors and publishers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.content.shapes import (
    MAX_SUMMARY_CHARACTERS,
    MAX_TAGS,
    CommentsChoice,
    ContentNode,
    Edition,
    PageDraft,
    PageWords,
    Writer,
)
from chalicelib.content.slugs import ContentId, Slug
from chalicelib.content.types import CONTENT_TYPES
from chalicelib.content.visibility import State, date_of, state
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
# Fields of a detail that lists omit.
_TEXTS = ("text",)
DetailBesideText = Annotated[
    Any,
    AnyOf(CONTENT_TYPES, without=_TEXTS),
    Field(description="The fields of its type beside the text."),
]


class WriterAnswer(TypedDict):
    """The writer of a page or a draft."""

    id: UserId
    name: ShownName


class WordsAnswer(TypedDict):
    """The editable fields of a page."""

    slug: Slug
    title: ShownLine
    summary: ShownSummary | None
    tags: TagsAnswer
    detail: Annotated[Any, AnyOf(CONTENT_TYPES)]


class DraftAnswer(WordsAnswer):
    """The draft of a page, with the last editor to save it."""

    saved_by: Annotated[WriterAnswer | None, Field(description="Null once they were erased.")]
    saved_at: datetime


class EditionAnswer(WordsAnswer):
    """A version of a page as readers see it, or will."""

    version: int
    minor: bool
    shown_from: datetime


class _PlacedAnswer(TypedDict):
    """The fields of a page beside its words: its ids, state and times."""

    id: ContentId
    site: SiteId
    type: ShownType
    version: Annotated[int, Field(description="How often the draft was saved.")]
    state: State
    author: WriterAnswer | None
    published_at: Annotated[
        datetime | None, Field(description="The first instant of being shown; it may be to come.")
    ]
    dated_at: Annotated[datetime | None, Field(description="The date that its readers see.")]
    until: Annotated[datetime | None, Field(description="When it is no longer shown.")]
    updated_at: datetime
    discussion_id: Annotated[DiscussionId | None, Field(description="The node of its comments.")]
    comments: Annotated[
        CommentsChoice | None, Field(description="The page's own choice; null: its site's.")
    ]


class ContentAnswer(_PlacedAnswer):
    """A page, a post or a photo as its editors see it."""

    draft: DraftAnswer
    live: Annotated[EditionAnswer | None, Field(description="The edition that readers see.")]
    next: Annotated[
        EditionAnswer | None,
        Field(description="The edition that replaces it, at its `shown_from`."),
    ]


class ListedWords(TypedDict):
    """The words of a page without its text."""

    slug: Slug
    title: ShownLine
    summary: ShownSummary | None
    tags: TagsAnswer
    detail: DetailBesideText


class ListedDraft(ListedWords):
    """The draft of a page without its text, with the last editor to save it."""

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
    live: Annotated[ListedEdition | None, Field(description="The edition that readers see.")]
    next: Annotated[
        ListedEdition | None,
        Field(description="The edition that replaces it, at its `shown_from`."),
    ]


class DeskAnswer(TypedDict):
    """A part of the desk's list of content, last changed first."""

    nodes: Annotated[list[ListedContentAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def content_answer(node: ContentNode, now: datetime) -> ContentAnswer:
    """Return a page as its editors see it; the page must not be deleted."""
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
        "dated_at": date_of(node),
        "until": node["until"],
        "updated_at": node["updated"],
        "discussion_id": node["discussion"],
        "comments": node.get("comments"),
    }


def listed_content_answer(node: ContentNode, now: datetime) -> ListedContentAnswer:
    """Return a page as the desk lists it; the page must not be deleted."""
    whole = content_answer(node, now)
    draft, live, following = whole["draft"], whole["live"], whole["next"]
    return {
        **whole,
        "draft": {**draft, "detail": without_text(draft["detail"])},
        "live": {**live, "detail": without_text(live["detail"])} if live else None,
        "next": {**following, "detail": without_text(following["detail"])} if following else None,
    }


def without_text(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return a detail without its Markdown, which readers receive as HTML."""
    return {name: value for name, value in detail.items() if name not in _TEXTS}


def writer_answer(writer: Writer | None) -> WriterAnswer | None:
    """Return a writer as the API shows them. None: erased."""
    return {"id": writer["id"], "name": writer["name"]} if writer else None


def draft_answer(draft: PageDraft) -> DraftAnswer:
    """Return a draft as the API shows it."""
    return {
        **words_answer(draft),
        "saved_by": writer_answer(draft["by"]),
        "saved_at": draft["at"],
    }


def words_answer(words: PageWords) -> WordsAnswer:
    """Return the words of a page as the API shows them."""
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
