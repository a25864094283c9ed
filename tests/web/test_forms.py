"""The form for a comment: nothing is cut, drafts keep their time, previews show the comment."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from chalicelib.comments.forms import MAX_TEXT_CHARACTERS
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
COMMENTS = f"/nodes/{NODE}/comments"


@pytest.fixture
def page(client: Client, site: Site, token: Callable[..., str], open_page: OpenPage) -> Page:
    """A discussion that Ben reads, who has never written at its site."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    site.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
    site.token = lambda: token("ben", name="Ben")
    return open_page(site, before=lambda page: page.clock.install())


def test_a_text_that_is_too_long_is_kept_whole_and_counted(page: Page, client: Client) -> None:
    area = page.get_by_role("textbox", name="Write a comment")
    post = page.get_by_role("button", name="Post")
    counted = page.locator(".left")

    # Each of them is one character to the API, and two to the browser.
    for text, said in (
        ("a" * 8_000, ""),
        ("😀" * 8_000, ""),
        ("a" * 9_001, "Characters left: 999"),
        ("a" * MAX_TEXT_CHARACTERS, "Characters left: 0"),
        ("a" * (MAX_TEXT_CHARACTERS + 1), "Characters too many: 1"),
        ("😀" * (MAX_TEXT_CHARACTERS + 500), "Characters too many: 500"),
    ):
        area.fill(text)
        expect(counted).to_have_text(said)
        assert area.input_value() == text
    post.click()

    expect(page.get_by_role("alert")).to_have_text("Characters too many: 500")
    assert client.get(COMMENTS).json["comments"] == []
    area.fill("😀" * MAX_TEXT_CHARACTERS)
    page.clock.run_for(4_000)
    post.click()
    expect(page.get_by_role("article")).to_have_count(1)
    (stored,) = client.get(COMMENTS).json["comments"]
    assert stored["text"] == "😀" * MAX_TEXT_CHARACTERS


def test_a_draft_keeps_the_time_for_which_it_was_written(page: Page, client: Client) -> None:
    area = page.get_by_role("textbox", name="Write a comment")
    area.fill("Written with")
    page.clock.run_for(20_000)
    area.fill("Written with care.")

    page.reload()
    area = page.get_by_role("textbox", name="Write a comment")
    expect(area).to_have_value("Written with care.")
    page.get_by_role("button", name="Post").click()

    expect(page.get_by_role("article")).to_have_count(1)
    (stored,) = client.get(COMMENTS).json["comments"]
    assert (stored["text"], stored["state"]) == ("Written with care.", "visible")


def test_a_preview_shows_the_text_as_it_is_posted(page: Page) -> None:
    area = page.get_by_role("textbox", name="Write a comment")
    area.fill("*Nice* `moon`")

    page.get_by_role("button", name="Preview").click()
    shown = page.locator(".preview .text")
    expect(shown.locator("em")).to_have_text("Nice")
    html = shown.inner_html()
    area.press_sequentially("!")
    expect(shown).to_be_hidden()
    area.press("Backspace")
    page.clock.run_for(4_000)
    page.get_by_role("button", name="Post").click()

    expect(page.get_by_role("article")).to_have_count(1)
    assert page.locator("article .text").inner_html() == html
