"""The comments API: all its routes in one blueprint. Most forward a node's former id (308)."""

from datetime import datetime
from functools import partial

from chalice.app import Blueprint

from chalicelib.comments import moderation_routes, nodes, reading_routes, search, watch_routes
from chalicelib.comments.acts import routes as act_routes
from chalicelib.comments.answers import (
    CommentAnswer,
    CountsByNode,
    NodeAnswer,
    PreviewAnswer,
    node_answer,
)
from chalicelib.comments.batches import routes as batch_routes
from chalicelib.comments.discussion import by_page, first_visits, reading
from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.errors import (
    Banned,
    CannotThread,
    CommentChanged,
    CommentDeleted,
    CommentTooLarge,
    Duplicate,
    NodeClosed,
    NodeExists,
    NodeHasComments,
    NodeLocked,
    NotThreaded,
    PageRefused,
    SiteIsFixed,
    StoreTooSmall,
    Suspended,
    TextRefused,
    UnknownNode,
)
from chalicelib.comments.forms import (
    CommentEdit,
    CommentId,
    CountsQuery,
    IdChange,
    NewComment,
    NodeSettings,
    Preview,
    SoughtPage,
    StoreChange,
    VisitedPage,
)
from chalicelib.comments.joining import routes as joining_routes
from chalicelib.comments.latest import routes as latest_routes
from chalicelib.comments.lifecycle.forwarding import forwarding
from chalicelib.comments.marking import flag_routes, vote_routes
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.people import member_routes
from chalicelib.comments.people import routes as people_routes
from chalicelib.comments.people.guests import admitting
from chalicelib.comments.providers import routes as provider_routes
from chalicelib.comments.shapes import Node
from chalicelib.comments.sign_in import routes as sign_in_routes
from chalicelib.comments.sites import routes as site_routes
from chalicelib.comments.sites import settings as site_settings
from chalicelib.comments.spam_check.origins import Sender
from chalicelib.comments.transfers import routes as transfer_routes
from chalicelib.comments.writing import draft, edit, post
from chalicelib.errors import EditWindowOver, Forbidden, TooFast, UnknownComment
from chalicelib.http import (
    Accepted,
    Created,
    NoContent,
    Ok,
    Request,
    Route,
    everybody,
    router,
)
from chalicelib.http.callers import Admin, Publisher, Staff
from chalicelib.http.idempotency import once
from chalicelib.identity import Principal
from chalicelib.limits import EDITS, NODE_COMMENTS, NODES, PREVIEWS
from chalicelib.people.blocks import Apart
from chalicelib.people.features import People
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates


def routes(runtime: Runtime, apart: Apart, people: People) -> Blueprint:
    """Return the routes of nodes and comments; `apart` stores the blocks between people."""
    blueprint = Blueprint(__name__)
    plain = admitting(router(blueprint, runtime, "Comments"))
    route = forwarding(plain)
    site_routes.declare(plain)
    _declare_nodes(route)
    _declare_visits(route)
    _declare_deletion(plain)
    _declare_moves(route)
    _declare_posting(route)
    _declare_preview(plain)
    reading_routes.declare(route)
    _declare_changes(route)
    vote_routes.declare(route)
    people_routes.declare(admitting(router(blueprint, runtime, "Moderation")), apart, people)
    joining_routes.declare(plain)
    sign_in_routes.declare(plain)
    provider_routes.declare(plain)
    latest_routes.declare(plain)
    latest_routes.declare_feeds(plain)
    latest_routes.declare_of_nodes(route)
    search.declare(plain)
    member_routes.declare(route)
    moderating = forwarding(admitting(router(blueprint, runtime, "Moderation")))
    moderation_routes.declare(moderating)
    moderation_routes.declare_highlights(moderating)
    flag_routes.declare(route)
    watch_routes.declare(route)
    watch_routes.declare_own(plain)
    unforwarded = router(blueprint, runtime, "Moderation")
    act_routes.declare(unforwarded)
    batch_routes.declare(unforwarded)
    transfer_routes.declare(router(blueprint, runtime, "Comments"))
    return blueprint


