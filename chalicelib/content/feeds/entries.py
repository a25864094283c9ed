"""A feed and its entries, whatever its format: pure.

An entry's id never changes, and is not its address, which may.
"""

from collections.abc import Iterable
from datetime import datetime
from html import escape
from typing import NamedTuple

from chalicelib.content.rendered import absolute
from chalicelib.content.shapes import ContentNode, ContentSite, Edition
from chalicelib.content.sites.settings import url_of
from chalicelib.content.visibility import shown

# Of an entry's HTML. A page with a thousand links can have more once they are absolute.
MAX_HTML_BYTES = 1_250_000


class FeedEntry(NamedTuple):
    """A page in a feed, with its whole HTML, whose links are absolute.

    If the HTML is too long for an answer, the entry has the summary in its place.
    """

    id: str
    url: str
    title: str
    summary: str | None
    html: str
    published: datetime
    updated: datetime
    author: str
    tags: tuple[str, ...]


class Feed(NamedTuple):
    """One page of a feed; `next_url` is that of the page after it, if there is one."""

    id: str
    title: str
    home_url: str
    url: str
    first_url: str
    next_url: str | None
    language: str
    author: str
    updated: datetime
    entries: tuple[FeedEntry, ...]


def feed_id(site: ContentSite, kind: str | None, tag: str | None) -> str:
    """Return the id of a feed (RFC 4151): of a site, of its pages of a type, or with a tag."""
    parts = [site["_id"], *(["type", kind] if kind else []), *(["tag", tag] if tag else [])]
    # The year from which the host names are Plaza's to use for this.
    return f"tag:{site['feed_host']},2026:{'/'.join(parts).replace(' ', '-')}"


def entries_of(
    nodes: Iterable[ContentNode], site: ContentSite, public_url: str, now: datetime
) -> tuple[FeedEntry, ...]:
    """Return the entries of pages, as they are shown now."""
    found = []
    for node in nodes:
        edition, published = shown(node, now), node["published"]
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
    html = absolute(edition["html"], site["base_url"], public_url)
    if len(html.encode()) <= MAX_HTML_BYTES:
        return html
    return f"<p>{escape(edition['summary'] or edition['title'])}</p>"
