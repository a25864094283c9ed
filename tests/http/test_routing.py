"""Requests and failures, seen through a small blueprint behind the gateway."""

import dataclasses
from collections.abc import Callable

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.runtime import Runtime
from tests.http.support.things import fields
from tests.support.http_client import Client


def test_a_good_request_is_parsed(api: Client) -> None:
    assert api.put("/things/abc", name="ball").json == {"id": "abc", "name": "ball", "size": 1}


def test_a_path_parameter_is_decoded(api: Client) -> None:
    assert api.put("/things/a%2Fb", name="ball").json["id"] == "a/b"


def test_a_path_parameter_that_does_not_fit_is_named(api: Client) -> None:
    assert fields(api.put("/things/%24where", name="ball")) == {"thing": "string_pattern_mismatch"}


@pytest.mark.parametrize("limit", ["1", "200"])
def test_a_page_has_one_to_two_hundred(api: Client, limit: str) -> None:
    assert api.get(f"/things?limit={limit}").json == {"limit": int(limit), "cursor": None}


@pytest.mark.parametrize("limit", ["0", "-1", "201", "x", "", "1e2", "%00"])
def test_another_limit_is_a_422(api: Client, limit: str) -> None:
    assert "limit" in fields(api.get(f"/things?limit={limit}"))


def test_an_unknown_query_parameter_is_named(api: Client) -> None:
    assert fields(api.get("/things?limit=5&skip=10")) == {"skip": "extra_forbidden"}


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/nowhere"), ("POST", "/nothing"), ("OPTIONS", "/nothing"), ("GET", "/things/a/b")],
)
def test_an_unknown_path_is_a_404_by_any_method(api: Client, method: str, path: str) -> None:
    reply = api.request(method, path)

    assert (reply.status, reply.code) == (404, "unknown_route")


@pytest.mark.parametrize("header", ["Bearer x.y.z", "AWS4-HMAC-SHA256 é"])
def test_a_token_does_not_change_the_answer_for_an_unknown_path(api: Client, header: str) -> None:
    reply = api.request("GET", "/nothing", headers={"Authorization": header})

    assert (reply.status, reply.code) == (404, "unknown_route")


def test_without_a_token_a_closed_call_is_a_401(api: Client) -> None:
    reply = api.get("/staff")

    assert (reply.status, reply.code) == (401, "unauthenticated")
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")


def test_with_another_role_it_is_a_403(api: Client) -> None:
    reply = api.as_("ann", roles=["publisher"]).get("/staff")

    assert (reply.status, reply.code) == (403, "forbidden")


def test_with_the_role_it_is_answered(api: Client) -> None:
    assert api.as_("ann", roles=["moderator"]).get("/staff").json == {"id": "ann"}


@pytest.mark.parametrize("path", ["/crash", "/misconfigured"])
def test_an_unexpected_failure_leaks_nothing(api: Client, path: str) -> None:
    reply = api.get(path)

    assert (reply.status, reply.code) == (500, "internal")
    assert b"secret" not in reply.body.lower()
    assert "detail" not in reply.json


def test_a_passing_failure_says_when_to_come_back(api: Client) -> None:
    reply = api.get("/busy")

    assert (reply.status, reply.code) == (503, "unavailable")
    assert reply.headers["Retry-After"] == "7"


def test_two_apps_with_two_runtimes_do_not_see_each_other(
    runtime: Runtime, token: Callable[..., str]
) -> None:
    other_settings = runtime.settings.model_copy(update={"database": "plaza-other"})
    other = dataclasses.replace(
        runtime,
        database=runtime.database.client.get_database("plaza-other"),
        settings=other_settings,
    )
    one, two = (Client(create_app(each, LocalChalice), token) for each in (runtime, other))
    admin = {"roles": ["admin"]}
    url = "https://site.example/page"

    assert one.as_("ann", **admin).put("/nodes/page", title="One", url=url).status == 201
    assert two.get("/nodes/page").code == "unknown_node"
    assert two.as_("ann", **admin).put("/nodes/page", title="Two", url=url).status == 201
    assert one.get("/nodes/page").json["title"] == "One"
    assert two.get("/nodes/page").json["title"] == "Two"
    runtime.database.client.drop_database("plaza-other")
