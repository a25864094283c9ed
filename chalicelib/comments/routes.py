"""The comments API."""

from http import HTTPStatus

from chalice.app import Blueprint, Response

from chalicelib.comments import nodes
from chalicelib.comments.discussion import editing, reading
from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.discussion.posting import new_comment_id, post_comment
from chalicelib.comments.lifecycle.forwarding import forwarding
from chalicelib.comments.models import (
    CommentEdit,
    CommentId,
    CommentsQuery,
    CountsQuery,
    IdChange,
    NewComment,
    NodeSettings,
    PendingQuery,
    StateChange,
    StoreChange,
    comment_answer,
    node_answer,
)
from chalicelib.comments.moderation import queue
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.permissions import manages
from chalicelib.http import PageQuery, Request, Route, no_content, reply, router
from chalicelib.http.idempotency import once
from chalicelib.limits import COMMENTS, EDITS, NODES
from chalicelib.runtime import Runtime


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of nodes and comments."""
    blueprint = Blueprint(__name__)
    route = forwarding(router(blueprint, runtime))
    _declare_nodes(route)
    _declare_moves(route)
    _declare_posting(route)
    _declare_reading(route)
    _declare_changes(route)
    _declare_moderation(route)
    return blueprint


def _declare_nodes(route: Route) -> None:
    @route("PUT", "/nodes/{node}", limit=NODES)
    def put_node(request: Request, node: NodeId) -> Response:
        caller = request.principal("publisher", "moderator")
        settings = request.body(NodeSettings)
        stored, is_new = discussion_nodes.put_node(request.runtime, node, settings, caller)
        return reply(
            node_answer(stored, staff=True), HTTPStatus.CREATED if is_new else HTTPStatus.OK
        )

    @route("GET", "/nodes/{node}")
    def get_node(request: Request, node: NodeId) -> Response:
        caller = request.caller()
        found = nodes.find(request.runtime.database, node)
        staff = caller is not None and manages(caller, found["site"])
        return reply(node_answer(found, staff=staff))

    @route("DELETE", "/nodes/{node}", limit=NODES)
    def delete_node(request: Request, node: NodeId) -> Response:
        discussion_nodes.delete_node(request.runtime, node, request.principal("publisher"))
        return no_content()

    @route("GET", "/comment-counts")
    def count_comments(request: Request) -> Response:
        wanted = request.query(CountsQuery).nodes
        return reply(nodes.visible_counts(request.runtime.database, wanted))


def _declare_moves(route: Route) -> None:
    @route("POST", "/nodes/{node}/move", limit=NODES)
    def relocate(request: Request, node: NodeId) -> Response:
        request.principal("admin")
        to = request.body(IdChange).to
        moved = discussion_nodes.relocate_node(request.runtime, node, to)
        status = HTTPStatus.OK if moved["_id"] == to else HTTPStatus.ACCEPTED
        address = f"{request.runtime.settings.public_url}/nodes/{to}"
        return reply(node_answer(moved, staff=True), status, {"Location": address})

    @route("POST", "/nodes/{node}/store", limit=NODES)
    def move(request: Request, node: NodeId) -> Response:
        publisher = request.principal("publisher")
        store = request.body(StoreChange).store
        moved = discussion_nodes.move_node(request.runtime, node, store, publisher)
        arrived = moved["store"] == store
        return reply(
            node_answer(moved, staff=True), HTTPStatus.OK if arrived else HTTPStatus.ACCEPTED
        )


def _declare_posting(route: Route) -> None:
    @route("POST", "/nodes/{node}/comments", limit=COMMENTS)
    def post(request: Request, node: NodeId) -> Response:
        author = request.principal()
        new = request.body(NewComment)
        comment = once(
            request,
            lambda runtime: post_comment(runtime, node, new, author),
            lambda made, _at: reading.get_comment(request.runtime, node, made, author),
            lambda _at, rng: new_comment_id(rng),
        )
        request.details["made"] = comment["id"]
        base = request.runtime.settings.public_url
        location = f"{base}/nodes/{node}/comments/{comment['id']}"
        return reply(comment_answer(node, comment), HTTPStatus.CREATED, {"Location": location})


def _declare_reading(route: Route) -> None:
    @route("GET", "/nodes/{node}/comments")
    def list_comments(request: Request, node: NodeId) -> Response:
        query = request.query(CommentsQuery)
        return reply(reading.list_comments(request.runtime, node, query, request.caller()))

    @route("GET", "/nodes/{node}/comments/{comment}")
    def get_comment(request: Request, node: NodeId, comment: CommentId) -> Response:
        found = reading.get_comment(request.runtime, node, comment, request.caller())
        return reply(comment_answer(node, found))

    @route("GET", "/nodes/{node}/comments/{comment}/thread")
    def list_thread(request: Request, node: NodeId, comment: CommentId) -> Response:
        query = request.query(PageQuery)
        caller = request.caller()
        return reply(reading.list_thread(request.runtime, node, comment, query, caller))


def _declare_changes(route: Route) -> None:
    @route("PATCH", "/nodes/{node}/comments/{comment}", limit=EDITS)
    def edit(request: Request, node: NodeId, comment: CommentId) -> Response:
        caller = request.principal()
        text = request.body(CommentEdit).text
        edited = editing.edit_comment(request.runtime, node, comment, text, caller)
        return reply(comment_answer(node, edited))

    @route("DELETE", "/nodes/{node}/comments/{comment}", limit=EDITS)
    def delete(request: Request, node: NodeId, comment: CommentId) -> Response:
        editing.delete_comment(request.runtime, node, comment, request.principal())
        return no_content()


def _declare_moderation(route: Route) -> None:
    @route("POST", "/nodes/{node}/comments/{comment}/state")
    def set_state(request: Request, node: NodeId, comment: CommentId) -> Response:
        moderator = request.principal("moderator")
        wanted = request.body(StateChange)
        changed = editing.set_state(request.runtime, node, comment, wanted, moderator)
        return reply(comment_answer(node, changed))

    @route("GET", "/moderation/comments")
    def list_pending(request: Request) -> Response:
        moderator = request.principal("moderator")
        query = request.query(PendingQuery)
        return reply(queue.list_pending(request.runtime, query, moderator))
