"""A page that reports itself: once when it is opened, and again when an application changes it."""

import json
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, Request

from chalicelib.analytics.logs.log import Span
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import differences, logs
from tests.support.clock import START
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import OpenPage
from tests.web.support.browser import until
from tests.web.support.site import Site
from tests.web.test_visitors import PERSON

SITE = "harbour"
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _switched_on(client: Client) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/sites/{SITE}/analytics", user_reports=True).status == 200


def held(runtime: Runtime, workers: Workers) -> list[Any]:
    """Return the hits of the site's log."""
    workers.drain()
    (log,) = logs(runtime, SITE)
    return [dict(hit) for hit in log.read(Span(SITE, START - DAY, START + DAY), None, 50)]


def opened(open_page: OpenPage, site: Site, hit: str) -> Page:
    """Open a page with an element, and wait until it has reported itself."""
    site.body = hit
    with_answer: list[int] = []

    def watch(page: Page) -> None:
        page.on("response", lambda r: with_answer.append(r.status) if "/hits" in r.url else None)

    page = open_page(site, before=watch, user_agent=PERSON)
    until(page, lambda: bool(with_answer))
    assert with_answer == [202]
    return page


def test_a_page_is_counted_once_when_it_is_opened(
    site: Site, open_page: OpenPage, runtime: Runtime, workers: Workers
) -> None:
    opened(open_page, site, f'<plaza-hit site="{SITE}" node="{SITE}:moon"></plaza-hit>')

    (hit,) = held(runtime, workers)
    assert (hit["path"], hit["kind"], hit["node"]) == ("/", "view", f"{SITE}:moon")
    assert len(hit["_id"].partition(":")[2]) == 16
    assert "visitor" in hit
    assert differences(runtime, START, name=SITE) == []


def test_an_application_reports_its_next_page(
    site: Site, open_page: OpenPage, runtime: Runtime, workers: Workers
) -> None:
    page = opened(
        open_page, site, f'<plaza-hit site="{SITE}" path="/one?utm_source=x"></plaza-hit>'
    )
    with page.expect_response("**/hits"):
        page.evaluate("document.querySelector('plaza-hit').setAttribute('path', '/two')")

    hits = held(runtime, workers)
    assert {(hit["path"], hit.get("campaign")) for hit in hits} == {("/one", "x"), ("/two", None)}
    assert len({hit["visitor"] for hit in hits}) == 1


def test_a_reader_is_named_where_the_page_says_so(
    site: Site, open_page: OpenPage, runtime: Runtime, workers: Workers, client: Client
) -> None:
    token = client.as_("ann").headers["Authorization"].partition(" ")[2]
    site.token = lambda: token

    opened(open_page, site, f'<plaza-hit site="{SITE}" user></plaza-hit>')

    assert [hit.get("user") for hit in held(runtime, workers)] == ["ann"]


def test_a_page_sends_nothing_that_would_be_refused(
    site: Site, open_page: OpenPage, runtime: Runtime, workers: Workers
) -> None:
    """A title is cut between characters, and a path is resolved as a link of the page is."""
    title = "x" * 199 + "\N{GRINNING FACE}" + "y" * 50
    page = opened(open_page, site, f'<plaza-hit site="{SITE}" path="/one"></plaza-hit>')

    with page.expect_response("**/hits"):
        page.evaluate("title => (document.title = title)", title)
        page.evaluate("document.querySelector('plaza-hit').setAttribute('path', '/a/../b')")

    (hit,) = (each for each in held(runtime, workers) if each["path"] != "/one")
    assert (hit["path"], hit["title"]) == ("/b", title[:200])


# What a page does, and the paths and referrers that it reports by that.
FROM = "https://search.example/"
BACK = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
FIRST = "document.querySelector('plaza-hit')"
STEPS: list[tuple[str, list[str]]] = [
    (f"{FIRST}.setAttribute('path', '/one')", ["/one"]),
    (f"{FIRST}.setAttribute('path', '/one')", []),
    (f"{FIRST}.setAttribute('path', '/one/../one')", []),
    (f"document.body.append({FIRST})", []),
    (f"window.hit = {FIRST}; hit.remove(); setTimeout(() => document.body.append(hit))", []),
    (f"{FIRST}.replaceWith({FIRST}.cloneNode())", []),
    (f"document.body.append({FIRST}.cloneNode())", []),
    (BACK.replace("true", "false"), []),
    (BACK, ["/one"]),
    ("document.querySelectorAll('plaza-hit')[1].remove()", []),
    (f"{FIRST}.setAttribute('path', '/two')", ["/two"]),
    (f"{FIRST}.setAttribute('path', '/one')", ["/one"]),
    (f"{FIRST}.setAttribute('site', 'other')", ["/one"]),
    (f"{FIRST}.setAttribute('path', 'https://[')", []),
]


def test_each_page_that_is_opened_is_reported_once(site: Site, open_page: OpenPage) -> None:
    """Also the page of an application that names it late, and a page that comes back."""
    reported: list[dict[str, Any]] = []

    def note(request: Request) -> None:
        if request.url.endswith("/hits"):
            reported.append(json.loads(request.post_data or ""))

    def watch(page: Page) -> None:
        page.add_init_script(f"Object.defineProperty(document, 'referrer', {{ value: '{FROM}' }})")
        page.on("request", note)

    site.body = f'<plaza-hit site="{SITE}"></plaza-hit><a href="#">More</a>'
    page = open_page(site, before=watch, user_agent=PERSON, may_log=("Invalid URL", "404"))
    until(page, lambda: bool(reported))
    (first,) = reported[0]["hits"]
    assert (first["path"], first["ref"]) == ("/", FROM)

    for step, paths in STEPS:
        reported.clear()
        page.evaluate(step)
        until(page, lambda: len(reported) >= len(paths))  # noqa: B023 - called at once
        page.evaluate("() => fetch('/token')")
        hits = [hit for each in reported for hit in each["hits"]]
        assert [hit["path"] for hit in hits] == paths, step
        assert {hit.get("ref") for hit in hits} <= ({FROM} if "other" in step else {None}), step
