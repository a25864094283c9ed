"""Addresses that people open in browsers: every one of them, found by the answers of the routes.

People share links, trackers add names to their queries, and things move. A person is never shown
JSON instead of a page.
"""

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from chalice.app import Chalice
from selectolax.lexbor import LexborHTMLParser

from chalicelib.http import Operation, outcomes
from chalicelib.runtime import Runtime
from deploy.openapi.files import operations
from tests.security.support.matrix import FEATURES
from tests.security.support.row import Row
from tests.security.support.world import World, build, comment_of_new_node
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

HTML = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
MOVED = HTTPStatus.PERMANENT_REDIRECT
STRAYS = ("fbclid=x", "utm_source=n%26m&utm_medium=mail&gclid=1", "%24ne=1", "_page=2", "%00=")
# The browser-facing routes; a new one has to be added, so that it is thought of.
ADDRESSES = {
    "GET /",
    "GET /ads/click/{token}",
    "GET /ads/conversions/{advertiser}/pixel",
    "GET /ads/events/{token}/pixel",
    "GET /assets/{asset}",
    "GET /assets/{asset}/{number}",
    "GET /console",
    "GET /console/{file}",
    "GET /content/{site}/feed.atom",
    "GET /content/{site}/feed.json",
    "GET /content/{site}/page",
    "GET /content/{site}/pages.xml",
    "GET /content/{site}/sitemap.xml",
    "GET /creatives/{token}",
    "GET /docs",
    "GET /docs/{file}",
    "GET /hits/{site}/pixel",
    "GET /nodes/{node}/comments",
    "GET /nodes/{node}/comments.atom",
    "GET /nodes/{node}/comments/{comment}/thread.atom",
    "GET /notifications/mail/confirmation",
    "GET /notifications/mail/stop",
    "GET /previews/{token}",
    "GET /sites/{site}/comments.atom",
    "GET /sites/{site}/discussions.xml",
    "GET /sites/{site}/guests/confirmation",
    "GET /sites/{site}/people/{user}/avatar",
    "GET /sites/{site}/providers/{provider}/callback",
    "GET /sites/{site}/providers/{provider}/sign-in",
    "GET /sites/{site}/people/{user}/comments.atom",
    "GET /web/{version}/{file}",
}


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


def opened_in_browsers(app: Chalice) -> Iterator[tuple[Operation, Row]]:
    """Yield each browser-facing operation with its row of the access matrix."""
    rows = {_like(row.call): row for rows in FEATURES.values() for row in rows}
    for operation in operations(app):
        if operation.is_for_browsers:
            yield operation, rows[_like(f"{operation.method} {operation.path}")]


def _like(call: str) -> str:
    return re.sub(r"{[^}]+}", "{}", call)


def address_of(world: World, row: Row, **instead: str) -> str:
    names = {**world.names, **(row.made(world) if row.made else {}), **row.path, **instead}
    return row.call.split(" ", 1)[1].format(**names) + row.query


def with_query(address: str, query: str) -> str:
    return f"{address}{'&' if '?' in address else '?'}{query}"


def opened(world: World, address: str) -> Reply:
    return world.client.request("GET", address, headers=HTML)


