"""Routes of moderators: decisions, the queue, pins and featured comments."""

from chalicelib.comments.answers import CommentAnswer
from chalicelib.comments.discussion import highlighting, reading
from chalicelib.comments.errors import (
    CommentChanged,
    CommentClaimed,
    CommentDeleted,
    TooManyPins,
    UnknownNode,
)
from chalicelib.comments.forms import CommentId, PendingQuery, StateChange
from chalicelib.comments.log.acts import Actor
from chalicelib.comments.moderation import claims, queue
from chalicelib.comments.moderation.forms import ClaimAnswer, QueueAnswer
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.writing import decisions
from chalicelib.errors import UnknownComment
from chalicelib.http import NoContent, Ok, Request, Route
from chalicelib.http.callers import Moderator


def declare(route: Route) -> None:
    """Declare the routes of decisions and claims."""
    _declare_decisions(route)
    _declare_claims(route)


def _declare_decisions(route: Route) -> None:
    @route(
        "POST",
        "/nodes/{node}/comments/{comment}/state",
        raises=(UnknownNode, UnknownComment, CommentDeleted, CommentChanged),
    )
    def set_comment_state(
        request: Request, node: NodeId, comment: CommentId, moderator: Moderator, body: StateChange
    ) -> Ok[CommentAnswer]:
        """Show a comment, hide it, let it wait again, or file it as spam.

        With the queue's `edited_at`, the call fails if the text has changed.
        """
        changed = decisions.set_state(
            request.runtime, node, comment, body, Actor(moderator, body.reason or "")
        )
        return Ok(reading.placed_comment(request.runtime, changed, moderator))

    @route("GET", "/moderation/comments")
    def list_pending_comments(
        request: Request, moderator: Moderator, query: PendingQuery
    ) -> Ok[QueueAnswer]:
        """Read the waiting comments of the caller's sites, longest waiting first."""
        return Ok(queue.list_pending(request.runtime, query, moderator))


def _declare_claims(route: Route) -> None:
    @route(
        "POST",
        "/nodes/{node}/comments/{comment}/claim",
        raises=(UnknownNode, UnknownComment, CommentClaimed),
    )
    def claim_comment(
        request: Request, node: NodeId, comment: CommentId, moderator: Moderator
    ) -> Ok[ClaimAnswer]:
        """Claim a waiting comment for ten minutes, or extend your claim.

        Other moderators see the claim in the queue, and may still decide.
        """
        return Ok(claims.take(request.runtime, node, comment, moderator))

    @route("DELETE", "/nodes/{node}/comments/{comment}/claim", raises=(UnknownNode,))
    def release_comment(
        request: Request, node: NodeId, comment: CommentId, moderator: Moderator
    ) -> NoContent:
        """Give up your claim of a comment; without one, nothing changes."""
        claims.release(request.runtime, node, comment, moderator)
        return NoContent()


def declare_highlights(route: Route) -> None:
    """Declare the routes of pins and featured comments."""
    _declare_pins(route)
    _declare_featuring(route)


def _declare_pins(route: Route) -> None:
    @route(
        "PUT",
        "/nodes/{node}/comments/{comment}/pin",
        raises=(UnknownNode, UnknownComment, CommentDeleted, TooManyPins),
    )
    def pin_comment(
        request: Request, node: NodeId, comment: CommentId, moderator: Moderator
    ) -> NoContent:
        """Pin a comment above the first page of its discussion; at most three.

        The comment also stays in its place in the listing.
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


def _declare_featuring(route: Route) -> None:
    @route(
        "PUT",
        "/nodes/{node}/comments/{comment}/featured",
        raises=(UnknownNode, UnknownComment, CommentDeleted),
    )
    def feature_comment(
        request: Request, node: NodeId, comment: CommentId, moderator: Moderator
    ) -> NoContent:
        """Feature a comment: `order=featured` lists it, latest featured first."""
        highlighting.feature(request.runtime, node, comment, moderator)
        return NoContent()

    @route("DELETE", "/nodes/{node}/comments/{comment}/featured", raises=(UnknownNode,))
    def unfeature_comment(
        request: Request, node: NodeId, comment: CommentId, moderator: Moderator
    ) -> NoContent:
        """Stop featuring a comment; for a comment that is not featured, nothing changes."""
        highlighting.unfeature(request.runtime, node, comment, moderator)
        return NoContent()