def _declare_nodes(route: Route) -> None:
    @route(
        "PUT",
        "/nodes/{node}",
        limit=NODES,
        raises=(SiteIsFixed, CannotThread, NodeHasComments),
    )
    def put_node(
        request: Request, node: NodeId, caller: Staff, body: NodeSettings
    ) -> Ok[NodeAnswer] | Created[NodeAnswer]:
        """Make or change a node.

        A new node belongs to the site that its id names: `harbour:moon`, or `moon` for the site
        `default`. Threading and the store can be changed while the node has no comments.
        """
        stored, is_new = discussion_nodes.put_node(request.runtime, node, body, caller)
        answer = _answer(request, stored, staff=True)
        return Created(answer) if is_new else Ok(answer)

    @route("GET", "/nodes", raises=(UnknownNode,))
    def find_node(request: Request, caller: Principal | None, query: SoughtPage) -> Ok[NodeAnswer]:
        """Find the node of a page by its address; without `site`, at the site `default`."""
        found = by_page.find(request.runtime, query.site, query.url, caller)
        return Ok(_answer_to(request, found, caller))

    @route("GET", "/nodes/{node}", raises=(UnknownNode,))
    def get_node(request: Request, node: NodeId, caller: Principal | None) -> Ok[NodeAnswer]:
        """Read a node."""
        found = nodes.find_for(request.runtime, node, caller)
        return Ok(_answer_to(request, found, caller))

    @route("GET", "/comment-counts")
    def count_comments(
        request: Request, caller: Principal | None, query: CountsQuery
    ) -> Ok[CountsByNode]:
        """Count the visible comments of up to 100 nodes; an unknown node has none.

        A former id of a moved node has the present count of that node.
        """
        return Ok(reading.count_comments(request.runtime, query.nodes, caller))


def _declare_visits(route: Route) -> None:
    @route("POST", "/nodes/{node}/visit", raises=(UnknownNode, PageRefused))
    def open_page(
        request: Request, node: NodeId, caller: Principal | None, body: VisitedPage
    ) -> Ok[NodeAnswer] | Created[NodeAnswer]:
        """Make the node of a page at its first visit, if the site's `first_visits` allow the page.

        The `Origin` has to be the page's, and the node's id has to follow from the page's address.
        """
        stored, is_new = first_visits.open_page(request, node, body, caller)
        answer = _answer_to(request, stored, caller, staff=False)
        return Created(answer, request.location(f"/nodes/{node}")) if is_new else Ok(answer)


def _answer(request: Request, node: Node, *, staff: bool) -> NodeAnswer:
    return node_answer(node, site_settings.in_force(request.runtime, node), staff=staff)


def _answer_to(
    request: Request, node: Node, caller: Principal | None, *, staff: bool | None = None
) -> NodeAnswer:
    """Return a node with the counts that a caller sees.

    `staff`: whether to include fields for staff; None: the caller's rights decide.
    """
    if staff is None:
        staff = caller is not None and moderates(caller, node["site"])
    answer = _answer(request, node, staff=staff)
    own = reading.own_in(request.runtime, node, caller)
    answer["counts"]["visible"] += own.shadows.get("visible", 0)
    return answer


def _declare_deletion(route: Route) -> None:
    @route("DELETE", "/nodes/{node}", limit=NODES, raises=(UnknownNode,))
    def delete_node(request: Request, node: NodeId, publisher: Publisher) -> NoContent:
        """Delete a node with all its comments, or the forward that a move left at its id."""
        discussion_nodes.delete_node(request.runtime, node, publisher)
        return NoContent()


def _declare_moves(route: Route) -> None:
    @route(
        "POST",
        "/nodes/{node}/move",
        limit=NODES,
        tells_location=True,
        raises=(UnknownNode, NodeExists, StoreTooSmall),
    )
    def relocate_node(
        request: Request, node: NodeId, caller: Admin, body: IdChange
    ) -> Ok[NodeAnswer] | Accepted[NodeAnswer]:
        """Move a node with its comments to another id, at the same or at another site.

        A worker moves a large node (202). Calls at the old id get 308.
        """
        del caller
        moved = discussion_nodes.relocate_node(request.runtime, node, body.to)
        answer, address = _answer(request, moved, staff=True), request.location(f"/nodes/{body.to}")
        return Ok(answer, address) if moved["_id"] == body.to else Accepted(answer, address)

    @route(
        "POST",
        "/nodes/{node}/store",
        limit=NODES,
        raises=(UnknownNode, CannotThread, StoreTooSmall),
    )
    def move_to_store(
        request: Request, node: NodeId, publisher: Publisher, body: StoreChange
    ) -> Ok[NodeAnswer] | Accepted[NodeAnswer]:
        """Move a node's comments to another store; a worker moves many (202)."""
        moved = discussion_nodes.move_node(request.runtime, node, body.store, publisher)
        answer = _answer(request, moved, staff=True)
        return Ok(answer) if moved["store"] == body.store else Accepted(answer)


