"""Routes of the latest comments, as JSON for a caller and as Atom for anybody."""

from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from chalicelib.atom import AtomFeed, atom_document
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.forms import CommentId
from chalicelib.comments.latest import discussed, feeds, listing, sitemap
from chalicelib.comments.latest.discussed import MOST_NODES, Days, DiscussedAnswer
from chalicelib.comments.latest.feeds import FeedSubject
from chalicelib.comments.latest.listing import (
    LatestQuery,
    PersonsCommentsAnswer,
    SiteCommentsAnswer,
)
from chalicelib.comments.node_ids import NodeId
from chalicelib.errors import UnknownComment
from chalicelib.http import Input, NotModified, Ok, Request, Route, conditional
from chalicelib.identity import Principal
from chalicelib.people.ids import UserId
from chalicelib.sitemaps import CACHING, MOST_PAGES, Sitemap
from chalicelib.sites.ids import SiteId

# Readers of feeds ask every hour; a cache between them and Plaza asks every five minutes.
_CACHING = "public, max-age=60, s-maxage=300"


def _number(given: object) -> object:
    return int(given) if isinstance(given, str) and given.isdecimal() else given


class DiscussedQuery(Input):
    """The query of the most discussed pages."""

    days: Annotated[Days, BeforeValidator(_number)] = Field(
        7, description="Of how many days the comments are counted."
    )
    limit: int = Field(20, ge=1, le=MOST_NODES, description="How many pages are named at most.")


class SitemapQuery(Input):
    """The query of a sitemap."""

    part: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{0,2}$")] = Field(
        "", description="A file of a site with many pages: from the address in the index."
    )


def declare(route: Route) -> None:
    """Declare the routes of sites and of people there."""
    _declare_pages(route)
    _declare_comments(route)


def _declare_pages(route: Route) -> None:
    @route("GET", "/sites/{site}/discussions.xml", rows=MOST_PAGES)
    def get_sitemap(request: Request, site: SiteId, query: SitemapQuery) -> Sitemap:
        """Read the sitemap of a site's pages with discussions, or an index of its files.

        The `lastmod` of a page is the time of its latest visible comment.
        """
        text = sitemap.document(request.runtime, site, query.part, request.rows)
        return Sitemap(text, {"Cache-Control": CACHING})

    @route("GET", "/sites/{site}/discussed")
    def list_discussions(
        request: Request, site: SiteId, query: DiscussedQuery
    ) -> Ok[DiscussedAnswer]:
        """Read the pages of a site with the most comments in the last days, most first.

        Plaza counts visible comments every hour. Closed, deleted and non-public pages disappear at
        once.
        """
        found = discussed.read(request.runtime, site, query.days, query.limit)
        return Ok(found, {"Cache-Control": _CACHING})


def _declare_comments(route: Route) -> None:
    @route("GET", "/sites/{site}/comments")
    def list_comments_of_site(
        request: Request, site: SiteId, caller: Principal | None, query: LatestQuery
    ) -> Ok[SiteCommentsAnswer]:
        """Read the latest visible comments of a site, newest first, without votes and reactions.

        A page may have fewer comments than its `limit` while `next` is there.
        """
        return Ok(listing.list_of_site(request.runtime, site, query, caller))

    @route("GET", "/sites/{site}/people/{user}/comments")
    def list_comments_of_person(
        request: Request,
        site: SiteId,
        user: UserId,
        caller: Principal | None,
        query: LatestQuery,
    ) -> Ok[PersonsCommentsAnswer]:
        """Read a person's visible comments at a site, newest first, without votes and reactions."""
        return Ok(listing.list_of_person(request.runtime, site, user, query, caller))


def declare_feeds(route: Route) -> None:
    """Declare the feeds of sites and of people there."""

    @route("GET", "/sites/{site}/comments.atom", rows=feeds.MOST)
    def get_feed_of_site(request: Request, site: SiteId) -> AtomFeed | NotModified:
        """Read the 50 latest comments of a site as Atom."""
        return _answer(request, feeds.of_site(request.runtime, site))

    @route("GET", "/sites/{site}/people/{user}/comments.atom", rows=feeds.MOST)
    def get_feed_of_person(request: Request, site: SiteId, user: UserId) -> AtomFeed | NotModified:
        """Read the 50 latest comments of a person at a site as Atom."""
        return _answer(request, feeds.of_person(request.runtime, site, user))


def declare_of_nodes(route: Route) -> None:
    """Declare the routes of nodes and of threads there."""

    @route("GET", "/nodes/{node}/comments.atom", rows=feeds.MOST, raises=(UnknownNode,))
    def get_feed_of_node(request: Request, node: NodeId) -> AtomFeed | NotModified:
        """Read the 50 latest comments of a discussion as Atom."""
        return _answer(request, feeds.of_node(request.runtime, node))

    @route(
        "GET",
        "/nodes/{node}/comments/{comment}/thread.atom",
        rows=feeds.MOST,
        raises=(UnknownNode, UnknownComment),
    )
    def get_feed_of_thread(
        request: Request, node: NodeId, comment: CommentId
    ) -> AtomFeed | NotModified:
        """Read the 50 latest comments of a thread as Atom, by the comment that begins it."""
        return _answer(request, feeds.of_thread(request.runtime, node, comment))


def _answer(request: Request, subject: FeedSubject) -> AtomFeed | NotModified:
    """Return the feed of a subject; NotModified for a current copy."""
    fetched = feeds.fetch(request, subject, conditional.held_tags(request))
    headers = {"ETag": fetched.tag, "Cache-Control": _CACHING}
    if fetched.feed is None:
        return NotModified(headers=headers)
    return AtomFeed(atom_document(fetched.feed), headers)
