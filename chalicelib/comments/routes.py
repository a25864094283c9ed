"""The comments API."""

from http import HTTPStatus

from chalice.app import Blueprint, Response

from chalicelib.comments import nodes, operations
from chalicelib.comments.models import (
    CommentId,
    CommentsQuery,
    NewComment,
    NodeId,
    NodeSettings,
    comment_answer,
    node_answer,
)
from chalicelib.comments.posting import post_comment
from chalicelib.http import PageQuery, Request, reply, router
from chalicelib.runtime import Runtime


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of nodes and comments."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)

    @route("PUT", "/nodes/{node}")
    def put_node(request: Request, node: NodeId) -> Response:
        caller = request.principal("publisher", "moderator")
        settings = request.body(NodeSettings)
        stored, is_new = operations.put_node(request.runtime, node, settings, caller)
        return reply(node_answer(stored), HTTPStatus.CREATED if is_new else HTTPStatus.OK)

    @route("GET", "/nodes/{node}")
    def get_node(request: Request, node: NodeId) -> Response:
        return reply(node_answer(nodes.find(request.runtime.database, node)))

    @route("POST", "/nodes/{node}/comments")
    def post(request: Request, node: NodeId) -> Response:
        author = request.principal()
        comment = post_comment(request.runtime, node, request.body(NewComment), author)
        location = f"/nodes/{node}/comments/{comment['id']}"
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

    return blueprint
