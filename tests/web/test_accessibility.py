"""No state of the elements, and no page, breaks a rule of axe-core (WCAG 2.2 A and AA)."""

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import SCHEMES, in_both_schemes, violations
from tests.web.support.rows import failing
from tests.web.support.site import Site
from tests.web.support.town import Town

pytestmark = pytest.mark.processes
ROWS = [(language, scheme) for language in ("en", "de", "ar") for scheme in SCHEMES]
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture
def discussion(client: Client, site: Site) -> Site:
    """A site's page with a comment and a reply, in the reader's colours."""
    admin = client.as_("admin", roles=["admin"])
    admin.put("/nodes/moon", title="Moon", url="https://a.example/")
    text = "The *moon* is [up](https://a.example)."
    first = client.as_("ann").post("/nodes/moon/comments", text=text)
    client.as_("ben").post("/nodes/moon/comments", text="`So` it is.", parent=first.json["id"])
    site.body = '<plaza-comments node="moon"></plaza-comments>'
    site.css = "html { background: Canvas; color: CanvasText; color-scheme: light dark; }"
    return site


@pytest.fixture
def written(discussion: Site, client: Client) -> Site:
    """The same page, for somebody who is signed in."""
    discussion.token = lambda: client.token("ann", name="Ann")
    return discussion


@pytest.fixture
def moderated(discussion: Site, client: Client) -> None:
    """A moderator reads the discussion."""
    discussion.token = lambda: client.token("mo", name="Mo", roles=["moderator"])


@pytest.fixture
def feed(client: Client, workers: Workers, clock: Clock, site: Site) -> Site:
    """A site's page with a public wall, the reader's own, and what colleagues did."""
    town = Town(client, workers, clock)
    town.settle()
    post = town.post("A flamingo.")
    for number in range(4):
        town.comment(post, f"Comment {number}")
    town.post(type="link", detail={"url": "https://a.example/", "title": "A", "text": "B"})
    town.post(type="photo", detail={"url": "https://photos.example/soup.jpg"})
    town.post(type="checkin", detail={"place": "The harbour wall"})
    town.post(type="poll", detail={"question": "Which way?", "options": ["Woods", "Wall"]})
    town.post("Mine.", sub="ann")
    town.act()
    views = ('user="ben"', 'view="wall"', 'view="activity"', 'user="nobody"')
    site.body = "".join(f'<plaza-feed loading="eager" {view}></plaza-feed>' for view in views)
    site.css = "html { background: Canvas; color: CanvasText; color-scheme: light dark; }"
    return site


@pytest.fixture
def own_feed(feed: Site, client: Client) -> Site:
    """The same page, for Ann."""
    feed.token = lambda: client.token("ann", name="Ann")
    return feed


def loaded(page: Page, site: Site, row: tuple[str, Literal["light", "dark"]]) -> Page:
    """Load a site's discussion anew, in a language and a colour scheme."""
    site.language, scheme = row
    page.emulate_media(color_scheme=scheme)
    page.reload()
    expect(page.get_by_role("article")).to_have_count(2)
    return page


def test_a_discussion_that_a_guest_reads(discussion: Site, open_page: OpenPage, axe: str) -> None:
    page = open_page(discussion)

    def breaks_none(row: tuple[str, Literal["light", "dark"]]) -> None:
        assert violations(loaded(page, discussion, row), axe) == []

    assert failing(ROWS, breaks_none) == []


def test_a_discussion_in_which_somebody_writes(
    written: Site, open_page: OpenPage, axe: str
) -> None:
    page = open_page(written)

    def breaks_none(row: tuple[str, Literal["light", "dark"]]) -> None:
        loaded(page, written, row).locator("[data-does=reply]").first.click()
        assert violations(page, axe) == []

    assert failing(ROWS, breaks_none) == []


@pytest.mark.usefixtures("moderated")
def test_a_discussion_that_a_moderator_reads(
    discussion: Site, open_page: OpenPage, axe: str
) -> None:
    page = open_page(discussion)
    page.get_by_role("button", name="Hide").first.click()
    expect(page.get_by_role("button", name="Approve")).to_be_visible()

    assert in_both_schemes(page, axe) == []


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_a_feed_in_which_somebody_writes_and_which_a_guest_reads(
    own_feed: Site, open_page: OpenPage, axe: str, language: str
) -> None:
    own_feed.language = language
    page = open_page(own_feed, may_log="Failed to load resource")
    expect(page.get_by_role("article")).to_have_count(7)
    page.locator("[data-does=comment]").first.click()
    page.locator("[data-does=edit]").first.click()
    page.locator(".reactions button").first.click()
    expect(page.locator("[aria-pressed=true]")).to_be_visible()
    assert in_both_schemes(page, axe) == []

    own_feed.token = lambda: None
    page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    expect(page.get_by_role("article")).to_have_count(5)
    expect(page.get_by_role("alert")).to_be_visible()

    assert in_both_schemes(page, axe) == []


def test_the_root_of_the_api(open_page: OpenPage, axe: str) -> None:
    assert violations(open_page("/"), axe) == []
