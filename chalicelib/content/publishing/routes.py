"""The routes of those who publish."""

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
    """What a move did."""

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
        """Make a draft what readers see: now, or from an instant on, and until another one.

        It appears at its millisecond, in pages, lists and feeds. The version that was read is
        checked and stays. The first publication begins a discussion.
        """
        check_publisher(publisher, site)
        node = nodes.find(request.runtime.database, site, content)
        return _shown(request, publishing.publish(request.runtime, discussions, node, body))


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
        """Take a page back from its readers, and close its discussion; the draft stays."""
        check_publisher(publisher, site)
        node = nodes.find(request.runtime.database, site, content)
        return _shown(request, publishing.unpublish(request.runtime, node))

    @route(
        "DELETE",
        "/content/{site}/nodes/{content}",
        limit=CONTENT,
        raises=(*_UNKNOWN, Forbidden),
    )
    def delete_content(
        request: Request, site: SiteId, content: ContentId, editor: Editor
    ) -> NoContent:
        """Delete a page with its revisions and its discussion; its addresses say that it is gone.

        Editors delete what they wrote themselves and was never public.
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
        """Give all addresses with a prefix another one, at once; the old ones lead to the new.

        Drafts that are to have such an address are moved along. At most 1,000 pages.
        """
        check_publisher(publisher, site)
        moved = moving.move(request.runtime, site, body)
        request.details["moved"] = moved
        return Ok({"moved": moved})


def _shown(request: Request, node: ContentNode) -> Ok[ContentAnswer]:
    tag = {"ETag": conditional.version_tag(node["version"])}
    return Ok(content_answer(node, request.runtime.now()), tag)