def _declare_posting(route: Route) -> None:
    @route(
        "POST",
        "/nodes/{node}/comments",
        # `post_comment` counts the call itself, for permitted authors alone.
        limit=None,
        takes_idempotency_key=True,
        raises=(
            *(UnknownNode, UnknownComment, NodeLocked, NotThreaded, CommentTooLarge, TextRefused),
            *(Suspended, Banned, Duplicate, NodeClosed, TooFast),
        ),
    )
    def post_comment(
        request: Request, node: NodeId, author: Principal, body: NewComment
    ) -> Created[CommentAnswer]:
        """Post a comment on a node, or a reply to one of its comments."""

        def make(runtime: Runtime) -> CommentAnswer:
            call = post.CommentCall(sender_of(request), partial(request.count, NODE_COMMENTS))
            return post.answer_of(runtime, post.post_comment(runtime, node, body, author, call))

        answer = once(
            request,
            make,
            lambda made, at: _find_made(request.runtime, node, author, made, at),
            lambda _at, rng: draft.new_comment_id(rng),
            lambda made: made["id"],
        )
        request.details["made"] = made = answer["id"]
        return Created(answer, request.location(f"/nodes/{node}/comments/{made}"))


def _find_made(
    runtime: Runtime, node: str, author: Principal, comment: str, at: datetime
) -> CommentAnswer:
    """Return the comment that an earlier attempt of a call made, at or after `at`.

    Follows a moved node, since the call's key belongs to the former id. Raises UnknownNode and
    UnknownComment.
    """
    node = nodes.find_moved(runtime.database, node)["_id"]
    found = reading.get_comment(runtime, node, comment, author)
    if found.comment["posted"] < at:
        # An older comment already had the id that the call drew.
        raise UnknownComment
    return reading.placed_comment(runtime, found, author)


def sender_of(request: Request) -> Sender | None:
    """Return the sender of a call; None without a spam check, or for an unknown address."""
    if request.runtime.settings.akismet_key is None or request.address is None:
        return None
    return Sender(request.address, request.user_agent or "")


def _declare_preview(route: Route) -> None:
    @route(
        "POST",
        "/preview",
        limit=PREVIEWS,
        is_audited=False,
        raises=(CommentTooLarge,),
        of_one_site=everybody,
    )
    def preview_comment(request: Request, author: Principal, body: Preview) -> Ok[PreviewAnswer]:
        """Render a comment's text without storing it.

        Name the `node` of the comment: some sites show images and others do not.
        """
        return Ok({"html": post.preview(request.runtime, body, author)})


def _declare_changes(route: Route) -> None:
    @route(
        "PATCH",
        "/nodes/{node}/comments/{comment}",
        limit=EDITS,
        raises=(
            UnknownNode,
            UnknownComment,
            CommentDeleted,
            CommentChanged,
            Forbidden,
            EditWindowOver,
            CommentTooLarge,
            TextRefused,
            Suspended,
            Banned,
            Duplicate,
        ),
    )
    def edit_comment(
        request: Request, node: NodeId, comment: CommentId, caller: Principal, body: CommentEdit
    ) -> Ok[CommentAnswer]:
        """Replace a comment's text: its author within 15 minutes, a moderator at any time."""
        edited = edit.edit_comment(request.runtime, node, comment, body, caller)
        return Ok(reading.placed_comment(request.runtime, edited, caller))

    @route(
        "DELETE",
        "/nodes/{node}/comments/{comment}",
        limit=EDITS,
        raises=(UnknownNode, UnknownComment, CommentDeleted, Forbidden),
    )
    def delete_comment(
        request: Request, node: NodeId, comment: CommentId, caller: Principal
    ) -> NoContent:
        """Delete a comment; a comment with replies leaves a tombstone."""
        edit.delete_comment(request.runtime, node, comment, caller)
        return NoContent()
