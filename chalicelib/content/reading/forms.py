"""Pages, lists and previews as the API shows them to readers."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from chalicelib.bounds import BOUNDS
from chalicelib.content.answers import (
    DetailBesideText,
    DiscussionId,
    ShownSummary,
    ShownType,
    TagsAnswer,
    WriterAnswer,
    without_text,
    writer_answer,
)
from chalicelib.content.shapes import ContentNode, Edition
from chalicelib.content.slugs import ContentId, Slug, Tag
from chalicelib.content.visibility import date_of
from chalicelib.http import MAX_PAGE, Input, PageQuery
from chalicelib.http.paging import Next
from chalicelib.keywords import Keyword
from chalicelib.sites.ids import SiteId
from chalicelib.terms.queries import MOST
from chalicelib.texts import OwnUrl, ShownLine, html_of

# The most pages that analytics count in one call.
MAX_VIEWED = 100
Include = Literal["discussion", "neighbours", "views"]
PreviewToken = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,400}$"),
    Field(description="The end of a preview's address."),
]


_INCLUDE = "(discussion|neighbours|views)"
_INCLUDES = f"^{_INCLUDE}(,{_INCLUDE}){{0,2}}$"
_VIEWS = "`views`: how often it was read, where the site's analytics are public; else null."


def _split(text: object) -> object:
    return tuple(text.split(",")) if isinstance(text, str) else text


class AddressQuery(Input):
    """The address of a page, and the additions to its answer."""

    address: Slug
    include: Annotated[
        tuple[Include, ...],
        Field(max_length=3),
        BeforeValidator(_split, json_schema_input_type=Annotated[str, Field(pattern=_INCLUDES)]),
    ] = Field(
        # A default value would be a list in OpenAPI, although this parameter is a text there.
        default_factory=tuple,
        description="`discussion`: how many comments it has. `neighbours`: the pages of its "
        f"type before and after it. {_VIEWS} Each costs its reads. Several: by commas.",
    )


class ListQuery(PageQuery):
    """A selection of a site's pages."""

    type: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")] | None = Field(
        None, description="Only pages of this type.", examples=["blog"]
    )
    tag: Tag | None = Field(None, description="Only pages with this tag.")
    include: Literal["views"] | None = Field(
        None, description=f"{_VIEWS} For at most {MAX_VIEWED} pages at once."
    )

    @model_validator(mode="after")
    def _check_views(self) -> Self:
        if self.include and self.limit > MAX_VIEWED:
            raise ValueError(f"views are told of at most {MAX_VIEWED} pages at once")
        return self


class PreviewRequest(Input):
    """A request for a preview's address."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"end_others": True}]})

    end_others: bool = Field(
        default=False, description="Whether the addresses that were made before end."
    )


ContentHtml = Annotated[str, html_of(BOUNDS.content.html_bytes)]


class EntryAnswer(TypedDict):
    """A page in a list, without its text."""

    id: ContentId
    type: ShownType
    address: Slug
    title: ShownLine
    summary: ShownSummary | None
    tags: TagsAnswer
    detail: DetailBesideText
    author: WriterAnswer | None
    published_at: datetime
    updated_at: Annotated[datetime, Field(description="The last change that was not minor.")]
    views: Annotated[
        int | None, Field(description="If asked for, and if the site's analytics are public.")
    ]


class EntriesAnswer(TypedDict):
    """A part of a list of pages, newest first."""

    entries: Annotated[list[EntryAnswer], Field(max_length=MAX_PAGE)]
    next: Next


class FoundEntriesAnswer(TypedDict):
    """A part of the list of pages that have all words of a search, newest first."""

    entries: Annotated[
        list[EntryAnswer],
        Field(
            max_length=MOST,
            description="They may be few, or none, while there is a `next`: of frequent words, a "
            "page looks at the next 1,000 pages.",
        ),
    ]
    next: Next


class TagCountAnswer(TypedDict):
    """A tag, and the number of its visible pages."""

    tag: Keyword
    count: int


class TagCountsAnswer(TypedDict):
    """The tags of a site, the most used first."""

    tags: Annotated[list[TagCountAnswer], Field(max_length=500)]


class FeedsAnswer(TypedDict):
    """The addresses of a site's feeds."""

    atom: OwnUrl
    json: OwnUrl


class NeighbourAnswer(TypedDict):
    """The previous or next page of the same type."""

    address: Slug
    title: ShownLine


class DiscussionCountAnswer(TypedDict):
    """A page's discussion."""

    id: DiscussionId
    comments: Annotated[int, Field(description="The number of public comments.")]


class NeighboursAnswer(TypedDict):
    """The previous and the next page of the same type, by publication."""

    previous: NeighbourAnswer | None
    next: NeighbourAnswer | None


class ShownAnswer(EntryAnswer):
    """A page as its readers see it."""

    site: SiteId
    html: Annotated[ContentHtml, Field(description="The text as sanitised HTML.")]
    discussion_id: Annotated[DiscussionId | None, Field(description="The node of its comments.")]
    feeds: FeedsAnswer
    discussion: Annotated[
        DiscussionCountAnswer | None, Field(description="If asked for, and if it has one.")
    ]
    neighbours: Annotated[NeighboursAnswer | None, Field(description="If asked for.")]


class PreviewAddressAnswer(TypedDict):
    """The address of a preview."""

    url: OwnUrl
    ends_at: datetime


class DraftShownAnswer(TypedDict):
    """A draft as readers would see it."""

    site: SiteId
    type: ShownType
    address: Slug
    title: ShownLine
    summary: ShownSummary | None
    tags: TagsAnswer
    detail: DetailBesideText
    html: ContentHtml


def entry_answer(node: ContentNode, edition: Edition) -> EntryAnswer:
    """Return a page as a list shows it, without its views."""
    published = date_of(node)
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
