"""The API of posts: writing them, commenting on them, and the views that show them."""

from http import HTTPStatus

from chalice.app import Blueprint, Response

from chalicelib.http import PageQuery, Request, Route, no_content, reply, router
from chalicelib.identity import UserId
from chalicelib.runtime import Runtime
from chalicelib.social import comments, news, posts, progress, users, walls
from chalicelib.social.models import (
    NewComment,
    PostId,
    PostType,
    comment_answer,
    edit_model,
    new_post_model,
    post_answer,
)


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of posts, their comments, walls and news."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)
    _declare_posts(route)
    _declare_fan_outs(route)
    _declare_comments(route)
    _declare_views(route)
    return blueprint


def _declare_posts(route: Route) -> None:
    @route("POST", "/posts")
    def publish(request: Request) -> Response:
        caller = request.principal()
        new = request.body(new_post_model(request.body(PostType).type))
        post = posts.publish(request.runtime, caller, new)
        location = f"{request.runtime.settings.public_url}/posts/{post['id']}"
        return reply(post_answer(post), HTTPStatus.CREATED, {"Location": location})

    @route("GET", "/posts/{post}")
    def get_post(request: Request, post: PostId) -> Response:
        found = posts.find_visible(request.runtime.database, post, _caller_id(request))
        return reply(post_answer(found))

    @route("PATCH", "/posts/{post}")
    def edit_post(request: Request, post: PostId) -> Response:
        caller = request.principal()
        own = posts.find_own(request.runtime.database, post, caller)
        edited = request.body(edit_model(own["type"]))
        return reply(post_answer(posts.edit(request.runtime, post, caller, edited)))

    @route("DELETE", "/posts/{post}")
    def delete_post(request: Request, post: PostId) -> Response:
        posts.delete(request.runtime, post, request.principal())
        return no_content()


def _declare_fan_outs(route: Route) -> None:
    @route("GET", "/posts/{post}/fan-out")
    def get_fan_out(request: Request, post: PostId) -> Response:
        return reply(progress.of(request.runtime.database, post, request.principal()))

    @route("POST", "/posts/{post}/fan-out")
    def retry_fan_out(request: Request, post: PostId) -> Response:
        request.principal("moderator")
        progress.retry(request.runtime, post)
        return no_content()

    @route("GET", "/fan-outs/failed")
    def list_failed(request: Request) -> Response:
        request.principal("moderator")
        return reply(progress.failed(request.runtime, request.query(PageQuery)))


def _declare_comments(route: Route) -> None:
    @route("POST", "/posts/{post}/comments")
    def comment(request: Request, post: PostId) -> Response:
        caller = request.principal()
        added = comments.add(request.runtime, post, caller, request.body(NewComment).text)
        return reply(comment_answer(added), HTTPStatus.CREATED)

    @route("GET", "/posts/{post}/comments")
    def list_comments(request: Request, post: PostId) -> Response:
        query = request.query(PageQuery)
        return reply(comments.list_all(request.runtime, post, _caller_id(request), query))


def _declare_views(route: Route) -> None:
    @route("GET", "/users/me/wall")
    def read_my_wall(request: Request) -> Response:
        me = request.principal().id
        return reply(walls.read(request.runtime, me, me, request.query(PageQuery)))

    @route("GET", "/users/{user}/wall")
    def read_wall(request: Request, user: UserId) -> Response:
        users.find(request.runtime.database, user)
        reader_id = _caller_id(request)
        return reply(walls.read(request.runtime, user, reader_id, request.query(PageQuery)))

    @route("GET", "/users/me/news")
    def read_news(request: Request) -> Response:
        me = request.principal().id
        return reply(news.read(request.runtime, me, request.query(PageQuery)))

    @route("GET", "/users/me/incoming")
    def read_incoming(request: Request) -> Response:
        me = request.principal().id
        return reply(news.read_incoming(request.runtime, me, request.query(PageQuery)))


def _caller_id(request: Request) -> str | None:
    caller = request.caller()
    return caller.id if caller else None