def name(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def test_the_table_has_every_address_that_browsers_open(app: Chalice) -> None:
    assert {name(operation) for operation, _ in opened_in_browsers(app)} == ADDRESSES


def test_names_that_trackers_add_change_nothing(app: Chalice, world: World) -> None:
    wrong = {}
    for operation, row in opened_in_browsers(app):
        address = address_of(world, row)
        plain = opened(world, address)
        for stray in STRAYS:
            told = opened(world, with_query(address, stray))
            if (told.status, kind_of(told)) != (plain.status, kind_of(plain)):
                wrong[f"{name(operation)} {stray}"] = (plain.status, told.status, told.body[:200])

    assert wrong == {}


def kind_of(reply: Reply) -> str:
    return reply.headers.get("Content-Type", "").partition(";")[0]


def test_programs_are_still_told_of_names_that_no_query_has(app: Chalice, world: World) -> None:
    for operation, row in opened_in_browsers(app):
        if operation.signature.opened == "as_html" and operation.signature.query is not None:
            address = with_query(address_of(world, row), "fbclid=x")
            assert world.client.get(address).code == "invalid_request", name(operation)


def test_a_problem_is_a_page(app: Chalice, world: World) -> None:
    """Every part of a path is replaced by an unknown one, and a query by nothing."""
    seen = {}
    for operation, row in opened_in_browsers(app):
        parts = set(re.findall(r"{(\w+)}", row.call))
        # Without parts: the row's own address, whose token is forged.
        replaced = [{part: "0" * 13} for part in parts] or [{}]
        for address in [address_of(world, row, **each) for each in replaced]:
            told = opened(world, address)
            if told.status >= HTTPStatus.BAD_REQUEST:
                seen[name(operation)] = (told.status, kind_of(told))
                check_page(told)

    harmless = {
        *("GET /sites/{site}/people/{user}/avatar", "GET /docs", "GET /console", "GET /"),
        *("GET /sites/{site}/comments.atom", "GET /sites/{site}/people/{user}/comments.atom"),
        "GET /sites/{site}/discussions.xml",
    }
    assert seen.keys() >= ADDRESSES - harmless
    assert {kind for _, kind in seen.values()} == {"text/html"}


def check_page(reply: Reply) -> LexborHTMLParser:
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8", reply.body
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
    assert "Accept" in reply.headers["Vary"].split(", ")
    page = LexborHTMLParser(reply.body.decode())
    heading, title = page.css_first("h1"), page.css_first("title")
    assert heading is not None
    assert title is not None
    assert heading.text() == title.text() != ""
    assert page.css("script") == []
    return page


def test_a_broken_cursor_leads_to_the_first_page(app: Chalice, world: World) -> None:
    found = {}
    for operation, row in opened_in_browsers(app):
        if "invalid_cursor" not in {each.code for each in outcomes.problems(operation)}:
            continue
        address = with_query(address_of(world, row), "cursor=broken")
        found[name(operation)] = opened(world, address)
        assert found[name(operation)].status == HTTPStatus.BAD_REQUEST
        page = check_page(found[name(operation)])
        assert [each.attributes["href"] for each in page.css("a")] == ["?"]
        assert "first page" in page.css("a")[0].text()
        assert opened(world, address_of(world, row)).status == HTTPStatus.OK

    assert {"GET /nodes/{node}/comments", "GET /content/{site}/feed.atom"} <= found.keys()


def move_node(world: World) -> str:
    node, _ = _moved(world)
    return f"/nodes/{node}/comments?limit=5"


def move_feed(world: World) -> str:
    node, _ = _moved(world)
    return f"/nodes/{node}/comments.atom?x=1"


def move_thread(world: World) -> str:
    node, comment = _moved(world)
    return f"/nodes/{node}/comments/{comment}/thread.atom?x=1"


def _moved(world: World) -> tuple[str, str]:
    """Move a node; return its former id, and a comment of it."""
    names = comment_of_new_node(world)
    path = f"/nodes/{names['node']}/move"
    moved = world.as_("admin").post(path, to=f"alpha:{world.fresh()}")
    assert moved.status == HTTPStatus.OK, moved.body
    return names["node"], names["comment"]


def move_page(world: World) -> str:
    path = f"/content/alpha/nodes/{world.names['content']}"
    page = {"slug": "moved"}
    headers = {"If-Match": '"1"', "Content-Type": "application/json"}
    saved = world.as_("editor_own").request("PATCH", path, body=orjson.dumps(page), headers=headers)
    assert saved.status == HTTPStatus.OK, saved.body
    live = world.as_("publisher_own").post(f"{path}/publish", version=2)
    assert live.status == HTTPStatus.OK, live.body
    return "/content/alpha/page?address=page"


MOVES = {
    "GET /nodes/{node}/comments": move_node,
    "GET /nodes/{node}/comments.atom": move_feed,
    "GET /nodes/{node}/comments/{comment}/thread.atom": move_thread,
    "GET /content/{site}/page": move_page,
}


def test_a_moved_id_leads_on(app: Chalice, world: World) -> None:
    for operation, _ in opened_in_browsers(app):
        moved = [each for each in outcomes.problems(operation) if each.status == MOVED]
        assert bool(moved) == (name(operation) in MOVES), name(operation)
        if moved:
            told = opened(world, f"{MOVES[name(operation)](world)}&fbclid=x")
            assert (told.status, kind_of(told)) == (MOVED, "text/html")
            assert opened(world, told.headers["Location"]).status == HTTPStatus.OK


@pytest.mark.parametrize("text", ["</title><script>x</script>", '"><img src=x onerror=y>'])
def test_no_part_of_an_address_becomes_markup(world: World, text: str) -> None:
    node = world.names["node"]
    for query in (f"around={quote(text)}", f"limit={quote(text)}", f"order={quote(text)}"):
        told = opened(world, f"/nodes/{node}/comments?{query}")
        assert told.status == HTTPStatus.UNPROCESSABLE_ENTITY
        page = check_page(told)
        assert page.css("img, script, [onerror]") == []


def test_a_pixel_that_fails_is_no_page(world: World) -> None:
    """Images ask for images: nobody reads a page in their place."""
    images: dict[str, Any] = {"Accept": "image/avif,image/webp,*/*;q=0.8"}
    told = world.client.request("GET", "/assets/0000000000000", headers=images)

    assert told.status >= HTTPStatus.BAD_REQUEST
    assert kind_of(told) == "application/problem+json"
