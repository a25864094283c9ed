"""Routes of flags: readers place and withdraw them, moderators list them."""

from chalicelib.comments.errors import OwnComment, UnknownNode
from chalicelib.comments.forms import CommentId
from chalicelib.comments.marking import flags
from chalicelib.comments.marking.flag_forms import CommentFlag, FlagsAnswer, FlagsQuery
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.sites import limits
from chalicelib.errors import UnknownComment
from chalicelib.http import NoContent, Ok, Request, Route
from chalicelib.http.callers import Moderator
from chalicelib.identity import Principal


def declare(route: Route) -> None:
    """Declare the routes of flags."""
    _declare_flags(route)
    _declare_list(route)


def _declare_flags(route: Route) -> None:
    @route(
        "PUT",
        "/nodes/{node}/comments/{comment}/flag",
        limit=limits.flags,
        raises=(UnknownNode, UnknownComment, OwnComment),
    )
    def flag_comment(
        request: Request, node: NodeId, comment: CommentId, caller: Principal, body: CommentFlag
    ) -> NoContent:
        """Report a comment to the site's moderators, or change your report.

        The comment enters their queue. If its reports weigh enough, Plaza hides it until
        they decide. After their decision, your report stays as it is until an edit of the text.
        """
        flags.flag(request.runtime, node, comment, caller, body)
        return NoContent()

    @route(
        "DELETE",
        "/nodes/{node}/comments/{comment}/flag",
        raises=(UnknownNode, UnknownComment),
    )
    def withdraw_flag(
        request: Request, node: NodeId, comment: CommentId, caller: Principal
    ) -> NoContent:
        """Withdraw your report of a comment; without one, nothing changes.

        A report of a text on which moderators have decided stays.
        """
        flags.withdraw(request.runtime, node, comment, caller)
        return NoContent()


def _declare_list(route: Route) -> None:
    @route("GET", "/nodes/{node}/comments/{comment}/flags", raises=(UnknownNode, UnknownComment))
    def list_flags(
        request: Request,
        node: NodeId,
        comment: CommentId,
        moderator: Moderator,
        query: FlagsQuery,
    ) -> Ok[FlagsAnswer]:
        """List who flagged a comment and why, for moderators of its site."""
        return Ok(flags.list_flags(request.runtime, node, comment, moderator, query))
