"""The routes by which moderators point comments out: pins, and what is featured."""

from typing import Annotated

from chalicelib.comments.discussion import highlighting
from chalicelib.comments.errors import CommentDeleted, TooManyPins, UnknownNode
from chalicelib.comments.models import CommentId
from chalicelib.comments.node_ids import NodeId
from chalicelib.errors import UnknownComment
from chalicelib.http import NoContent, Request, Roles, Route
from chalicelib.identity import Principal

Moderator = Annotated[Principal, Roles("moderator")]


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_pins(route)
    _declare_featured(route)


def _declare_pins(route: Route) -> None:
    @route(
        "PUT",
        "/nodes/{node}/comments/{comment}/pin",
        raises=(UnknownNode, UnknownComment, CommentDeleted, TooManyPins),
    )
    def pin_comment(
        request: Request, node: NodeId, comment: CommentId, moderator: Moderator
    ) -> NoContent:
        """Pin a comment above the first page of its discussion, where three may be.

        It stays in its place of the listing, too.
        """
        highlighting.pin(request.runtime, node, comment, moderator)
        return NoContent()

    @route("DELETE", "/nodes/{node}/comments/{comment}/pin", raises=(UnknownNode,))
    def unpin_comment(
        request: Request, node: NodeId, comment: CommentId, moderator: Moderator
    ) -> NoContent:
        """Take the pin of a comment down; without one, nothing changes."""
        highlighting.unpin(request.runtime, node, comment, moderator)
        return NoContent()


def _declare_featured(route: Route) -> None:
    @route(
        "PUT",
        "/nodes/{node}/comments/{comment}/featured",
        raises=(UnknownNode, UnknownComment, CommentDeleted),
    )
    def feature_comment(
        request: Request, node: NodeId, comment: CommentId, moderator: Moderator
    ) -> NoContent:
        """Feature a comment: `order=featured` lists it, the last that was featured first."""
        highlighting.feature(request.runtime, node, comment, moderator)
        return NoContent()

    @route("DELETE", "/nodes/{node}/comments/{comment}/featured", raises=(UnknownNode,))
    def unfeature_comment(
        request: Request, node: NodeId, comment: CommentId, moderator: Moderator
    ) -> NoContent:
        """Feature a comment no more; without one, nothing changes."""
        highlighting.unfeature(request.runtime, node, comment, moderator)
        return NoContent()
