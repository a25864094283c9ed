"""Publishing, ending and moving pages in the API."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.content import nodes
from chalicelib.content.answers import ContentAnswer, content_answer
from chalicelib.content.errors import (
    AddressTaken,
    ContentGone,
    EditConflict,
    PageTooLarge,
    SiteNotSetUp,
    TooManyToMove,
    UnknownContent,
)
from chalicelib.content.publishing import moving, publishing
from chalicelib.content.publishing.discussions import Discussions
from chalicelib.content.publishing.forms import AddressMove, Publication
from chalicelib.content.shapes import ContentNode
from chalicelib.content.slugs import ContentId
from chalicelib.errors import Forbidden
from chalicelib.http import NoContent, Ok, Request, Route, conditional
from chalicelib.http.callers import Editor, Publisher
from chalicelib.limits import CONTENT
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_editor, check_publisher

_UNKNOWN = (UnknownContent, ContentGone)


class MovedAnswer(TypedDict):
    """The result of a move."""

    moved: Annotated[int, Field(description="How many pages have another address now.")]


def declare(route: Route, discussions: Discussions) -> None:
    """Declare the routes."""
    _declare_publishing(route, discussions)
    _declare_ends(route)
    _declare_moves(route)


def _declare_publishing(route: Route, discussions: Discussions) -> None:
    @route(
        "POST",
        "/content/{site}/nodes/{content}/publish",
        limit=CONTENT,
        tells_version=True,
        raises=(*_UNKNOWN, EditConflict, SiteNotSetUp, AddressTaken, PageTooLarge),
    )
    def publish_content(
        request: Request, site: SiteId, content: ContentId, publisher: Publisher, body: Publication
    ) -> Ok[ContentAnswer]:
        """Publish a draft now or from an instant on, for good or until another instant.

        The page appears at the exact millisecond; cached lists and feeds follow within 30 s. The
        call checks the draft's version and does not raise it. The first publication begins a
        discussion.
        """
        check_publisher(publisher, site)
        node = nodes.find(request.runtime.database, site, content)
        published = publishing.publish(request.runtime, discussions, node, body, publisher)
        return _answer(request, published)


def _declare_ends(route: Route) -> None:
    @route(
        "POST",
        "/content/{site}/nodes/{content}/unpublish",
        limit=CONTENT,
        tells_version=True,
        raises=_UNKNOWN,
    )
    def unpublish_content(
        request: Request, site: SiteId, content: ContentId, publisher: Publisher
    ) -> Ok[ContentAnswer]:
        """Hide a page from readers, and close its discussion; the draft stays."""
        check_publisher(publisher, site)
        node = nodes.find(request.runtime.database, site, content)
        return _answer(request, publishing.unpublish(request.runtime, node))

    @route(
        "DELETE",
        "/content/{site}/nodes/{content}",
        limit=CONTENT,
        raises=(*_UNKNOWN, Forbidden),
    )
    def delete_content(
        request: Request, site: SiteId, content: ContentId, editor: Editor
    ) -> NoContent:
        """Delete a page with its revisions and its discussion; its addresses then answer 410.

        Editors can delete their own pages that were never public and are not scheduled.
        """
        check_editor(editor, site)
        node = nodes.find(request.runtime.database, site, content)
        publishing.delete(request.runtime, node, editor)
        return NoContent()


def _declare_moves(route: Route) -> None:
    @route(
        "POST",
        "/content/{site}/move",
        limit=CONTENT,
        raises=(TooManyToMove, AddressTaken),
    )
    def move_addresses(
        request: Request, site: SiteId, publisher: Publisher, body: AddressMove
    ) -> Ok[MovedAnswer]:
        """Change a prefix of addresses at once; the old addresses lead to the new.

        Drafts with such an address move, too. At most 1,000 pages.
        """
        check_publisher(publisher, site)
        moved = moving.move(request.runtime, site, body)
        request.details["moved"] = moved
        return Ok({"moved": moved})


def _answer(request: Request, node: ContentNode) -> Ok[ContentAnswer]:
    tag = {"ETag": conditional.version_tag(node["version"])}
    return Ok(content_answer(node, request.runtime.now()), tag)
