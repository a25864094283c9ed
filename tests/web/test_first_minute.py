"""The first minute: what a started server names to open, and a comment three clicks later."""

import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, expect

from tests.local.stack import ROOT, Stack, started, wait_until
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.pictures import FOLDER, PICTURES, taken
from tests.web.support.axe import violations
from tests.web.support.rows import failing
from tests.web.support.shifts import Reading

pytestmark = pytest.mark.processes

PAGES = (ROOT / "README.md", ROOT / "docs/tour.md")
MOST_BYTES = 150_000
ARTICLE, NODE = "/articles/lighthouse-cafe", "harbour-post:lighthouse-cafe"
GUESTS_PAGES = (
    *("/", ARTICLE, f"{ARTICLE}#discussion", "/shop", "/shop?category=wheels"),
    *("/shop/leather-saddle", "/in-town", f"/nodes/{NODE}/comments", "/docs#putNode", "/console"),
)
READERS_PAGES = ("/", ARTICLE, "/in-town", "/in-town/me", "/in-town/for-you", "/in-town/office")
PAGES_OF_STAFF = (
    *("/", ARTICLE, "/console", "/console?site=harbour-post#log"),
    "/console?site=harbour-post&person=tobias#person",
)
# An error of a page in a browser is a page, too.
MISSING = ("/articles/nothing", "/nodes/harbour-post:nothing/comments", "/shop?category=nothing")
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A server that was started as a newcomer does, with a browser that only notes the address."""
    folder = tmp_path_factory.mktemp("first")
    browser = folder / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {folder / "opened"}\n')
    browser.chmod(0o755)
    with started(folder, ["--open"], {"BROWSER": f"{browser} %s"}) as running:
        running.wait_until_running()
        wait_until(lambda: "script/server --verbose" in running.printed(), "all is said")
        yield running


@pytest.fixture
def address(stack: Stack) -> str:
    """The address that the server names first."""
    return named(stack)[0].removesuffix("/")


def named(stack: Stack) -> list[str]:
    """Return the addresses that the server names to open."""
    return re.findall(r"^  \S.* {2,}(http://\S+)$", stack.printed(), re.MULTILINE)


def test_it_names_four_pages_and_each_opens(stack: Stack) -> None:
    told = ("The Harbour Post", "<h1>", "Plaza console", "Plaza API reference")
    for url, part in zip(named(stack), told, strict=True):
        request = urllib.request.Request(url, headers={"Accept": "text/html"})  # noqa: S310
        with urllib.request.urlopen(request) as page:  # noqa: S310 - the server's own URL
            assert page.headers["Content-Type"].startswith("text/html")
            assert part in page.read().decode()


def test_it_says_how_long_each_step_took_and_little_else(stack: Stack) -> None:
    for step in ("MongoDB", "queues", "collections", "demo"):
        assert re.search(rf"^  {step} +\d+\.\d s$", stack.printed(), re.MULTILINE)
    for detail in ("fan_out", "Schedules", "Token"):
        assert detail not in stack.printed()
    assert len(stack.printed().splitlines()) < 20


def test_it_opens_the_first_page_in_a_browser(stack: Stack) -> None:
    opened = Path(stack.output).with_name("opened")

    wait_until(lambda: opened.exists() and opened.read_text(), "a browser was started")
    assert opened.read_text().strip() == named(stack)[0]


def test_a_picture_of_it_is_taken(browser: Browser, address: str) -> None:
    picture = taken(browser, address, PICTURES["front"])

    assert (picture[:4], picture[8:12]) == (b"RIFF", b"WEBP")
    assert 10_000 < len(picture) < MOST_BYTES


def test_every_picture_is_small_and_shown_in_the_readme_or_the_tour() -> None:
    files = {each.stem: each.stat().st_size for each in FOLDER.iterdir()}
    text = "".join(page.read_text() for page in PAGES)
    shown = re.findall(r'<img src="(?:docs/)?pictures/([\w-]+)\.webp" alt="[^"]{20,}"', text)

    assert files.keys() == PICTURES.keys() == {*shown}
    assert max(files.values()) < MOST_BYTES


def test_a_comment_is_posted_three_clicks_after_the_start(open_page: OpenPage) -> None:
    page = open_page("/")
    advertisement = page.get_by_role("group", name="Advertisement").first
    expect(advertisement).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("link", name=re.compile(r"\d+ comments")).first.click()
    page.get_by_role("button", name="Sign in to comment").click()
    expect(page.get_by_role("textbox", name="Write a comment")).to_be_focused(timeout=PATIENCE_MS)
    page.keyboard.type("Will it be open in *winter*?")
    page.get_by_role("button", name="Post", exact=True).click()

    expect(page.get_by_text("Will it be open in winter?")).to_be_visible(timeout=PATIENCE_MS)


def test_a_moderator_of_the_newspaper_opens_the_console_on_a_queue_of_four(
    open_page: OpenPage,
) -> None:
    page = open_page("/")
    page.get_by_label("Read as").select_option("mara")
    page.get_by_role("button", name="Open the console").click()
    page.get_by_role("button", name="Sign in as Mara").click()

    expect(page.get_by_role("article")).to_have_count(4, timeout=PATIENCE_MS)
    expect(page.get_by_text("Mara Lindqvist")).to_be_visible()


@pytest.mark.parametrize(
    ("reader", "paths"),
    [("", (*GUESTS_PAGES, *MISSING)), ("tobias", READERS_PAGES), ("mara", PAGES_OF_STAFF)],
)
def test_every_page_stands_still_and_breaks_no_rule_of_accessibility(
    open_page: OpenPage, axe: str, reader: str, paths: tuple[str, ...]
) -> None:
    readings: list[Reading] = []
    # axe asks frames, and those of ads have no origin to answer from.
    watched: dict[str, Any] = {"before": lambda page: readings.append(Reading(page))}
    page = open_page("/", may_log=("postMessage", "404"), **watched)
    page.get_by_label("Read as").select_option(reader)
    # The console takes what the newspaper hands over.
    page.evaluate(
        "plaza.token().then((t) => t && sessionStorage.setItem('plaza-console-token', t))"
    )
    origin = page.url.removesuffix("/")

    def is_sound(row: tuple[str, dict[str, int], Literal["light", "dark"]]) -> None:
        path, screen, scheme = row
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=scheme)
        page.goto("about:blank")
        page.goto(f"{origin}{path}")
        assert readings[0].to_the_end() == []
        assert violations(page, axe) == []

    screens: tuple[tuple[dict[str, int], Literal["light", "dark"]], ...]
    screens = ((DESKTOP, "dark"), (PHONE, "light"))
    rows = [(path, *screen) for path in paths for screen in screens]
    assert failing(rows, is_sound) == []


def test_the_console_is_offered_to_those_alone_whom_it_has_pages_for(open_page: OpenPage) -> None:
    page = open_page("/")
    origin = page.url.removesuffix("/")
    options = page.get_by_label("Read as").locator("option").all()
    people = [str(each.get_attribute("value")) for each in options][1:]

    def is_offered_rightly(sub: str) -> None:
        page.goto(origin)
        page.get_by_label("Read as").select_option(sub)
        is_offered = page.get_by_role("button", name="Open the console").is_visible()
        token = page.evaluate("window.plaza.token()")
        page.evaluate("sessionStorage.removeItem('plaza-console-token')")
        page.goto(f"{origin}/console#token={token}")
        page.get_by_role("button", name="Sign in as").click()
        heading = "Waiting for you" if is_offered else "Nothing to do here"
        expect(page.get_by_role("heading", name=heading)).to_be_visible(timeout=PATIENCE_MS)

    assert len(people) > 1
    assert failing(people, is_offered_rightly) == []


def test_links_to_the_newspaper_lead_to_the_server_that_is_read(
    open_page: OpenPage, address: str
) -> None:
    page = open_page("/")
    page.get_by_label("Read as").select_option("mara")
    page.get_by_role("button", name="Open the console").click()
    page.get_by_role("button", name="Sign in as Mara").click()
    link = page.get_by_role("article").first.get_by_role("link").first
    expect(link).to_have_attribute("href", re.compile(f"^{address}/articles/"))
    link.evaluate("(link) => link.removeAttribute('target')")
    link.click()

    expect(page.locator("plaza-comments")).to_be_attached(timeout=PATIENCE_MS)
