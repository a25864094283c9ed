"""Routes of votes on comments, and of reactions to comments and to the page."""

from chalicelib.comments.entries.marked import PAGE
from chalicelib.comments.errors import (
    Banned,
    NodeClosed,
    NodeLocked,
    NotEnabled,
    OwnComment,
    Suspended,
    UnknownNode,
    UnknownReaction,
)
from chalicelib.comments.forms import CommentId
from chalicelib.comments.mark_answers import MarksAnswer
from chalicelib.comments.marking import votes
from chalicelib.comments.marking.vote_forms import (
    CommentVote,
    Key,
    MarksQuery,
    NodeMarksAnswer,
    ReactedAnswer,
    ReactedQuery,
)
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.sites import limits
from chalicelib.errors import UnknownComment
from chalicelib.http import Ok, Request, Route
from chalicelib.identity import Principal
from chalicelib.marks.errors import TooManyReactions

# Counts and a caller's own marks never come from a cached copy.
_NOT_KEPT = {"Cache-Control": "private, no-store"}


def declare(route: Route) -> None:
    """Declare the routes of votes and reactions."""
    _declare_votes(route)
    _declare_reactions(route)
    _declare_reactors(route)
    _declare_page_reactions(route)


def _declare_votes(route: Route) -> None:
    @route("GET", "/nodes/{node}/marks", raises=(UnknownNode,))
    def get_marks(
        request: Request, node: NodeId, caller: Principal | None, query: MarksQuery
    ) -> Ok[NodeMarksAnswer]:
        """Read the votes and reactions of a page and of up to 200 of its comments.

        The answer is never a cached copy: use it to refresh a page from a cache. It omits comments
        that you do not see.
        """
        found = votes.marks_of_node(request.runtime, node, query.ids, caller)
        return Ok(found, _NOT_KEPT)

    @route(
        "PUT",
        "/nodes/{node}/comments/{comment}/vote",
        limit=limits.votes,
        raises=(
            *(UnknownNode, UnknownComment, NodeLocked, NodeClosed),
            *(NotEnabled, OwnComment, Suspended, Banned),
        ),
    )
    def vote_on_comment(
        request: Request, node: NodeId, comment: CommentId, caller: Principal, body: CommentVote
    ) -> Ok[MarksAnswer]:
        """Vote on a comment, change your vote, or withdraw it.

        A repeated call changes nothing. Where many vote at once, counts follow within seconds.
        """
        return Ok(votes.vote(request.runtime, node, comment, caller, body))


def _declare_reactions(route: Route) -> None:
    @route(
        "PUT",
        "/nodes/{node}/comments/{comment}/reactions/{key}",
        raises=(
            *(UnknownNode, UnknownComment, NodeLocked, NodeClosed),
            *(NotEnabled, UnknownReaction, TooManyReactions, Suspended, Banned),
        ),
    )
    def react_to_comment(
        request: Request, node: NodeId, comment: CommentId, key: Key, caller: Principal
    ) -> Ok[MarksAnswer]:
        """React to a comment, beside your reactions with other keys."""
        return Ok(votes.react(request.runtime, node, comment, caller, key))

    @route(
        "DELETE",
        "/nodes/{node}/comments/{comment}/reactions/{key}",
        raises=(UnknownNode, UnknownComment, NodeLocked, NodeClosed),
    )
    def withdraw_comment_reaction(
        request: Request, node: NodeId, comment: CommentId, key: Key, caller: Principal
    ) -> Ok[MarksAnswer]:
        """Withdraw a reaction of yours to a comment; without one, nothing changes."""
        return Ok(votes.withdraw(request.runtime, node, comment, caller, key))


def _declare_reactors(route: Route) -> None:
    @route(
        "GET",
        "/nodes/{node}/comments/{comment}/reactions/{key}",
        raises=(UnknownNode, UnknownComment),
    )
    def list_comment_reactions(  # noqa: PLR0913, PLR0917 - three of them are parts of the path
        request: Request,
        node: NodeId,
        comment: CommentId,
        key: Key,
        caller: Principal,
        query: ReactedQuery,
    ) -> Ok[ReactedAnswer]:
        """List who reacted to a comment in one way, in the order of their ids."""
        found = votes.find(request.runtime, node, comment, caller)
        return Ok(votes.list_reactors(request.runtime, found, key, query), _NOT_KEPT)


def _declare_page_reactions(route: Route) -> None:
    @route(
        "PUT",
        "/nodes/{node}/reactions/{key}",
        raises=(
            *(UnknownNode, NodeLocked, NodeClosed, NotEnabled, UnknownReaction, TooManyReactions),
            *(Suspended, Banned),
        ),
    )
    def react_to_node(
        request: Request, node: NodeId, key: Key, caller: Principal
    ) -> Ok[MarksAnswer]:
        """React to the page itself, beside your reactions with other keys."""
        found = votes.react(request.runtime, node, PAGE, caller, key)
        return Ok({**found, "votes": None})

    @route("DELETE", "/nodes/{node}/reactions/{key}", raises=(UnknownNode, NodeLocked, NodeClosed))
    def withdraw_node_reaction(
        request: Request, node: NodeId, key: Key, caller: Principal
    ) -> Ok[MarksAnswer]:
        """Withdraw a reaction of yours to the page; without one, nothing changes."""
        found = votes.withdraw(request.runtime, node, PAGE, caller, key)
        return Ok({**found, "votes": None})
