"""The front door: which route a path is, whatever was sent."""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest
from chalice.app import Response
from chalice.local import LocalChalice, RouteMatcher
from hypothesis import given
from hypothesis import strategies as st

from app import app as declared_app
from app import create_app
from chalicelib.http import front
from chalicelib.http.front import GREEDY, Routes
from chalicelib.runtime import Runtime
from local.gateway import lambda_event
from tests.support.http_client import Client

ROUTES = Routes(
    [
        *("/", "/me", "/users/me", "/users/me/news", "/users/{user}", "/users/{user}/wall"),
        *("/files/{file}", "/files/{file}/parts/{part}", "/feed.json"),
    ]
)
# Paths as the gateway passes them on, without the first slash: the route, and its parameters.
TABLE: dict[str, tuple[str, dict[str, str]] | None] = {
    "": ("/", {}),
    "me": ("/me", {}),
    # A last slash does not matter, and a second one is an empty part.
    "me/": ("/me", {}),
    "me//": None,
    "users/ann/": ("/users/{user}", {"user": "ann"}),
    "users/": None,
    # Literals go before parameters, unless they lead nowhere.
    "users/me": ("/users/me", {}),
    "users/me/news": ("/users/me/news", {}),
    "users/me/wall": ("/users/{user}/wall", {"user": "me"}),
    "users/ann/news": None,
    # Cases differ.
    "users/ME": ("/users/{user}", {"user": "ME"}),
    "Users/me": None,
    # No part is empty.
    "users//wall": None,
    "/users/me": None,
    "users//": None,
    "//": None,
    # Encoded text stays as it is: in a parameter for the view, in a literal without a route.
    "users/a%2Fb": ("/users/{user}", {"user": "a%2Fb"}),
    "users/a%2fb": ("/users/{user}", {"user": "a%2fb"}),
    "users%2Fann": None,
    "users/a%252Fb": ("/users/{user}", {"user": "a%252Fb"}),
    "users/%6De": ("/users/{user}", {"user": "%6De"}),
    "%75sers/me": None,
    "users/%FF": ("/users/{user}", {"user": "%FF"}),
    "users/%": ("/users/{user}", {"user": "%"}),
    "users/%zz": ("/users/{user}", {"user": "%zz"}),
    "users/%00": ("/users/{user}", {"user": "%00"}),
    "users/a+b@c;d=e:f": ("/users/{user}", {"user": "a+b@c;d=e:f"}),
    "users/ä😀": ("/users/{user}", {"user": "ä😀"}),
    # Dots are text: no path is rewritten.
    "feed.json": ("/feed.json", {}),
    "feedxjson": None,
    "users/.": ("/users/{user}", {"user": "."}),
    "users/..": ("/users/{user}", {"user": ".."}),
    "users/../me": None,
    "files/../parts/%2e%2e": ("/files/{file}/parts/{part}", {"file": "..", "part": "%2e%2e"}),
    "users/{user}": ("/users/{user}", {"user": "{user}"}),
    # Longer than any route.
    "users/ann/wall/1": None,
    "files/a/parts/b/c": None,
    "a/" * 5_000: None,
    f"users/{'x' * 10_000}": ("/users/{user}", {"user": "x" * 10_000}),
}
DECLARED = Routes(declared_app.routes)


@pytest.mark.parametrize("path", TABLE, ids=lambda path: path[:30])
def test_a_path_has_the_route_of_the_table(path: str) -> None:
    assert ROUTES.match(path) == TABLE[path]


def test_no_routes_match_nothing() -> None:
    assert Routes([]).match("") is None
    assert Routes([]).match("a") is None


def test_one_place_has_one_name() -> None:
    """As in API Gateway: one of two names would have the other's value."""
    with pytest.raises(ValueError, match=r"{name} is {user} in another route"):
        Routes(["/users/{user}", "/users/{name}/wall"])


VALUES = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=8)


