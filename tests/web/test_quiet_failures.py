"""Counts, ads and hits that fail: the page stays as its publisher wrote it."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import ConsoleMessage, Page, Route, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.site import Site, serving

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
LINK = '<a id="link" href="#talk"><plaza-count node="{node}">Comments</plaza-count></a>'
AD = '<plaza-ad site="{site}" zone="sidebar" height="250">Our shop</plaza-ad><p id="after">x</p>'
HIT = '<plaza-hit site="{site}"></plaza-hit>'
MARKUP = LINK + AD + HIT
CALLS = ("**/comment-counts*", "**/ads/harbour/**", "**/hits")
LOGGED = ("Failed to load resource", "Failed to fetch", "net::ERR", "is no id")
WHERE = "document.querySelector('#after').getBoundingClientRect().top"
# 20 px are the label's: 1.25rem.
SLOT_PX = 250 + 20
EMPTY = "addEventListener('plaza:empty', () => { window.wasEmpty = true; })"


def refuse(route: Route) -> None:
    cors = {"Access-Control-Allow-Origin": "*"}
    route.fulfill(status=503, json={"code": "unavailable", "status": 503}, headers=cors)


def garble(route: Route) -> None:
    route.fulfill(status=200, body="<html>", headers={"Access-Control-Allow-Origin": "*"})


FAILURES: dict[str, Callable[[Route], None]] = {
    "no answer": lambda route: route.abort(),
    "a refusal": refuse,
    "another page": garble,
}


@pytest.mark.parametrize("file", ["comments.js", "scheme.js", "live.js"])
def test_an_element_whose_file_does_not_come_is_there_later(
    client: Client, site: Site, open_page: OpenPage, file: str
) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    site.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
    failed: list[str] = []

    def fail_once(route: Route) -> None:
        if failed:
            return route.fallback()
        failed.append(route.request.url)
        return route.abort()

    page = open_page(site, may_log=LOGGED, before=lambda page: page.route(f"**/{file}*", fail_once))

    expect(page.get_by_role("heading", name="Nobody has said anything yet.")).to_be_visible()
    assert failed


class SelfHosted(Site):
    """A site whose policy takes scripts from an address that no script may ask."""

    @property
    def policy(self) -> str:
        return super().policy.replace(f"connect-src 'self' {self.api}", "connect-src 'self'")


def test_a_policy_may_allow_the_script_where_it_allows_no_call(
    site: Site, open_page: OpenPage
) -> None:
    """As where the script comes from the site, and `api` names another address."""
    body = f'<plaza-comments node="{NODE}"></plaza-comments>'

    with serving(SelfHosted(site.api, body=body)) as narrow:
        page = open_page(narrow, may_log=(*LOGGED, "Content Security Policy"))

        expect(page.get_by_role("alert")).to_contain_text("Plaza cannot be reached.")


def stays_as_it_was(page: Page) -> None:
    """Expect the link's and the slot's own texts, and the slot's whole height."""
    expect(page.locator("#link")).to_have_text("Comments")
    expect(page.locator("#link").get_by_text("Comments")).to_be_visible()
    expect(page.get_by_text("Our shop")).to_be_visible()
    expect(page.locator("plaza-ad")).to_have_css("min-height", f"{SLOT_PX}px")
    expect(page.locator("plaza-hit")).to_have_js_property("offsetHeight", 0)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_call_that_fails_leaves_the_link_and_the_slot_as_the_page_made_them(
    site: Site, open_page: OpenPage, failure: str
) -> None:
    site.body = MARKUP.format(node=NODE, site="harbour")
    failed: list[str] = []

    def fail(route: Route) -> None:
        failed.append(route.request.url)
        FAILURES[failure](route)

    def prepare(page: Page) -> None:
        page.add_init_script(EMPTY)
        for calls in CALLS:
            page.route(calls, fail)

    page = open_page(site, may_log=LOGGED, before=prepare)
    until(page, lambda: len({url.partition("?")[0] for url in failed}) == len(CALLS))
    until(page, lambda: bool(page.evaluate("window.wasEmpty")))

    stays_as_it_was(page)
    before = page.evaluate(WHERE)
    page.unroute_all()
    assert page.evaluate(WHERE) == before


def test_an_id_that_is_none_is_told_on_the_console_and_nowhere_else(
    site: Site, open_page: OpenPage
) -> None:
    site.body = MARKUP.format(node="caf&#233;", site="Harbour Post")
    told: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            told.append(message.text)

    def listen(page: Page) -> None:
        page.on("console", note)

    page = open_page(site, may_log=LOGGED, before=listen)
    until(page, lambda: len(told) == len(CALLS))

    expected: dict[str, Any] = {
        "<plaza-count>": 'node="café" is no id',
        "<plaza-ad>": 'site="Harbour Post" is no id',
        "<plaza-hit>": 'site="Harbour Post" is no id',
    }
    for element, reason in expected.items():
        assert [each for each in told if element in each and reason in each], told
    expect(page.locator("#link")).to_have_text("Comments")
    expect(page.get_by_text("Our shop")).to_be_visible()
