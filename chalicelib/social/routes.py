"""The social API."""

from http import HTTPStatus

from chalice.app import Blueprint, Response

from chalicelib.cursors import decode_cursor, encode_cursor
from chalicelib.http import PageQuery, Request, no_content, reply, router
from chalicelib.identity import UserId
from chalicelib.runtime import Runtime
from chalicelib.social import comments, graph, news, posts, users, walls
from chalicelib.social.models import (
    CircleId,
    CircleSettings,
    NewComment,
    PostId,
    PostType,
    UserSettings,
    circle_answer,
    comment_answer,
    new_post_model,
    post_answer,
    user_answer,
)


def routes(runtime: Runtime) -> Blueprint:
    """Return the routes of users, circles, posts and their views.

    API Gateway prefers `/users/me` to `/users/{user}` whatever the method, so what can be
    asked of any user stands at `me` as well.
    """
    blueprint = Blueprint(__name__)
    _add_users(blueprint, runtime)
    _add_circles(blueprint, runtime)
    _add_posts(blueprint, runtime)
    _add_views(blueprint, runtime)
    return blueprint


def _add_users(blueprint: Blueprint, runtime: Runtime) -> None:
    route = router(blueprint, runtime)

    @route("PUT", "/users/me")
    def put_me(request: Request) -> Response:
        caller = request.principal()
        settings = request.body(UserSettings)
        return reply(user_answer(users.put(request.runtime.database, caller, settings)))

    @route("GET", "/users/me")
    def get_me(request: Request) -> Response:
        return _user(request, request.principal().id)

    @route("GET", "/users/{user}")
    def get_user(request: Request, user: UserId) -> Response:
        return _user(request, user)

    @route("GET", "/users/me/followers")
    def list_my_followers(request: Request) -> Response:
        return _followers(request, request.principal().id)

    @route("GET", "/users/{user}/followers")
    def list_followers(request: Request, user: UserId) -> Response:
        request.principal()
        return _followers(request, user)


def _user(request: Request, user_id: str) -> Response:
    return reply(user_answer(users.find(request.runtime.database, user_id)))


def _followers(request: Request, user_id: str) -> Response:
    query, runtime = request.query(PageQuery), request.runtime
    keys, scope = runtime.settings.signing_keys, f"followers:{user_id}"
    after = decode_cursor(query.cursor, scope, keys)[0] if query.cursor else ""
    found = graph.followers(runtime.database, user_id, after, query.limit + 1)
    shown = found[: query.limit]
    last = [shown[-1]["id"]] if len(found) > len(shown) else None
    following = encode_cursor(last, scope, keys) if last else None
    return reply({"followers": shown, "next": following})


def _add_circles(blueprint: Blueprint, runtime: Runtime) -> None:
    route = router(blueprint, runtime)

    @route("PUT", "/users/me/circles/{circle}")
    def put_circle(request: Request, circle: CircleId) -> Response:
        caller = request.principal()
        name = request.body(CircleSettings).name
        users.ensure(request.runtime.database, caller)
        stored, is_new = graph.put_circle(request.runtime.database, caller.id, circle, name)
        status = HTTPStatus.CREATED if is_new else HTTPStatus.OK
        return reply(circle_answer(circle, stored), status)

    @route("DELETE", "/users/me/circles/{circle}")
    def delete_circle(request: Request, circle: CircleId) -> Response:
        graph.delete_circle(request.runtime.database, request.principal().id, circle)
        return no_content()

    @route("GET", "/users/me/circles")
    def list_circles(request: Request) -> Response:
        circles = graph.circles_of(request.runtime.database, request.principal().id)
        answers = [circle_answer(id_, circle) for id_, circle in sorted(circles.items())]
        return reply({"circles": answers})

    @route("PUT", "/users/me/circles/{circle}/members/{user}")
    def add_member(request: Request, circle: CircleId, user: UserId) -> Response:
        graph.add_member(request.runtime.database, request.principal().id, circle, user)
        return no_content()

    @route("DELETE", "/users/me/circles/{circle}/members/{user}")
    def remove_member(request: Request, circle: CircleId, user: UserId) -> Response:
        graph.remove_member(request.runtime.database, request.principal().id, circle, user)
        return no_content()


def _add_posts(blueprint: Blueprint, runtime: Runtime) -> None:
    route = router(blueprint, runtime)

    @route("POST", "/posts")
    def publish(request: Request) -> Response:
        caller = request.principal()
        new = request.body(new_post_model(request.body(PostType).type))
        post = posts.publish(request.runtime, caller, new)
        location = f"/posts/{post['id']}"
        return reply(post_answer(post), HTTPStatus.CREATED, {"Location": location})

    @route("GET", "/posts/{post}")
    def get_post(request: Request, post: PostId) -> Response:
        found = posts.find_visible(request.runtime.database, post, _caller_id(request))
        return reply(post_answer(found))

    @route("GET", "/posts/{post}/fan-out")
    def get_fan_out(request: Request, post: PostId) -> Response:
        return reply(posts.fan_out_of(request.runtime.database, post, request.principal()))

    @route("POST", "/posts/{post}/comments")
    def comment(request: Request, post: PostId) -> Response:
        caller = request.principal()
        added = comments.add(request.runtime, post, caller, request.body(NewComment).text)
        return reply(comment_answer(added), HTTPStatus.CREATED)

    @route("GET", "/posts/{post}/comments")
    def list_comments(request: Request, post: PostId) -> Response:
        query = request.query(PageQuery)
        return reply(comments.list_all(request.runtime, post, _caller_id(request), query))


def _add_views(blueprint: Blueprint, runtime: Runtime) -> None:
    route = router(blueprint, runtime)

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


def _caller_id(request: Request) -> str | None:
    caller = request.caller()
    return caller.id if caller else None
