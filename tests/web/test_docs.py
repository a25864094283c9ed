"""The API's reference in a browser: whole, found, tried with a token, on a phone, by keys."""

import gzip
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes, violations

expect.set_options(timeout=PATIENCE_MS)
FILES = ("", "/docs.css", "/docs.js", "/docs-call.js", "/docs-markup.js", "/docs-schema.js")
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
# Gzipped, all that the page loads beside the document.
MOST_BYTES = 12_000


def operations(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document's operations by id."""
    paths = document["paths"].values()
    return {each["operationId"]: each for item in paths for each in item.values()}


def row(page: Page, name: str) -> Locator:
    """Open the row of an operation, by its id."""
    page.get_by_label("Search").fill(name)
    found = page.locator(f"#{name}")
    found.locator("> summary").click()
    return found


def test_it_has_every_operation_whole_and_breaks_no_rule_of_accessibility(
    open_page: OpenPage, client: Client, axe: str
) -> None:
    declared = operations(client.get("/openapi.json").json)
    page = open_page("/docs")
    expect(page.get_by_role("status")).to_have_text(f"{len(declared)} operations")
    assert in_both_schemes(page, axe) == []

    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    # The last that a browser tells of has been drawn.
    expect(page.locator(".operation:not(:has(form))")).to_have_count(0)

    shown = page.evaluate(
        "() => Object.fromEntries([...document.querySelectorAll('.operation')].map((each) => "
        "[each.id, ['.answers > li', 'label'].map((of) => each.querySelectorAll(of).length)]))"
    )
    assert shown == {
        name: [len(each["responses"]), len(each.get("parameters", [])) + ("requestBody" in each)]
        for name, each in declared.items()
    }
    assert violations(page, axe) == []


def test_operations_are_found_by_all_words_of_a_search(open_page: OpenPage) -> None:
    page = open_page("/docs")
    page.get_by_label("Search").fill("make NODE put")

    expect(page.locator("#putNode > summary")).to_be_visible()
    expect(page.locator("#listComments > summary")).to_be_hidden()
    page.get_by_label("Search").fill("")
    expect(page.get_by_role("heading", name="Moderation", exact=True)).to_be_visible()
    expect(page.locator("#putNode > summary")).to_be_hidden()


@pytest.mark.parametrize("link", ["#putNode", "#/Comments/putNode"])
def test_a_link_opens_its_operation(open_page: OpenPage, link: str) -> None:
    """The second form is that of links to the reference of earlier releases."""
    page = open_page(f"/docs{link}")

    expect(page.locator("#putNode > summary")).to_be_focused()
    expect(page.locator("#putNode")).to_contain_text("Needs a token with a role: publisher")
    page.evaluate("location.hash = '#listComments'")
    expect(page.locator("#listComments > summary")).to_be_focused()
    expect(page.locator("#listComments")).to_contain_text("With or without a token")
    page.evaluate("location.hash = '#/Moderation'")
    expect(page.get_by_role("heading", name="Moderation", exact=True)).to_be_in_viewport()
    expect(page.locator("#listPendingComments > summary")).to_be_visible()


def test_a_call_is_tried_with_a_token_and_told_as_a_command(
    open_page: OpenPage, client: Client, token: Callable[..., str]
) -> None:
    page = open_page("/docs", may_log="401")
    tried = row(page, "putNode")
    tried.get_by_label("node path").fill("harbour:moon")
    tried.get_by_label("Body").fill('{"title": "Moon", "url": "https://a.example/"}')
    tried.get_by_role("button", name="Send").click()
    expect(tried.get_by_role("status")).to_contain_text("401 Unauthorized")
    expect(tried.locator(".result")).to_contain_text('"code": "unauthenticated"')

    secret = token("admin", roles=["admin"])
    page.get_by_label("Token").fill(secret)
    tried.get_by_role("button", name="Send").click()

    expect(tried.get_by_role("status")).to_contain_text("201 Created")
    assert client.get("/nodes/harbour:moon").json["title"] == "Moon"
    tried.get_by_text("As a command").click()
    command = tried.locator(".result details pre").last.inner_text()
    assert command.startswith('curl -X PUT -H "Authorization: Bearer $TOKEN" -H ')
    assert re.search(r" '\S+/nodes/harbour%3Amoon'$", command)
    assert secret not in page.content()
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [
        *(0, 0, "")
    ]


def test_parameters_that_are_left_out_are_not_sent(open_page: OpenPage, client: Client) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/nodes/moon", title="Moon", url="https://a.example/").status == 201
    page = open_page("/docs")
    tried = row(page, "listComments")
    tried.get_by_label("node path").fill("moon")
    tried.get_by_label("order query").select_option("newest")

    with page.expect_request(lambda request: "/comments" in request.url) as sent:
        tried.get_by_role("button", name="Send").click()

    assert sent.value.url.endswith("/nodes/moon/comments?order=newest")
    expect(tried.get_by_role("status")).to_contain_text("200 OK")


def test_the_fields_of_an_answer_open_one_within_another(open_page: OpenPage) -> None:
    page = open_page("/docs")
    opened = row(page, "listComments")
    opened.get_by_text("200 OK").click()
    comments = opened.locator(".answers .fields > li").filter(has_text=re.compile("^comments"))
    comments.locator("summary").first.click()

    expect(comments.locator(".fields").first).to_contain_text("posted_at date-time, required")


def test_it_fits_on_a_phone(open_page: OpenPage) -> None:
    page = open_page("/docs", **PHONE)
    expect(row(page, "putNode").get_by_role("button", name="Send")).to_be_visible()

    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0


def test_a_document_that_cannot_be_read_is_told(open_page: OpenPage) -> None:
    def cut(page: Page) -> None:
        page.route("**/openapi.json", lambda route: route.fulfill(status=503, body=""))

    page = open_page("/docs", before=cut, may_log="503")

    expect(page.get_by_role("status")).to_contain_text("could not be read: 503")


def test_its_files_are_small_kept_by_caches_and_revalidated(client: Client) -> None:
    size = 0
    for name in FILES:
        path = f"/docs{name}"
        first = client.get(path)
        again = client.request("GET", path, headers={"If-None-Match": first.headers["ETag"]})

        assert first.headers["Cache-Control"].startswith("public, max-age=")
        assert (first.status, again.status, again.body) == (200, 304, b"")
        size += len(gzip.compress(first.body))
    assert size <= MOST_BYTES


@pytest.mark.parametrize("name", ["routes.py", "docs.html", "..", "swagger-ui.css"])
def test_no_other_file_is_read(client: Client, name: str) -> None:
    answer = client.get(f"/docs/{name}")

    assert (answer.status, answer.code) == (404, "unknown_file")


@pytest.mark.parametrize("name", ["..%2froutes.py", "docs.html%00", "x" * 65])
def test_a_name_that_no_file_may_have_is_refused(client: Client, name: str) -> None:
    answer = client.get(f"/docs/{name}")

    assert (answer.status, answer.code) == (422, "invalid_request")
