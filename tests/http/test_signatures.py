"""Signatures of views: their parameters are what a call must provide, in one order."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from chalice.app import Blueprint, Response

from chalicelib.http import Input, Ok, PageQuery, Request, Roles, router
from chalicelib.http.routing import signature_of
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.http.support.things import app_with
from tests.support.http_client import Client

Moderator = Annotated[Principal, Roles("moderator")]


class Thing(Input):
    """A body."""

    name: str


def routes(runtime: Runtime) -> Blueprint:
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)

    @route("PUT", "/things/{thing}", limit=None)
    def put_thing(
        request: Request, body: Thing, query: PageQuery, thing: int, author: Moderator
    ) -> Ok[dict[str, Any]]:
        del request
        told = {"thing": thing, "author": author.id, "limit": query.limit, "name": body.name}
        return Ok(told)

    @route("GET", "/caller")
    def get_me(request: Request, caller: Principal | None) -> Ok[dict[str, Any]]:
        del request
        return Ok({"id": caller.id if caller else None})

    @route("GET", "/mine")
    def get_mine(request: Request, caller: Principal) -> Ok[dict[str, Any]]:
        del request
        return Ok({"id": caller.id})

    return blueprint


@pytest.fixture
def client(runtime: Runtime, token: Callable[..., str]) -> Client:
    return Client(app_with(runtime, routes), token)


def test_a_view_is_given_path_caller_query_and_body(client: Client) -> None:
    moderator = client.as_("mo", roles=["moderator"])

    answer = moderator.request("PUT", "/things/7?limit=3", body=b'{"name": "lamp"}')

    assert answer.json == {"thing": 7, "author": "mo", "limit": 3, "name": "lamp"}


@pytest.mark.parametrize(
    ("path", "roles", "body", "status"),
    [
        ("/things/seven?limit=0", None, b'{"name": 1}', 422),
        ("/things/7?limit=0", None, b'{"name": 1}', 401),
        ("/things/7?limit=0", [], b'{"name": 1}', 403),
        ("/things/7?limit=0", ["moderator"], b'{"name": 1}', 422),
        ("/things/7?limit=1", ["moderator"], b'{"name": 1}', 422),
        ("/things/7?limit=1", ["moderator"], b'{"name": "lamp"}', 200),
    ],
    ids=["path", "token", "role", "query", "body", "all"],
)
def test_the_first_fault_in_the_order_of_binding_is_told(
    client: Client, path: str, roles: list[str] | None, body: bytes, status: int
) -> None:
    caller = client if roles is None else client.as_("mo", roles=roles)

    assert caller.request("PUT", path, body=body).status == status


def test_a_query_is_refused_before_a_body_is_read(client: Client) -> None:
    moderator = client.as_("mo", roles=["moderator"])

    answer = moderator.request("PUT", "/things/7?limit=0", body=b'{"name": 1}')

    assert [each["field"] for each in answer.json["errors"]] == ["limit"]


def test_an_optional_caller_may_be_nobody(client: Client) -> None:
    assert client.get("/caller").json == {"id": None}
    assert client.as_("ann").get("/caller").json == {"id": "ann"}


def test_a_caller_without_roles_is_anybody_with_a_token(client: Client) -> None:
    assert client.get("/mine").status == 401
    assert client.as_("ann").get("/mine").json == {"id": "ann"}


def test_a_parameter_that_nothing_can_be_bound_to_is_refused_when_it_is_declared() -> None:
    def view(request: Request, thing: str) -> Response:
        del request, thing
        return Response("")

    with pytest.raises(TypeError, match="thing is in no part of /things"):
        signature_of(view, "/things")
