"""Texts that mean harm, as a reader's browser shows them: nothing runs, and nothing is asked."""

import pytest
from playwright.sync_api import Dialog, Page, expect

from chalicelib.runtime import Runtime
from chalicelib.social.posts import posts
from tests.security.support.vectors import ADDRESSES, MARKUP
from tests.shop.support.buying import SKU, stocked
from tests.shop.support.factories import book, put
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.shop import CART, THANKS, buy, fill_in, order
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
TEXTS = (*MARKUP, *(f"[x]({address})" for address in ADDRESSES))
# What a comment may hold, by the renderer's own list.
ELEMENTS = {
    *("A", "BLOCKQUOTE", "BR", "CODE", "EM", "H1", "H2", "H3", "H4", "H5", "H6", "HR", "LI"),
    *("OL", "P", "PRE", "S", "STRONG", "UL"),
}
INSIDE = """() => [...document.querySelector("plaza-comments").shadowRoot
    .querySelectorAll(".text *")].map((each) => each.nodeName)"""


def note_dialogs(page: Page, seen: list[str]) -> None:
    """Note each dialog that a script opens."""

    def note(dialog: Dialog) -> None:
        seen.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)


def test_no_text_runs_or_loads_anything(client: Client, site: Site, open_page: OpenPage) -> None:
    admin = client.as_("admin", roles=["admin"])
    admin.put("/nodes/moon", title="Moon", url="https://a.example/")
    replies = [client.as_("ann").post("/nodes/moon/comments", text=text) for text in TEXTS]
    taken = sum(reply.status == 201 for reply in replies)
    assert taken >= 50
    site.body = '<plaza-comments node="moon"></plaza-comments>'
    seen: list[str] = []

    page = open_page(site, before=lambda page: note_dialogs(page, seen))
    expect(page.get_by_role("article")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()

    expect(page.get_by_role("article")).to_have_count(taken)
    assert set(page.evaluate(INSIDE)) <= ELEMENTS
    assert seen == []


# What the element of a feed makes of texts itself: nothing of theirs is markup.
OF_FEED = {
    *("A", "ARTICLE", "B", "BUTTON", "DIV", "FOOTER", "H2", "HEADER", "I", "LI", "OL", "P"),
    *("SECTION", "SMALL", "SPAN", "TIME", "UL"),
}
INSIDE_FEED = """() => [...document.querySelector("plaza-feed").shadowRoot
    .querySelectorAll("*")].map((each) => each.nodeName)"""
LINKS = """() => [...document.querySelector("plaza-feed").shadowRoot
    .querySelectorAll("a")].map((each) => each.href)"""


def test_no_post_runs_or_loads_anything(
    client: Client, runtime: Runtime, workers: Workers, site: Site, open_page: OpenPage
) -> None:
    """Also one that an application stored past all checks, with an address that is none."""
    ann = client.as_("ann", name="Ann")
    public = {"circles": ["*public*"]}
    taken = 0
    for text in TEXTS:
        taken += ann.post("/posts", type="status", detail={"text": text}, **public).status == 201
    for text in TEXTS[:20]:
        link = {"url": "https://a.example/", "title": text.replace("\n", " ")[:200]}
        taken += ann.post("/posts", type="link", detail=link, **public).status == 201
    assert taken >= 60
    rows = posts.POSTS.of(runtime.database)
    rows.update_many({"type": "link"}, {"$set": {"detail.url": "javascript:alert(1)"}})
    rows.update_many({}, {"$set": {"by.name": MARKUP[0]}})
    workers.drain()
    site.body = '<plaza-feed user="ann" limit="200" images></plaza-feed>'
    seen: list[str] = []

    page = open_page(site, before=lambda page: note_dialogs(page, seen))

    expect(page.get_by_role("article")).to_have_count(taken)
    assert set(page.evaluate(INSIDE_FEED)) <= OF_FEED
    assert page.evaluate(LINKS) == []
    assert seen == []


INSIDE_CART = """() => [...document.querySelector("plaza-cart").shadowRoot
    .querySelectorAll("*")].map((each) => each.nodeName)"""


@pytest.mark.usefixtures("workers")
def test_no_title_and_no_address_runs_anything_in_a_cart(
    client: Client, site: Site, open_page: OpenPage
) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    paula = stocked(client)
    assert put(paula, "moby-dick", book(title=hostile), version=1).status == 200
    site.body = CART
    seen: list[str] = []

    page = open_page(site, before=lambda page: note_dialogs(page, seen))
    buy(page, SKU)
    expect(page.get_by_text(hostile).first).to_be_visible()
    fill_in(page)
    page.get_by_label("Town").fill(hostile)
    order(page)

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    expect(page.get_by_text(f"1011 AB {hostile}")).to_be_visible()
    assert not {"IMG", "SCRIPT"} & set(page.evaluate(INSIDE_CART))
    assert seen == []
