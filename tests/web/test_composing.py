"""Input methods: while a reader composes, as for Japanese, keys are the method's."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

from deploy.declared import ROOT
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.two import Discussion, discussing

expect.set_options(timeout=PATIENCE_MS)
HEARS_KEYS = re.compile(r"keydown|keyup|keypress")
# Any key is a sign that the reader is there, or has gone on.
NO_ACT_OF_A_KEY = {"embed/arrival.js", "embed/topics.js"}


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion with a comment by Ann."""
    with discussing(client, clock, address) as made:
        made.decide(votes="off", reactions=[])
        made.posted()
        yield made


def compose(page: Page, field: Locator, text: str) -> CDPSession:
    """Begin to compose a text in a field, as an input method does."""
    field.focus()
    method = page.context.new_cdp_session(page)
    size = {"selectionStart": len(text), "selectionEnd": len(text)}
    method.send("Input.imeSetComposition", {"text": text, **size})
    expect(field).to_have_value(text)
    return method


def test_keys_leave_a_form_as_it_is_while_its_writer_composes(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of("ben"))
    article = page.get_by_role("article").first
    for opener, name in (("Reply", "Reply to Ann"), ("Report", "A note")):
        article.get_by_role("button", name=opener, exact=True).click()
        field = page.get_by_role("textbox", name=name)
        method = compose(page, field, "つき")

        for key in ("Escape", "Control+Enter"):
            page.keyboard.press(key)

        expect(field).to_have_value("つき")
        expect(page.get_by_text("Posted.")).to_have_count(0)
        method.send("Input.insertText", {"text": "月"})
        expect(field).to_have_value("月")
        page.keyboard.press("Escape")
        expect(field).to_have_count(0)


def test_the_last_key_of_a_composition_is_the_methods_in_safari(
    talk: Discussion, open_page: OpenPage
) -> None:
    """Safari ends the composition before it sends the key, with the code 229."""
    page = open_page(talk.site_of("ben"))
    page.get_by_role("article").get_by_role("button", name="Reply").click()
    field = page.get_by_role("textbox", name="Reply to Ann")

    for code, left in ((229, 1), (27, 0)):
        field.evaluate(
            "(field, keyCode) => field.dispatchEvent("
            "new KeyboardEvent('keydown', { key: 'Escape', keyCode, bubbles: true }))",
            code,
        )
        expect(field).to_have_count(left)


def test_every_source_hears_keys_past_input_methods() -> None:
    web = ROOT / "web"
    sources = {str(each.relative_to(web)): each.read_text() for each in web.rglob("*.js")}
    lines = [
        f"{name}: {line.strip()}"
        for name, text in sources.items()
        if name not in NO_ACT_OF_A_KEY
        for line in text.splitlines()
        if HEARS_KEYS.search(line) and "whenTyped(" not in line
    ]

    assert lines == []
    assert sum("whenTyped(" in text for text in sources.values()) > len(NO_ACT_OF_A_KEY) + 1
