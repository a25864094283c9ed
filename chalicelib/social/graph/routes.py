"""The API of users: who they are, their circles, followers and blocks."""

from collections.abc import Callable
from http import HTTPStatus

from chalice.app import Response

from chalicelib.http import PageQuery, Request, Route, no_content, reply
from chalicelib.http.pages import Cursors, paged
from chalicelib.identity import UserId
from chalicelib.social.graph import blocks, circles, following, memberships, users
from chalicelib.social.graph.models import CircleId, CircleSettings, UserSettings, user_answer
from chalicelib.social.graph.store import GraphPerson
from chalicelib.social.paging.id_range import IdRange


def declare(route: Route) -> None:
    """Declare the routes of users and of their graph.

    API Gateway prefers `/users/me` to `/users/{user}` whatever the method, so what can be
    asked of any user is declared for `me` as well.
    """
    _declare_users(route)
    _declare_circles(route)
    _declare_members(route)
    _declare_blocks(route)


def _declare_users(route: Route) -> None:
    @route("PUT", "/users/me")
    def put_me(request: Request) -> Response:
        caller = request.principal()
        settings = request.body(UserSettings)
        return reply(user_answer(users.put(request.runtime, caller, settings)))

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
    def fetch(ids: IdRange) -> list[GraphPerson]:
        return following.followers(request.runtime.database, user_id, ids)

    return _page(request, "followers", f"followers:{user_id}", fetch)


def _page(
    request: Request, name: str, scope: str, fetch: Callable[[IdRange], list[GraphPerson]]
) -> Response:
    """Answer with a page of people by id."""
    query, cursors = request.query(PageQuery), Cursors(scope, request.runtime.settings.signing_keys)
    (after,) = cursors.position(query) or ("",)
    shown, last = paged(fetch(IdRange(after, limit=query.limit + 1)), query.limit)
    following = cursors.following([last.id] if last else None)
    return reply({name: [each._asdict() for each in shown], "next": following})


def _declare_circles(route: Route) -> None:
    @route("PUT", "/users/me/circles/{circle}")
    def put_circle(request: Request, circle: CircleId) -> Response:
        caller = request.principal()
        name = request.body(CircleSettings).name
        users.ensure(request.runtime, caller)
        stored, is_new = circles.put(request.runtime.database, caller.id, circle, name)
        return reply(stored, HTTPStatus.CREATED if is_new else HTTPStatus.OK)

    @route("DELETE", "/users/me/circles/{circle}")
    def delete_circle(request: Request, circle: CircleId) -> Response:
        circles.delete(request.runtime, request.principal().id, circle)
        return no_content()

    @route("GET", "/users/me/circles")
    def list_circles(request: Request) -> Response:
        caller = request.principal()
        return reply({"circles": circles.list_all(request.runtime.database, caller.id)})


def _declare_members(route: Route) -> None:
    @route("GET", "/users/me/circles/{circle}/members")
    def list_members(request: Request, circle: CircleId) -> Response:
        owner = request.principal().id

        def fetch(ids: IdRange) -> list[GraphPerson]:
            return circles.members(request.runtime.database, owner, circle, ids)

        return _page(request, "members", f"members:{owner}:{circle}", fetch)

    @route("PUT", "/users/me/circles/{circle}/members/{user}")
    def add_member(request: Request, circle: CircleId, user: UserId) -> Response:
        memberships.add_member(request.runtime, request.principal().id, circle, user)
        return no_content()

    @route("DELETE", "/users/me/circles/{circle}/members/{user}")
    def remove_member(request: Request, circle: CircleId, user: UserId) -> Response:
        memberships.remove_member(request.runtime, request.principal().id, circle, user)
        return no_content()


def _declare_blocks(route: Route) -> None:
    @route("PUT", "/users/me/blocked/{user}")
    def block(request: Request, user: UserId) -> Response:
        caller = request.principal()
        users.ensure(request.runtime, caller)
        blocks.block(request.runtime, caller.id, user)
        return no_content()

    @route("DELETE", "/users/me/blocked/{user}")
    def unblock(request: Request, user: UserId) -> Response:
        blocks.unblock(request.runtime.database, request.principal().id, user)
        return no_content()
