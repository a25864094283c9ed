"""Routes that read discussions, as JSON or as a page that needs no script."""

from typing import TypeVar

from chalicelib.comments.answers import CommentAnswer, CommentsAnswer, ThreadAnswer
from chalicelib.comments.discussion import reading
from chalicelib.comments.discussion.tags import Held, Listing
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.forms import CommentId, CommentsQuery
from chalicelib.comments.html_page import HEADERS, html_page
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.shapes import CommentPlace
from chalicelib.errors import UnknownComment
from chalicelib.http import NotModified, Ok, PageQuery, Request, Route, conditional, responses
from chalicelib.identity import Principal
from chalicelib.web.files import HtmlPage


class DiscussionPage(HtmlPage):
    """200: a page of comments."""

    max_bytes = responses.MAX_BYTES


Body = TypeVar("Body")
# Caches may serve a public page for some seconds; they revalidate a caller's own page each time.
_SHARED, _OWN = "public, max-age=5, stale-while-revalidate=30", "private, no-cache"


def declare(route: Route) -> None:
    """Declare the routes of pages, comments and threads."""

    @route("GET", "/nodes/{node}/comments", raises=(UnknownNode, UnknownComment))
    def list_comments(
        request: Request, node: NodeId, caller: Principal | None, query: CommentsQuery
    ) -> Ok[CommentsAnswer] | DiscussionPage | NotModified:
        """Read a discussion, page by page; a threaded one depth-first.

        A browser, which asks for `text/html`, gets a page that needs no script.
        """
        if request.accepts_html:
            return _html_page(request, node, caller, query)
        held = Held(conditional.held_tags(request))
        return _answer(reading.list_comments(request.runtime, node, query, caller, held), caller)

    @route("GET", "/nodes/{node}/comments/{comment}", raises=(UnknownNode, UnknownComment))
    def get_comment(
        request: Request, node: NodeId, comment: CommentId, caller: Principal | None
    ) -> Ok[CommentAnswer]:
        """Read a comment."""
        found = reading.get_comment(request.runtime, node, comment, caller)
        return Ok(reading.placed_comment(request.runtime, found, caller))

    @route("GET", "/nodes/{node}/comments/{comment}/thread", raises=(UnknownNode, UnknownComment))
    def list_thread(
        request: Request,
        node: NodeId,
        comment: CommentId,
        caller: Principal | None,
        query: PageQuery,
    ) -> Ok[ThreadAnswer] | NotModified:
        """Read a comment and its descendants, depth-first."""
        held, place = conditional.held_tags(request), CommentPlace(node, comment)
        return _answer(reading.list_thread(request.runtime, place, query, caller, held), caller)


def _html_page(
    request: Request, node: str, caller: Principal | None, query: CommentsQuery
) -> DiscussionPage | NotModified:
    """Return a page of a node's comments as HTML; NotModified for a current copy."""
    # The page links to `public_url`: a copy with another address is not current.
    public_url = request.runtime.settings.public_url
    held = Held(conditional.held_tags(request), f"html {public_url}")
    listing = reading.list_comments(request.runtime, node, query, caller, held)
    headers = {**HEADERS, **_headers(listing, caller)}
    if listing.body is None:
        return NotModified(headers=headers)
    further = {"order": listing.body["order"], "limit": str(query.limit)}
    return DiscussionPage(html_page(listing.body, public_url, further), headers)


def _answer(listing: Listing[Body], caller: Principal | None) -> Ok[Body] | NotModified:
    """Return the answer of a page; NotModified if the caller's copy is current."""
    if listing.body is None:
        return NotModified(headers=_headers(listing, caller))
    return Ok(listing.body, _headers(listing, caller))


def _headers(listing: Listing[Body], caller: Principal | None) -> dict[str, str]:
    """Return the caching headers of a page."""
    cache = _SHARED if caller is None else _OWN
    return {"ETag": listing.tag, "Cache-Control": cache, "Vary": "Accept"}
