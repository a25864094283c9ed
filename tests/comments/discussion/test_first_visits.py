"""Nodes that the first visit of their page makes, where the site's publisher allows it."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest

from app import create_app
from chalicelib import limits
from chalicelib.comments.discussion import first_visits
from chalicelib.comments.errors import PageRefused
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply

ORIGIN = "https://blog.example"
SETTINGS = "/sites/blog/comments/settings"
PREFIXES = [f"{ORIGIN}/", "http://localhost:8000/articles/"]


@pytest.fixture
def publisher(client: Client) -> Client:
    paula = client.as_("paula", roles=["publisher"], sites=["blog"])
    assert paula.put(SETTINGS, first_visits=PREFIXES).status == 200
    return paula


def visit(
    client: Client, node: str, path: str, origin: str | None = ORIGIN, title: str = "Moon"
) -> Reply:
    url = path if "://" in path else f"{ORIGIN}{path}"
    headers = {"Content-Type": "application/json", **({"Origin": origin} if origin else {})}
    body = orjson.dumps({"title": title, "url": url})
    return client.request("POST", f"/nodes/{node}/visit", body=body, headers=headers)


def test_the_first_visit_makes_the_node_and_the_next_finds_it(
    client: Client, publisher: Client
) -> None:
    del publisher
    made = visit(client, "blog:moon", "/moon")
    again = visit(client, "blog:moon", "/moon", title="Another title")

    assert (made.status, again.status) == (201, 200)
    assert made.headers["Location"] == "/nodes/blog:moon"
    assert again.json == made.json == client.get("/nodes/blog:moon").json
    told = {name: made.json[name] for name in ("id", "site", "title", "url", "locked")}
    assert told == {
        "id": "blog:moon",
        "site": "blog",
        "title": "Moon",
        "url": f"{ORIGIN}/moon",
        "locked": False,
    }
    assert client.as_("ann").post("/nodes/blog:moon/comments", text="First").status == 201


@pytest.mark.parametrize(
    ("node", "path", "origin"),
    [
        ("blog:2026:11:moon", "/2026/11/moon", ORIGIN),
        ("blog:moon", "/moon/", ORIGIN),
        ("blog:moon.html", "/moon.html", "HTTPS://Blog.example"),
        ("blog:moon", "http://localhost:8000/articles/moon", "http://localhost:8000"),
    ],
)
def test_the_nodes_name_is_the_address_below_the_prefix(
    client: Client, publisher: Client, node: str, path: str, origin: str
) -> None:
    del publisher
    assert visit(client, node, path, origin).status == 201


@pytest.mark.parametrize(
    ("node", "path", "origin"),
    [
        # Of another page, site, or origin.
        ("blog:sun", "/moon", ORIGIN),
        ("blog:blog:moon", "/moon", ORIGIN),
        ("blog:moon", "/blog/moon", ORIGIN),
        ("blog:moon", "/moon", "https://evil.example"),
        ("blog:moon", "/moon", "null"),
        ("blog:moon", "/moon", None),
        ("blog:moon", "https://evil.example/moon", "https://evil.example"),
        ("blog:moon", "https://evil.example/moon", ORIGIN),
        ("blog:moon", "https://blog.example.evil.example/moon", ORIGIN),
        ("blog:moon", "https://blog.example:8443/moon", ORIGIN),
        ("blog:moon", "http://blog.example/moon", ORIGIN),
        ("blog:moon", "http://localhost:8000/moon", "http://localhost:8000"),
        ("blog:moon", "http://localhost:8000/articles/moon", ORIGIN),
        # No page of its own.
        ("blog:moon", "/moon?page=2", ORIGIN),
        ("blog:moon", "/moon#top", ORIGIN),
        ("blog:moon", "/x/../moon", ORIGIN),
        ("blog:..:moon", "/../moon", ORIGIN),
        ("blog:moon", "//moon", ORIGIN),
        ("blog:moon", "/", ORIGIN),
        ("blog:a:b", "/a:b", ORIGIN),
    ],
)
def test_no_stranger_makes_a_node_for_another_page(
    client: Client, publisher: Client, node: str, path: str, origin: str | None
) -> None:
    del publisher

    refused = visit(client, node, path, origin)

    assert (refused.status, refused.code) == (403, "page_refused")
    assert refused.json["detail"]
    assert client.get(f"/nodes/{node}").status == 404


@pytest.mark.parametrize(
    "address", ["https://blog.example@evil.example/moon", "https://user@blog.example/moon"]
)
def test_an_address_with_a_user_is_none(client: Client, publisher: Client, address: str) -> None:
    del publisher

    refused = visit(client, "blog:moon", address, ORIGIN)

    assert (refused.status, refused.code) == (422, "invalid_request")
    assert client.get("/nodes/blog:moon").status == 404


def test_without_the_setting_the_publisher_is_told_what_to_do(client: Client) -> None:
    for reply in (
        visit(client, "blog:moon", "/moon"),
        client.get("/nodes/blog:moon/comments"),
        client.get("/nodes/blog:moon"),
    ):
        assert (reply.status, reply.code) == (404, "unknown_node")
        assert "PUT /nodes/{node}" in reply.json["detail"]
        assert "first_visits" in reply.json["detail"]


def test_a_node_that_no_site_can_have_is_unknown(client: Client, publisher: Client) -> None:
    del publisher
    assert visit(client, "Blog:moon", "/moon").code == "unknown_node"
    assert visit(client, "shop:moon", "/moon").code == "unknown_node"


def test_the_publishers_title_stays(client: Client, publisher: Client) -> None:
    visit(client, "blog:moon", "/moon", title="By a stranger")
    page = {"title": "Moon", "url": f"{ORIGIN}/moon"}
    assert publisher.put("/nodes/blog:moon", **page).status == 200

    assert visit(client, "blog:moon", "/moon", title="Again").json["title"] == "Moon"


def test_a_moved_node_leads_on_and_is_not_made_again(client: Client, publisher: Client) -> None:
    del publisher
    visit(client, "blog:moon", "/moon")
    admin = client.as_("root", roles=["admin"])
    assert admin.post("/nodes/blog:moon/move", to="blog:luna").status == 200

    told = visit(client, "blog:moon", "/moon")

    assert (told.status, told.headers["Location"]) == (308, "/nodes/blog:luna/visit")
    assert client.get("/nodes/blog:moon").status == 308


def test_visits_at_once_make_one_node(client: Client, publisher: Client) -> None:
    del publisher
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: visit(client, "blog:moon", "/moon"), range(8)))

    assert sorted(each.status for each in replies) == [200] * 7 + [201]
    assert len({each.body for each in replies}) == 1


@pytest.mark.parametrize("title", ["", "a" * 201, "two\nlines", None, 7])
def test_a_title_is_one_line(client: Client, publisher: Client, title: Any) -> None:
    del publisher
    assert visit(client, "blog:moon", "/moon", title=title).code == "invalid_request"


def limited(client: Client, runtime: Runtime) -> Client:
    settings = runtime.settings.model_copy(update={"limits": 1.0})
    return dataclasses.replace(
        client, app=create_app(dataclasses.replace(runtime, settings=settings))
    )


def test_a_network_makes_some_nodes_a_day(
    client: Client, publisher: Client, runtime: Runtime, clock: Clock
) -> None:
    del publisher
    reader = limited(client, runtime)
    most = limits.FIRST_VISITS.burst * limits.ADDRESS_SHARE
    statuses = [visit(reader, f"blog:{n}", f"/{n}").status for n in range(most + 1)]

    assert most == 30
    assert statuses == [201] * most + [429]
    assert visit(reader, "blog:0", "/0").status == 200
    clock.advance(hours=1)
    assert visit(reader, "blog:next", "/next").status == 201


def test_all_networks_together_make_some_nodes_of_a_site(
    client: Client, publisher: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_visits, "SITE_BURST", 2)
    reader = limited(client, runtime)

    statuses = [visit(reader, f"blog:{number}", f"/{number}").status for number in range(3)]

    assert statuses == [201, 201, 429]
    page = {"title": "Moon", "url": f"{ORIGIN}/2"}
    assert publisher.put("/nodes/blog:2", **page).status == 201


def test_one_address_makes_one_id_at_most() -> None:
    paths = ["a", "a/b", "a.b", "a-b", "a:b", "a/b/", "a//b", "a%2fb", "b/a"]
    ids = ["s:a", "s:a:b", "s:a.b", "s:a-b", "s:b:a"]

    def fits(node_id: str, path: str) -> bool:
        try:
            first_visits.check(node_id, f"{ORIGIN}/{path}", ORIGIN, [f"{ORIGIN}/"])
        except PageRefused:
            return False
        return True

    found = {path: [node_id for node_id in ids if fits(node_id, path)] for path in paths}
    assert all(len(each) <= 1 for each in found.values())
    makers = {
        node_id: {path.rstrip("/") for path in paths if node_id in found[path]} for node_id in ids
    }
    assert all(len(each) == 1 for each in makers.values())
