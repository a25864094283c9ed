"""Texts from right to left: each line has its own direction, and code runs from left to right."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
ARABIC, ENGLISH = "\u0645\u0631\u062d\u0628\u0627", "Hello there"
TEXT = (
    f"{ARABIC}\n\n{ENGLISH}\n{ARABIC}\n\n- {ARABIC}\n- {ENGLISH}\n\n> {ENGLISH}\n\n"
    f"# {ENGLISH}\n\n{ARABIC} `a = -1;` {ARABIC}\n\n```\nx = [1, 2];\n```"
)
# Where each line of a text stands, and the direction of code.
SIDES = """(root) => {
    const lines = [];
    for (const block of root.querySelectorAll("p, li")) {
        const box = block.getBoundingClientRect();
        const walk = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            const isOwn = node.parentElement.closest("p, li") === block;
            if (!isOwn || !node.data.trim() || block.querySelector("code")) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            const own = range.getBoundingClientRect();
            lines.push(own.left - box.left < box.right - own.right ? "left" : "right");
        }
    }
    const codes = [...root.querySelectorAll("pre, code")].map((code) => {
        const { direction, textAlign } = getComputedStyle(code);
        return `${direction} ${textAlign}`;
    });
    return [lines, [...new Set(codes)]];
}"""
EXPECTED = [["right", "left", "right", "right", "left", "left", "left"], ["ltr left"]]


@pytest.fixture(params=[TEXT, f"{ENGLISH}\n\n{TEXT}"], ids=["from right", "from left"])
def text(client: Client, request: pytest.FixtureRequest) -> str:
    """Post a comment that begins in either direction; return its text."""
    admin = client.as_("admin", roles=["admin"])
    admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/")
    assert client.as_("ann").post(f"/nodes/{NODE}/comments", text=request.param).status == 201
    return str(request.param)


def sides(page: Page, selector: str, text: str) -> list[list[str]]:
    lines, codes = page.locator(selector).evaluate(SIDES)
    return [lines[1:] if text.startswith(ENGLISH) else lines, codes]


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_line_has_its_own_direction(
    text: str, language: str, site: Site, open_page: OpenPage
) -> None:
    site.body, site.language = f'<plaza-comments node="{NODE}"></plaza-comments>', language
    page = open_page(site)
    expect(page.get_by_role("article")).to_have_count(1)

    assert sides(page, "plaza-comments .text", text) == EXPECTED


def test_a_line_has_its_own_direction_on_the_page_without_scripts(
    text: str, open_page: OpenPage
) -> None:
    page = open_page(f"/nodes/{NODE}/comments")
    expect(page.locator("article")).to_have_count(1)

    assert sides(page, "article > div", text) == EXPECTED
