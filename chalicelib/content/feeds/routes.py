"""Feeds in the API, as Atom and JSON Feed."""

from chalicelib.atom import AtomFeed, atom_document
from chalicelib.content.errors import UnknownContentSite
from chalicelib.content.feeds import formats
from chalicelib.content.feeds.formats import JsonFeedAnswer
from chalicelib.content.feeds.forms import FeedQuery, JsonFeed
from chalicelib.content.feeds.reading import fetch
from chalicelib.content.shapes import MAX_FEED_ITEMS
from chalicelib.errors import InvalidCursor
from chalicelib.http import NotModified, Request, Route, conditional
from chalicelib.sites.ids import SiteId

_RAISES = (UnknownContentSite, InvalidCursor)


def declare(route: Route) -> None:
    """Declare the routes."""

    @route("GET", "/content/{site}/feed.atom", rows=MAX_FEED_ITEMS, raises=_RAISES)
    def get_atom_feed(request: Request, site: SiteId, query: FeedQuery) -> AtomFeed | NotModified:
        """Read a site's feed as Atom: of everything, of one type, or with one tag.

        Each entry has its page's HTML, newest first. The feed links to its next part (RFC 5005).
        """
        held = conditional.held_tags(request)
        fetched = fetch(request, site, "atom", query, held)
        if fetched.feed is None:
            return NotModified(headers=_headers(fetched.tag))
        return AtomFeed(atom_document(fetched.feed), _headers(fetched.tag))

    @route("GET", "/content/{site}/feed.json", rows=MAX_FEED_ITEMS, raises=_RAISES)
    def get_json_feed(
        request: Request, site: SiteId, query: FeedQuery
    ) -> JsonFeed[JsonFeedAnswer] | NotModified:
        """Read a site's feed as JSON Feed 1.1: of everything, of one type, or with one tag."""
        held = conditional.held_tags(request)
        fetched = fetch(request, site, "json", query, held)
        if fetched.feed is None:
            return NotModified(headers=_headers(fetched.tag))
        return JsonFeed(formats.json_document(fetched.feed), _headers(fetched.tag))


def _headers(tag: str) -> dict[str, str]:
    return {"ETag": tag, "Cache-Control": "public, max-age=30"}
