"""The comments API."""

from http import HTTPStatus

from chalice.app import Blueprint, Response

from chalicelib.comments import moderation, nodes, operations
from chalicelib.comments.models import (
    CommentEdit,
    CommentId,
    CommentsQuery,
    CountsQuery,
    NewComment,
    NodeId,
    NodeSettings,
    PendingQuery,
    StateChange,
    StoreChange,
    comment_answer,
    node_answer,
)
from chalicelib.comments.posting import post_comment
from chalicelib.http import PageQuery, Request, Route, no_content, reply, router
from chalicelib.runtime import Runtime


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of nodes and comments."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)
    _declare_nodes(route)
    _declare_discussion(route)
    _declare_changes(route)
    _declare_moderation(route)
    return blueprint


def _declare_nodes(route: Route) -> None:
    @route("PUT", "/nodes/{node}")
    def put_node(request: Request, node: NodeId) -> Response:
        caller = request.principal("publisher", "moderator")
        settings = request.body(NodeSettings)
        stored, is_new = operations.put_node(request.runtime, node, settings, caller)
        return reply(node_answer(stored), HTTPStatus.CREATED if is_new else HTTPStatus.OK)

    @route("GET", "/nodes/{node}")
    def get_node(request: Request, node: NodeId) -> Response:
        return reply(node_answer(nodes.find(request.runtime.database, node)))

    @route("GET", "/comment-counts")
    def count_comments(request: Request) -> Response:
        wanted = request.query(CountsQuery).nodes
        return reply(nodes.visible_counts(request.runtime.database, wanted))

    @route("POST", "/nodes/{node}/store")
    def move(request: Request, node: NodeId) -> Response:
        publisher = request.principal("publisher")
        store = request.body(StoreChange).store
        moved = operations.move_node(request.runtime, node, store, publisher)
        arrived = moved["store"] == store
        return reply(node_answer(moved), HTTPStatus.OK if arrived else HTTPStatus.ACCEPTED)


def _declare_discussion(route: Route) -> None:
    @route("POST", "/nodes/{node}/comments")
    def post(request: Request, node: NodeId) -> Response:
        author = request.principal()
        comment = post_comment(request.runtime, node, request.body(NewComment), author)
        base = request.runtime.settings.public_url
        location = f"{base}/nodes/{node}/comments/{comment['id']}"
        return reply(comment_answer(node, comment), HTTPStatus.CREATED, {"Location": location})

    @route("GET", "/nodes/{node}/comments")
    def list_comments(request: Request, node: NodeId) -> Response:
        query = request.query(CommentsQuery)
        return reply(operations.list_comments(request.runtime, node, query, request.caller()))

    @route("GET", "/nodes/{node}/comments/{comment}")
    def get_comment(request: Request, node: NodeId, comment: CommentId) -> Response:
        found = operations.get_comment(request.runtime, node, comment, request.caller())
        return reply(comment_answer(node, found))

    @route("GET", "/nodes/{node}/comments/{comment}/thread")
    def list_thread(request: Request, node: NodeId, comment: CommentId) -> Response:
        query = request.query(PageQuery)
        caller = request.caller()
        return reply(operations.list_thread(request.runtime, node, comment, query, caller))


def _declare_changes(route: Route) -> None:
    @route("PATCH", "/nodes/{node}/comments/{comment}")
    def edit(request: Request, node: NodeId, comment: CommentId) -> Response:
        caller = request.principal()
        text = request.body(CommentEdit).text
        edited = operations.edit_comment(request.runtime, node, comment, text, caller)
        return reply(comment_answer(node, edited))

    @route("DELETE", "/nodes/{node}/comments/{comment}")
    def delete(request: Request, node: NodeId, comment: CommentId) -> Response:
        operations.delete_comment(request.runtime, node, comment, request.principal())
        return no_content()


def _declare_moderation(route: Route) -> None:
    @route("POST", "/nodes/{node}/comments/{comment}/state")
    def set_state(request: Request, node: NodeId, comment: CommentId) -> Response:
        moderator = request.principal("moderator")
        wanted = request.body(StateChange)
        changed = operations.set_state(request.runtime, node, comment, wanted, moderator)
        return reply(comment_answer(node, changed))

    @route("GET", "/moderation/comments")
    def list_pending(request: Request) -> Response:
        moderator = request.principal("moderator")
        query = request.query(PendingQuery)
        return reply(moderation.list_pending(request.runtime, query, moderator))
