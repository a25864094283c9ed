"""A comment is never wider than its column: no text makes the host's page scroll sideways."""

from typing import get_args

import pytest
from playwright.sync_api import Page, expect

from chalicelib.languages import Language
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import violations
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
WIDTHS = (320, 390, 1_280)
WORD = "w" * 500
URL = f"https://a.example/{'path/' * 90}"
TEXTS = {
    "lists": "* " * 50 + "x",
    "numbered lists": "1. " * 30 + "x",
    "huge numbers": "999999999. x",
    "quotes": "> " * 50 + "x",
    "lists in quotes": "> * " * 25 + "x",
    "code in lists": "* " * 8 + f"    {WORD}",
    "code": f"    {WORD}",
    "fenced code": f"```\n{WORD}\n```",
    "code in quotes": "> " * 8 + f"`{WORD}`",
    "inline code": f"`{WORD}`",
    "word": WORD,
    "wide letters": "﷽" * 200,
    "letters that join": "a\u2060" * 300,
    "blanks that do not break": "a\u00a0" * 300,
    "address": URL,
    "link": f"[{WORD}]({URL})",
    "picture": f"![{WORD}](https://pictures.example/{WORD}.png)",
    "heading": f"# {WORD}",
    "emphasis": f"***{WORD}***",
    "table": "|" + "a|" * 60 + "\n|" + "-|" * 60 + "\n|" + "word|" * 60,
    "rule": "---",
    "html": f"<table><tr><td>{WORD}</td></tr></table>",
    "mention": f"@{'W' * 100}",
}
SIDEWAYS = """() => {
    const root = document.querySelector("plaza-comments").shadowRoot;
    const { right } = document.documentElement.getBoundingClientRect();
    const wide = [...root.querySelectorAll(".text")].filter((each) => {
        const column = each.parentElement.getBoundingClientRect();
        const own = each.getBoundingClientRect();
        return own.right > column.right + 1 || own.left < column.left - 1 || own.right > right + 1;
    });
    const over = document.documentElement.scrollWidth - innerWidth;
    return [over, ...wide.map((each) => each.innerText.slice(0, 50))];
}"""
PAGE_SIDEWAYS = "document.documentElement.scrollWidth - innerWidth"


def broken(page: Page, axe: str) -> list[str]:
    """Return the rules that a page breaks, but for the level of writers' headings.

    A comment's heading is an h4, since its host's page has others above it.
    """
    return [each for each in violations(page, axe) if not each.startswith("heading-order")]


@pytest.fixture(autouse=True)
def node(client: Client, site: Site) -> list[str]:
    """A node's comments: each text at the top and deep in a thread."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    site.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
    ids = []
    parent: dict[str, str] = {}
    for number, text in enumerate(TEXTS.values()):
        author = client.as_(f"ann{number % 5}", name="W" * 60)
        for below in ({}, parent):
            reply = author.post(f"/nodes/{NODE}/comments", text=text + " " * len(below), **below)
            if reply.status == 409:
                continue
            assert reply.status == 201, reply.body
            ids.append(reply.json["id"])
        parent = {"parent": ids[-1]} if number < 6 else parent
    return ids


def test_no_text_is_wider_than_its_column(node: list[str], site: Site, open_page: OpenPage) -> None:
    page = open_page(site)
    for language in ("en", "ar"):
        site.language = language
        page.reload()
        expect(page.locator("plaza-comments section")).to_have_attribute("lang", language)
        expect(page.get_by_role("article")).to_have_count(len(node))

        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(SIDEWAYS) == [0], (language, width)


@pytest.mark.parametrize("language", get_args(Language))
def test_a_guests_phone_does_not_scroll_sideways_in_any_language(
    site: Site, open_page: OpenPage, language: str
) -> None:
    site.language = language
    page = open_page(site, viewport={"width": 320, "height": 800})
    choice = page.locator("plaza-comments select")
    expect(choice).to_be_visible()

    assert page.evaluate(PAGE_SIDEWAYS) == 0
    box = choice.bounding_box()
    assert box is not None
    assert box["height"] >= 24


def test_a_button_has_an_edge_where_the_system_chooses_the_colours(
    site: Site, open_page: OpenPage
) -> None:
    page = open_page(site, forced_colors="active")
    button = page.locator("plaza-comments .note").locator("a, button").first
    expect(button).to_be_visible()

    edge = button.evaluate("(each) => getComputedStyle(each).borderTopColor")

    assert "rgba" not in edge, edge


def test_paper_has_the_comments_and_nothing_to_press(
    node: list[str], site: Site, open_page: OpenPage
) -> None:
    page = open_page(site)
    expect(page.get_by_role("article")).to_have_count(len(node))
    page.emulate_media(media="print")

    expect(page.locator("plaza-comments select")).to_be_hidden()
    expect(page.locator("plaza-comments footer").first).to_be_hidden()
    expect(page.locator("plaza-comments .text").first).to_be_visible()


def test_a_wide_text_can_be_scrolled_by_keyboard(
    node: list[str], site: Site, open_page: OpenPage, axe: str
) -> None:
    page = open_page(site, viewport={"width": 320, "height": 800})
    expect(page.get_by_role("article")).to_have_count(len(node))
    wide = page.evaluate(
        """() => {
            const root = document.querySelector("plaza-comments").shadowRoot;
            const wide = [...root.querySelectorAll(".text, .text pre")]
                .filter((each) => each.scrollWidth > each.clientWidth);
            wide[0].focus();
            return [wide.length > 0, root.activeElement === wide[0]];
        }"""
    )

    assert wide == [True, True]
    assert broken(page, axe) == []


def test_the_page_without_scripts_does_not_scroll_sideways_either(
    node: list[str], open_page: OpenPage, axe: str
) -> None:
    page = open_page(f"/nodes/{NODE}/comments?limit=100")
    expect(page.locator("article")).to_have_count(len(node))

    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(PAGE_SIDEWAYS) == 0, width
        assert broken(page, axe) == [], width