@given(st.sampled_from(sorted(declared_app.routes)), st.data())
def test_every_route_is_reached_with_any_values(route: str, data: st.DataObject) -> None:
    values = {name: data.draw(VALUES) for name in re.findall(r"{(\w+)}", route)}

    found = DECLARED.match(route.format(**values).lstrip("/"))

    assert found is not None
    if found.route == route:
        assert found.parameters == values
    else:
        # A value may be a literal beside the parameter: `/users/me`.
        assert set(found.route.split("/")) & set(values.values())


ODD = ("x", "me", "a%2Fb", "%", "%FF", ".", "..", "ä", "%2e")


@st.composite
def near_a_route(draw: st.DrawFn) -> str:
    """Return a path like a declared route, with some parts of another one, odd, or missing."""
    parts = draw(st.sampled_from(sorted(declared_app.routes)))[1:].split("/")
    literals = st.sampled_from(draw(st.sampled_from(sorted(declared_app.routes)))[1:].split("/"))
    other = literals.filter(bool) | st.sampled_from(ODD)
    path = [draw(other) if "{" in part or draw(st.integers(0, 5)) == 0 else part for part in parts]
    return "/".join(path[: draw(st.integers(1, len(path)))] if draw(st.booleans()) else path)


@given(near_a_route().filter(bool), st.sampled_from(["", "/"]))
def test_a_path_has_the_route_that_chalice_finds(path: str, end: str) -> None:
    path += end

    ours = DECLARED.match(path)

    try:
        theirs = RouteMatcher(list(declared_app.routes)).match_route(f"/{path}")
    except ValueError:
        assert ours is None
        return
    assert ours is not None
    assert ours.route == theirs.route
    # Theirs has values left over of routes that it tried before.
    assert ours.parameters.items() <= theirs.captured.items()
    assert ours.parameters.keys() == set(re.findall(r"{(\w+)}", ours.route))


@pytest.fixture(scope="module")
def app_of_names() -> LocalChalice:
    """An app with the declared routes, each of which answers its name and its parameters."""
    app = LocalChalice(app_name="names", configure_logs=False)
    front.install(app)

    def view(name: str) -> Callable[..., Response]:
        def answer(**given: str) -> Response:
            call = app.current_request
            seen = [given, call.path, call.uri_params, call.context["resourcePath"]]
            return Response(seen, {"X-Route": name})

        return answer

    for path, methods in declared_app.routes.items():
        for method in methods:
            app.route(path, methods=[method], content_types=[])(view(f"{method} {path}"))
    return app


@pytest.mark.parametrize("path", sorted(declared_app.routes.keys() - {"/"}))
def test_a_call_is_the_same_by_the_greedy_path_and_by_a_resource_of_its_own(
    path: str, app_of_names: LocalChalice
) -> None:
    values = {name: f"a%2F{name}%25" for name in re.findall(r"{(\w+)}", path)}
    target = path.format(**values)
    for method in declared_app.routes[path]:
        answers = [
            app_of_names(event_by(resource, method, target, parameters), None)
            for resource, parameters in ((path, values), (GREEDY, {"path": target[1:]}))
        ]

        assert answers[0] == answers[1]
        assert answers[0]["headers"]["X-Route"] == f"{method} {path}"


def event_by(resource: str, method: str, target: str, parameters: dict[str, str]) -> Any:
    event = lambda_event(method, target, {})
    context = {**event["requestContext"], "resourcePath": resource}
    named = {"resource": resource, "pathParameters": parameters}
    return {**event, **named, "requestContext": context}


def test_a_call_by_its_own_resource_keeps_its_route(app_of_names: LocalChalice) -> None:
    """API Gateway asked for no key: no path may lead from there to another route."""
    event = event_by("/docs/{file}", "GET", "/users/me", {"file": "../users/me"})

    assert app_of_names(event, None)["headers"]["X-Route"] == "GET /docs/{file}"


