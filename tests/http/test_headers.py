"""Headers of every answer: origins, caches, preflights, HEAD, retirement."""

import dataclasses
from collections.abc import Callable
from dataclasses import replace

import pytest
from chalice.app import Chalice
from chalice.local import LocalChalice

from app import create_app
from chalicelib.runtime import Runtime
from tests.http.support.things import app_with_things
from tests.support.http_client import Client


def test_a_retired_route_says_since_when_and_until_when(api: Client) -> None:
    headers = api.get("/retired").headers

    assert headers["Deprecation"] == "@1767225600"
    assert headers["Sunset"] == "Wed, 01 Jul 2026 00:00:00 GMT"
    assert "Deprecation" not in api.get("/things").headers


def test_every_answer_may_be_read_by_any_page(api: Client) -> None:
    for path in ("/things", "/staff", "/crash", "/nothing"):
        assert api.get(path).headers["Access-Control-Allow-Origin"] == "*"


ORIGINS = ("https://a.example", "https://b.example")


@pytest.fixture
def listed(runtime: Runtime) -> Client:
    """A caller of an API whose answers the pages of two origins may read."""
    settings = runtime.settings.model_copy(update={"allowed_origins": ORIGINS})
    app = app_with_things(dataclasses.replace(runtime, settings=settings))
    return Client(app, lambda *_: "")


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_with_a_list_of_origins_the_callers_own_is_named(listed: Client, method: str) -> None:
    answer = listed.request(method, "/things", headers={"Origin": "https://b.example"})

    assert answer.headers["Access-Control-Allow-Origin"] == "https://b.example"
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    assert answer.headers["Vary"] == "Authorization, Origin"


@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://b.example.evil"])
def test_an_origin_that_is_not_listed_is_never_named(
    listed: Client, method: str, origin: str
) -> None:
    answer = listed.request(method, "/things", headers={"Origin": origin})

    assert answer.headers["Access-Control-Allow-Origin"] == "https://a.example"


def test_a_preflight_allows_the_token_header_and_the_paths_methods(api: Client) -> None:
    answer = api.request("OPTIONS", "/things/abc", headers={"Origin": "https://a.example"})

    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]
    assert answer.headers["Access-Control-Allow-Methods"] == "OPTIONS, PUT"
    assert answer.headers["Access-Control-Max-Age"] == "7200"


def test_a_preflight_needs_no_token_and_looks_nothing_up(client: Client) -> None:
    headers = {
        "Origin": "https://a.example",
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    for path in ("/users/me", "/nodes/none/comments", "/posts/none"):
        assert client.request("OPTIONS", path, headers=headers).status == 204
    assert client.request("OPTIONS", "/nothing", headers=headers).status == 404


PATHS = ("/things", "/public", "/staff", "/crash", "/nothing", "/things?limit=0")


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_is_taken_for_what_it_is(api: Client, path: str) -> None:
    for method in ("GET", "OPTIONS"):
        assert api.request(method, path).headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("public_url", "told"),
    [("https://plaza.example/api", "max-age=31536000"), ("http://127.0.0.1:8000", None)],
)
def test_browsers_learn_to_insist_on_tls_where_there_is_tls(
    runtime: Runtime, token: Callable[..., str], public_url: str, told: str | None
) -> None:
    settings = runtime.settings.model_copy(update={"public_url": public_url})
    app = create_app(replace(runtime, settings=settings), LocalChalice)

    answer = Client(app, token).get("/console/")

    assert answer.headers.get("Strict-Transport-Security") == told


@pytest.mark.parametrize("path", sorted({*PATHS} - {"/nothing"}))
@pytest.mark.parametrize("header", ["Authorization", "Cookie"])
def test_no_cache_keeps_what_somebody_was_answered(api: Client, path: str, header: str) -> None:
    answer = api.request("GET", path, headers={header: "Bearer x"})

    # A frame that is the same for everybody is asked for with a visitor's cookie too.
    is_everybodys = path == "/public" and header == "Cookie"
    expected = "public, max-age=5" if is_everybodys else "private, no-store"
    assert answer.headers["Cache-Control"] == expected
    assert "Authorization" in answer.headers["Vary"]


@pytest.mark.parametrize("path", PATHS)
def test_a_cache_keeps_an_answer_to_nobody_only_if_its_route_says_so(
    api: Client, path: str
) -> None:
    expected = "public, max-age=5" if path == "/public" else "no-store"

    assert api.get(path).headers["Cache-Control"] == expected


def test_every_answer_to_somebody_is_private(client: Client) -> None:
    ann = client.as_("ann")
    ann.put("/users/me")
    for path in ("/users/me", "/users/me/news", "/feed", "/nodes/none", "/ads/a/b", "/health"):
        assert ann.get(path).headers["Cache-Control"] == "private, no-store"


def test_head_is_answered_as_get_is_without_a_body(api: Client) -> None:
    for path in ("/things", "/public", "/crash", "/things?limit=0"):
        get, head = api.get(path), api.request("HEAD", path)

        assert (head.status, head.body) == (get.status, b"")
        assert head.headers.keys() == get.headers.keys()
        assert head.headers["Content-Type"] == get.headers["Content-Type"]
    assert api.as_("ann").request("HEAD", "/staff").status == 403
    assert api.request("HEAD", "/things/abc").status == 405


def test_every_path_that_answers_get_answers_head(app: Chalice) -> None:
    for path, methods in app.routes.items():
        assert ("HEAD" in methods) == ("GET" in methods), path
        assert "OPTIONS" in methods
