"""The routes of walls and news, and of the fan-outs that fill them."""

from chalice.app import Response

from chalicelib.http import PageQuery, Request, Route, no_content, reply
from chalicelib.identity import UserId
from chalicelib.social.graph import users
from chalicelib.social.posts.models import PostId
from chalicelib.social.posts.routes import caller_id
from chalicelib.social.timelines import news, progress, walls


def declare(route: Route) -> None:
    """Declare the routes of walls and news, and of the posts' fan-outs."""
    _declare_fan_outs(route)
    _declare_views(route)


def _declare_fan_outs(route: Route) -> None:
    @route("GET", "/posts/{post}/fan-out")
    def get_fan_out(request: Request, post: PostId) -> Response:
        return reply(progress.of(request.runtime.database, post, request.principal()))

    @route("POST", "/posts/{post}/fan-out")
    def retry_fan_out(request: Request, post: PostId) -> Response:
        request.principal("social_moderator")
        progress.retry(request.runtime, post)
        return no_content()

    @route("GET", "/fan-outs/failed")
    def list_failed(request: Request) -> Response:
        request.principal("social_moderator")
        return reply(progress.failed(request.runtime, request.query(PageQuery)))


def _declare_views(route: Route) -> None:
    @route("GET", "/users/me/wall")
    def read_my_wall(request: Request) -> Response:
        me = request.principal().id
        return reply(walls.read(request.runtime, me, me, request.query(PageQuery)))

    @route("DELETE", "/users/me/wall/{post}")
    def take_off_my_wall(request: Request, post: PostId) -> Response:
        walls.take_off(request.runtime, post, request.principal())
        return no_content()

    @route("GET", "/users/{user}/wall")
    def read_wall(request: Request, user: UserId) -> Response:
        users.find(request.runtime.database, user)
        reader_id = caller_id(request)
        return reply(walls.read(request.runtime, user, reader_id, request.query(PageQuery)))

    @route("GET", "/users/me/news")
    def read_news(request: Request) -> Response:
        me = request.principal().id
        return reply(news.read(request.runtime, me, request.query(PageQuery)))

    @route("GET", "/users/me/incoming")
    def read_incoming(request: Request) -> Response:
        me = request.principal().id
        return reply(news.read_incoming(request.runtime, me, request.query(PageQuery)))
