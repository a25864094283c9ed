"""JSON Feed 1.1 (jsonfeed.org): a feed as JSON."""

from datetime import datetime
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.content.answers import ShownSummary
from chalicelib.content.feeds.entries import MAX_HTML_BYTES, Feed, FeedEntry
from chalicelib.content.shapes import MAX_FEED_ITEMS, MAX_TAGS
from chalicelib.keywords import Keyword
from chalicelib.texts import ShownLine, ShownName, html_of

# The site's address and a page's, or the feed's with a cursor.
PageUrl = Annotated[str, Field(max_length=5_000)]
_VERSION = "https://jsonfeed.org/version/1.1"


class JsonFeedAuthor(TypedDict):
    """Who wrote something."""

    name: ShownLine


class JsonFeedItem(TypedDict):
    """An entry of a feed."""

    id: Annotated[
        Annotated[str, Field(max_length=2_200)],
        Field(description="It never changes, also where the address does."),
    ]
    url: PageUrl
    title: ShownLine
    summary: NotRequired[ShownSummary]
    content_html: Annotated[str, html_of(MAX_HTML_BYTES)]
    date_published: datetime
    date_modified: datetime
    authors: Annotated[list[JsonFeedAuthor], Field(max_length=1)]
    tags: Annotated[list[Keyword], Field(max_length=MAX_TAGS)]


class JsonFeedAnswer(TypedDict):
    """A page of a feed."""

    version: ShownName
    title: Annotated[str, Field(max_length=400)]
    home_page_url: PageUrl
    feed_url: PageUrl
    next_url: NotRequired[PageUrl]
    language: ShownName
    authors: Annotated[list[JsonFeedAuthor], Field(max_length=1)]
    items: Annotated[list[JsonFeedItem], Field(max_length=MAX_FEED_ITEMS)]


def document(feed: Feed) -> JsonFeedAnswer:
    """Return a feed as JSON Feed has it."""
    told: JsonFeedAnswer = {
        "version": _VERSION,
        "title": feed.title,
        "home_page_url": feed.home_url,
        "feed_url": feed.url,
        "language": feed.language,
        "authors": [{"name": feed.author}],
        "items": [_item(entry) for entry in feed.entries],
    }
    if feed.next_url:
        told["next_url"] = feed.next_url
    return told


def _item(entry: FeedEntry) -> JsonFeedItem:
    told: JsonFeedItem = {
        "id": entry.id,
        "url": entry.url,
        "title": entry.title,
        "content_html": entry.html,
        "date_published": entry.published,
        "date_modified": entry.updated,
        "authors": [{"name": entry.author}],
        "tags": list(entry.tags),
    }
    if entry.summary:
        told["summary"] = entry.summary
    return told
