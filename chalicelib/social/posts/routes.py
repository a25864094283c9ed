"""The routes of posts and of the comments on them."""

from http import HTTPStatus

from chalice.app import Response

from chalicelib.http import PageQuery, Request, Route, no_content, reply
from chalicelib.http.idempotency import once
from chalicelib.limits import COMMENTS, EDITS, POSTS
from chalicelib.social.posts import comments, moderation, posts
from chalicelib.social.posts.models import (
    NewPostComment,
    PostId,
    PostType,
    comment_answer,
    edit_model,
    new_post_model,
    post_answer,
)


def declare(route: Route) -> None:
    """Declare the routes of posts and of their comments."""
    _declare_posts(route)
    _declare_comments(route)


def _declare_posts(route: Route) -> None:
    @route("POST", "/posts", limit=POSTS)
    def publish(request: Request) -> Response:
        caller = request.principal()
        new = request.body(new_post_model(request.body(PostType).type))
        post = once(
            request,
            lambda runtime: posts.publish(runtime, caller, new),
            lambda made, _at: posts.find_visible(request.runtime.database, made, caller.id),
        )
        request.details["made"] = post["id"]
        location = f"{request.runtime.settings.public_url}/posts/{post['id']}"
        return reply(post_answer(post, caller.id), HTTPStatus.CREATED, {"Location": location})

    @route("GET", "/posts/{post}")
    def get_post(request: Request, post: PostId) -> Response:
        found = moderation.read_post(request.runtime, post, request.caller())
        return moderation.reply_audited(request, found)

    @route("PATCH", "/posts/{post}", limit=EDITS)
    def edit_post(request: Request, post: PostId) -> Response:
        caller = request.principal()
        own = posts.find_own(request.runtime.database, post, caller)
        edited = request.body(edit_model(own["type"]))
        found = posts.edit(request.runtime, post, caller, edited)
        return reply(post_answer(found, caller.id))

    @route("DELETE", "/posts/{post}", limit=EDITS)
    def delete_post(request: Request, post: PostId) -> Response:
        posts.delete(request.runtime, post, request.principal())
        return no_content()


def _declare_comments(route: Route) -> None:
    @route("POST", "/posts/{post}/comments", limit=COMMENTS)
    def comment(request: Request, post: PostId) -> Response:
        caller = request.principal()
        text = request.body(NewPostComment).text
        added = once(
            request,
            lambda runtime: comments.add(runtime, post, caller, text),
            lambda made, at: comments.find(request.runtime.database, post, caller.id, (at, made)),
        )
        request.details["made"] = added["id"]
        return reply(comment_answer(added), HTTPStatus.CREATED)

    @route("GET", "/posts/{post}/comments")
    def list_comments(request: Request, post: PostId) -> Response:
        query = request.query(PageQuery)
        return reply(comments.list_all(request.runtime, post, caller_id(request), query))


def caller_id(request: Request) -> str | None:
    """Return the id of the caller, or None for an anonymous one."""
    caller = request.caller()
    return caller.id if caller else None
