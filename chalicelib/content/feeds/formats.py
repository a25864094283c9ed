"""Feed entries of pages, and feeds as JSON Feed 1.1; `chalicelib.atom` makes Atom of a feed."""

from collections.abc import Iterable
from datetime import datetime
from html import escape
from typing import Annotated, NotRequired
from urllib.parse import quote

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.atom import Feed, FeedEntry
from chalicelib.content.answers import ShownSummary
from chalicelib.content.rendered import absolute
from chalicelib.content.settings import url_of
from chalicelib.content.shapes import MAX_FEED_ITEMS, MAX_TAGS, ContentNode, ContentSite, Edition
from chalicelib.content.visibility import date_of, edition_at
from chalicelib.keywords import Keyword
from chalicelib.texts import ShownLine, ShownName, html_of

# The most bytes of an entry's HTML. Absolute addresses make the HTML longer than on the page.
MAX_HTML_BYTES = 1_250_000


def feed_id(site: ContentSite, kind: str | None, tag: str | None) -> str:
    """Return the tag URI (RFC 4151) of a site's feed, narrowed by type and tag if given.

    Percent-encoding separates the ids of similar tags, such as `new york` and `new-york`.
    """
    parts = [site["_id"], *(["type", kind] if kind else []), *(["tag", tag] if tag else [])]
    # The year of Plaza's tag URIs (RFC 4151 needs a date of the host's ownership).
    path = "/".join(quote(part, safe="") for part in parts)
    return f"tag:{site['feed_host']},2026:{path}"


def entries_of(
    nodes: Iterable[ContentNode], site: ContentSite, public_url: str, now: datetime
) -> tuple[FeedEntry, ...]:
    """Return the feed entries of the pages that readers see now.

    In place of HTML over MAX_HTML_BYTES, an entry has the summary, or else the title.
    """
    found = []
    for node in nodes:
        edition, published = edition_at(node, now), date_of(node)
        if edition is None or published is None:
            continue
        found.append(
            FeedEntry(
                id=f"tag:{site['feed_host']},{node['created'].year}:{node['_id']}",
                url=url_of(site, edition["slug"]),
                title=edition["title"],
                summary=edition["summary"],
                html=_html(edition, site, public_url),
                published=published,
                updated=edition["updated"],
                author=node["author"]["name"] if node["author"] else site["author"],
                tags=tuple(edition["tags"]),
            )
        )
    return tuple(found)


def _html(edition: Edition, site: ContentSite, public_url: str) -> str:
    html = absolute(edition["html"], url_of(site, edition["slug"]), public_url)
    if len(html.encode()) <= MAX_HTML_BYTES:
        return html
    return f"<p>{escape(edition['summary'] or edition['title'])}</p>"


# The URL of a page on its site, or of a feed with a cursor.
PageUrl = Annotated[str, Field(max_length=5_000)]
_VERSION = "https://jsonfeed.org/version/1.1"


class JsonFeedAuthor(TypedDict):
    """The author of a feed or of an entry."""

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


def json_document(feed: Feed) -> JsonFeedAnswer:
    """Return a feed as a JSON Feed 1.1 document."""
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
