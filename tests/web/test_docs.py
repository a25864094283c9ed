"""The API's reference in a browser: whole, tried with a token, dark, on a phone, offline."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until

expect.set_options(timeout=PATIENCE_MS)
SUBJECT = "Comments"
NAMED = re.compile(r'"#/components/schemas/([^"]+)"')
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True}


def part_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return the operations of one subject, with the schemas that they name."""
    paths = {
        path: operations
        for path, operations in document["paths"].items()
        if any(SUBJECT in each["tags"] for each in operations.values())
    }
    schemas: dict[str, Any] = {}
    named = set(NAMED.findall(json.dumps(paths)))
    while more := named - schemas.keys():
        schemas |= {name: document["components"]["schemas"][name] for name in more}
        named = set(NAMED.findall(json.dumps(schemas))) | named
    return {
        **document,
        "paths": paths,
        "components": {**document["components"], "schemas": schemas},
    }


@pytest.fixture
def open_part(open_page: OpenPage, client: Client) -> Iterator[OpenPage]:
    """Opens the reference of one subject's operations: to show them all takes seconds."""
    document = part_of(client.get("/openapi.json").json)
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(json=document)

    yield lambda path, **options: open_page(
        path, before=lambda page: page.route("**/openapi.json", answer), **options
    )
    assert asked


def operation(page: Page, name: str) -> Page:
    """Open an operation of the page by its id, and give the page."""
    page.locator(f"[id$='-{name}'] .opblock-summary-control").first.click()
    return page


def test_it_lists_the_operations_by_subject(open_page: OpenPage) -> None:
    page = open_page("/docs")

    expect(page.get_by_role("heading", name="Plaza")).to_be_visible()
    for subject in ("Comments", "Moderation", "Operation"):
        expect(page.locator(f"h3[data-tag='{subject}']")).to_be_visible()


def test_a_call_is_tried_with_a_token(
    open_part: OpenPage, client: Client, token: Callable[..., str]
) -> None:
    page = open_part("/docs")
    page.get_by_role("button", name="Authorize").first.click()
    page.locator("#auth-bearer-value").fill(token("admin", roles=["admin"]))
    page.locator(".modal-btn.authorize").click()
    page.get_by_role("button", name="Close").click()
    page.locator("h3[data-tag='Comments']").click()

    tried = operation(page, "putNode").locator("[id$='-putNode']")
    tried.locator("input[placeholder=node]").fill("moon")
    tried.locator("textarea.body-param__text").fill(
        '{"title": "Moon", "url": "https://a.example/"}'
    )
    tried.get_by_role("button", name="Execute").click()

    answered = tried.locator(".live-responses-table tbody .response-col_status").first
    expect(answered).to_contain_text("201")
    assert client.get("/nodes/moon").json["title"] == "Moon"


def test_it_follows_the_readers_colours(open_part: OpenPage) -> None:
    page = open_part("/docs", color_scheme="dark")
    red = "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/g)[0])"
    expect(page.get_by_role("heading", name="Plaza")).to_be_visible()
    assert page.evaluate(red) < 100

    page.emulate_media(color_scheme="light")

    until(page, lambda: bool(page.evaluate(red) > 200))


def test_it_fits_on_a_phone(open_part: OpenPage) -> None:
    page = open_part("/docs", **PHONE)
    page.locator("h3[data-tag='Comments']").click()
    operation(page, "putNode")
    expect(page.get_by_role("button", name="Execute")).to_be_visible()

    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0


def test_its_files_are_kept_by_caches_and_revalidated(client: Client) -> None:
    for path in ("/docs", "/docs/docs.js", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"):
        first = client.get(path)
        again = client.request("GET", path, headers={"If-None-Match": first.headers["ETag"]})

        assert first.headers["Cache-Control"].startswith("public, max-age=")
        assert (first.status, again.status, again.body) == (200, 304, b"")


@pytest.mark.parametrize("name", ["routes.py", "docs.html", "..", "swagger-ui.js"])
def test_no_other_file_is_read(client: Client, name: str) -> None:
    answer = client.get(f"/docs/{name}")

    assert (answer.status, answer.code) == (404, "unknown_file")


@pytest.mark.parametrize("name", ["..%2froutes.py", "docs.html%00", "x" * 65])
def test_a_name_that_no_file_may_have_is_refused(client: Client, name: str) -> None:
    answer = client.get(f"/docs/{name}")

    assert (answer.status, answer.code) == (422, "invalid_request")