def test_a_method_that_a_path_does_not_take_is_a_405(api: Client) -> None:
    reply = api.request("DELETE", "/things")

    assert (reply.status, reply.code) == (405, "method_not_allowed")
    assert set(reply.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_a_405_is_the_same_by_a_resource_of_its_own(client: Client) -> None:
    own, greedy = client.request("PUT", "/docs"), client.request("PUT", "/feed")

    assert (own.status, own.code, own.json) == (405, "method_not_allowed", greedy.json)
    assert own.headers["Allow"] == greedy.headers["Allow"]


@pytest.mark.parametrize("path", ["/nothing", "/things/a/b", "/things//b", "/%74hings", "/x%2F"])
def test_an_unknown_path_is_answered_and_logged_as_any_failure(
    api: Client, log_lines: Any, path: str
) -> None:
    reply = api.request("GET", path, headers={"Accept": "text/html"})

    assert (reply.status, reply.code) == (404, "unknown_route")
    (line,) = log_lines()
    # A path of the caller's making names no metric.
    assert (line["route"], line["status"]) == (GREEDY, 404)
    assert line["correlation_id"] == reply.headers["X-Request-Id"]


def test_an_unknown_path_names_the_callers_origin(
    runtime: Runtime, token: Callable[..., str]
) -> None:
    allowed = ("https://a.example", "https://b.example")
    settings = runtime.settings.model_copy(update={"allowed_origins": allowed})
    app = create_app(dataclasses.replace(runtime, settings=settings), LocalChalice)

    reply = Client(app, token, {"Origin": "https://b.example"}).get("/nothing")

    assert reply.headers["Access-Control-Allow-Origin"] == "https://b.example"


def test_a_line_names_the_declared_route(api: Client, log_lines: Any) -> None:
    api.put("/things/a%2Fb", name="ball")
    api.request("POST", "/things/a")

    lines = [line for line in log_lines() if line["message"] == "request"]
    assert [(line["route"], line["status"]) for line in lines] == [
        ("/things/{thing}", 200),
        ("/things/{thing}", 405),
    ]


def test_a_parameter_is_decoded_once(api: Client) -> None:
    assert api.put("/things/a%2Fb", name="ball").json["id"] == "a/b"
    # `%25` is a percent sign, which the pattern of things refuses: `%252F` is no slash.
    assert api.put("/things/a%252Fb", name="ball").status == 422


@pytest.mark.parametrize(
    ("sent", "resource", "parameters"),
    [
        ("/", "/", None),
        ("//", "/", None),
        ("/docs", "/docs", None),
        ("/docs/", "/docs", None),
        ("//docs/a%2Fb", "/docs/{file}", {"file": "a%2Fb"}),
        ("/docs/a/b", GREEDY, {"path": "docs/a/b"}),
        ("/openapixjson", GREEDY, {"path": "openapixjson"}),
        ("//users/a%2Fb/?a=1", GREEDY, {"path": "users/a%2Fb"}),
        ("/users//", GREEDY, {"path": "users/"}),
    ],
)
def test_an_event_is_as_api_gateway_makes_it(
    sent: str, resource: str, parameters: dict[str, str] | None
) -> None:
    event = lambda_event("GET", sent, {"X-A": "1"}, b"\xff")

    assert (event["resource"], event["pathParameters"]) == (resource, parameters)
    assert event["requestContext"]["resourcePath"] == resource
    assert event["path"] == event["requestContext"]["path"] == sent.partition("?")[0]
    assert (event["body"], event["isBase64Encoded"]) == ("/w==", True)


def test_a_query_is_decoded_and_has_all_its_values() -> None:
    event = lambda_event("GET", "/users?a=1&a=%2F+&b=", {})

    assert event["multiValueQueryStringParameters"] == {"a": ["1", "/ "], "b": [""]}
    assert lambda_event("GET", "/users", {})["multiValueQueryStringParameters"] is None


def test_the_gateway_answers_by_itself_to_a_method_that_is_none(api: Client) -> None:
    assert api.request("TRACE", "/things").code == "unknown_route"
