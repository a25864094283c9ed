"""Words in the page's language: the nearest of those known, and no more files than needed."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import OpenPage
from tests.web.support.browser import until
from tests.web.support.rows import failing
from tests.web.support.site import Site

NODE = "harbour:moon"
# A place's `lang`, and how it says that there are no comments.
ROWS = [
    *(("zh", "0 条评论"), ("zh-Hans", "0 条评论"), ("zh-SG", "0 条评论"), ("zh-TW", "0 comments")),
    *(("pt", "0 comentário"), ("PT_br", "0 comentário"), ("de-AT", "0 Kommentare")),
    *(("en-GB", "0 comments"), ("sv", "0 comments"), ("de--x", "0 comments")),
]


@pytest.fixture(autouse=True)
def _node(client: Client) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201


def test_an_element_speaks_the_nearest_language_that_it_knows(
    site: Site, open_page: OpenPage
) -> None:
    places = [
        f'<p lang="{tag}"><plaza-count id="{tag}" node="{NODE}"></plaza-count></p>'
        for tag, _ in ROWS
    ]
    site.body = "".join(places)
    page = open_page(site)

    def check(row: tuple[str, str]) -> None:
        tag, text = row
        expect(page.locator(f"[id='{tag}']")).to_have_text(text)

    assert failing(ROWS, check) == []


# A page's `lang`, and how the first of March 2026, 13:00 UTC, is written there.
WRITTEN = [("en-GB", "01/03/2026, 13:00:00"), ("en_AU", "01/03/2026, 1:00:00"), ("sv", "3/1/2026")]


@pytest.fixture
def posted(client: Client, clock: Clock) -> None:
    """A comment of the first of March, 13:00 UTC."""
    clock.advance(hours=1)
    reply = client.as_("ann", name="Ann").post(f"/nodes/{NODE}/comments", text="Up.")
    assert reply.status == 201, reply.body


@pytest.mark.usefixtures("posted")
@pytest.mark.parametrize(("tag", "written"), WRITTEN)
def test_times_are_written_as_in_the_region_of_the_page(
    site: Site, open_page: OpenPage, tag: str, written: str
) -> None:
    """A reader of 01/03 in Britain would take 3/1 for the third of January."""
    site.language = tag
    site.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
    page = open_page(site, timezone_id="UTC")

    time = page.locator("article time").first

    expect(time).to_have_attribute("title", re.compile(f"^{re.escape(written)}"))


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_an_element_in_a_component_speaks_the_language_around_it(
    site: Site, open_page: OpenPage, mode: str
) -> None:
    site.language = "nl"
    site.body = '<div id="host"></div>'
    page = open_page(site)

    page.evaluate(
        """([mode, node]) => {
            const count = document.createElement("plaza-count");
            document.querySelector("#host").attachShadow({ mode }).append(count);
            count.setAttribute("node", node);
            window.count = count;
        }""",
        [mode, NODE],
    )

    until(page, lambda: bool(page.evaluate("count.shadowRoot?.textContent")))
    assert page.evaluate("count.shadowRoot.textContent") == "0 reacties"


def test_a_page_loads_the_words_of_its_language_that_it_needs(
    site: Site, open_page: OpenPage, token: Callable[..., str]
) -> None:
    files: list[str] = []

    def watch(page: Page) -> None:
        page.on("request", lambda request: files.extend(re.findall(r"words-[\w-]+", request.url)))

    for language, count in (("en", "0 comments"), ("de", "0 Kommentare")):
        site.language = language
        site.body = f'<plaza-count node="{NODE}"></plaza-count>'
        page = open_page(site, before=watch)
        expect(page.locator("plaza-count")).to_have_text(count)
    assert files == ["words-de-common"]

    files.clear()
    site.body = f'<plaza-comments node="{NODE}" loading="eager"></plaza-comments>'
    expect(open_page(site, before=watch).locator("section")).to_have_attribute("lang", "de")
    assert sorted(files) == ["words-de-comments", "words-de-common"]

    files.clear()
    site.token = lambda: token("ben", name="Ben")
    page = open_page(site, before=watch)
    expect(page.get_by_role("button", name="Senden")).to_be_visible()
    of_readers = ["words-de-acts", "words-de-comments", "words-de-common", "words-de-form"]
    assert sorted(files) == of_readers
