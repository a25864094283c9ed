"""JSON Feed 1.1 (jsonfeed.org): a feed as JSON."""

from datetime import datetime
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.content.feeds.entries import Feed, FeedEntry
from chalicelib.content.shapes import MAX_FEED_ITEMS, MAX_TAGS

_VERSION = "https://jsonfeed.org/version/1.1"


class JsonFeedAuthor(TypedDict):
    """Who wrote something."""

    name: str


class JsonFeedItem(TypedDict):
    """An entry of a feed."""

    id: Annotated[str, Field(description="It never changes, also where the address does.")]
    url: str
    title: str
    summary: NotRequired[str]
    content_html: str
    date_published: datetime
    date_modified: datetime
    authors: Annotated[list[JsonFeedAuthor], Field(max_length=1)]
    tags: Annotated[list[str], Field(max_length=MAX_TAGS)]


class JsonFeedAnswer(TypedDict):
    """A page of a feed."""

    version: str
    title: str
    home_page_url: str
    feed_url: str
    next_url: NotRequired[str]
    language: str
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
