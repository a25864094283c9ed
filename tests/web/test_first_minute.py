"""The first minute: what a started server names to open, and a comment three clicks later."""

import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.local.stack import ROOT, Stack, started, wait_until
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.pictures import FOLDER, PICTURES, taken

pytestmark = pytest.mark.processes

PAGES = (ROOT / "README.md", ROOT / "docs/tour.md")
MOST_BYTES = 150_000


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
    told = ("The Harbour Post", "<h1>", "Plaza console", "swagger-ui")
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
    advertisement = page.get_by_role("complementary", name="Advertisement").first
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

    expect(page.get_by_role("article")).to_have_count(4, timeout=PATIENCE_MS)
    expect(page.get_by_text("Mara Lindqvist")).to_be_visible()
