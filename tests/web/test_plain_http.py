"""Pages of plain http: they read and write as any, and a part that throws leaves the others."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from deploy.web import SOURCES
from tests.shop.support.buying import SKU, stocked
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.plain_http import all_unguarded, at_name, missing_names, unguarded
from tests.web.support.shop import CART, THANKS, buy, fill_in, order
from tests.web.support.site import Site
from tests.web.support.town import Town, write
from tests.web.support.two import REACTIONS
from tests.web.test_words import words

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
COMMENTS = f'<plaza-comments node="{NODE}"><a href="#">Read the discussion</a></plaza-comments>'
MISSING = {"Crypto.randomUUID", "Crypto.subtle", "Navigator.clipboard", "caches", "PointerEvent.x"}
# As in a browser that has no random numbers, or breaks the promise to have them.
BROKEN_KEYS = "Crypto.prototype.getRandomValues = () => { throw new TypeError('no keys here'); };"


@pytest.fixture
def paper(client: Client, site: Site, address: str) -> Site:
    """A site of plain http, under another name than the API's, which Ann reads."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    site.api = at_name(address, "plaza.test")
    site.address = at_name(site.address, "paper.test")
    site.body = COMMENTS
    site.token = lambda: client.token("ann", name="Ann")
    return site


@pytest.fixture
def missing(browser: Browser, address: str) -> set[str]:
    """What this browser keeps from pages of plain http."""
    context = browser.new_context()
    pages = []
    for where in (address, at_name(address, "paper.test")):
        page = context.new_page()
        page.goto(where)
        pages.append(page)
    assert [each.evaluate("isSecureContext") for each in pages] == [True, False]
    found = missing_names(*pages)
    context.close()
    return found


def posted(client: Client, text: str, sub: str = "ben", **body: Any) -> str:
    """Post a comment by the API; return its id."""
    reply = client.as_(sub, name=sub.title()).post(f"/nodes/{NODE}/comments", text=text, **body)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def opened(open_page: OpenPage, paper: Site, **options: Any) -> Page:
    """Open the site's page, which is no secure context."""
    page = open_page(paper, **options)
    assert page.evaluate("isSecureContext") is False
    return page


def test_no_source_uses_what_pages_of_plain_http_lack(missing: set[str]) -> None:
    files = [each for each in SOURCES.parent.rglob("*.js") if "words" not in each.parts]
    sources = {str(each.relative_to(SOURCES.parent)): each.read_text() for each in files}

    assert len(sources) > 40
    assert {
        *("Crypto.randomUUID", "Crypto.subtle", "Navigator.clipboard", "Navigator.locks"),
        *("Navigator.serviceWorker", "Navigator.storage", "caches", "ServiceWorker"),
    } <= missing
    assert all_unguarded(sources, missing) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("const key = crypto.randomUUID();", ["crypto.randomUUID"]),
        ("window.crypto.subtle.digest(a)", ["crypto.subtle"]),
        ("await navigator.clipboard.writeText(text);", ["navigator.clipboard"]),
        ('navigator["clipboard"].read()', ['navigator["clipboard"]']),
        ("const { subtle } = crypto;", ["{ subtle } = crypto"]),
        (
            "const { a, clipboard: b } = window.navigator;",
            ["{ a, clipboard: b } = window.navigator"],
        ),
        ("caches.open(name)", ["caches"]),
        ("await caches?.open(name)", ["caches?"]),
        ("event.x", [".x"]),
    ],
)
def test_a_use_without_a_guard_is_found(source: str, found: list[str]) -> None:
    assert unguarded(source, MISSING) == found


@pytest.mark.parametrize(
    "source",
    [
        "navigator.clipboard?.writeText(text)",
        "crypto.getRandomValues(bytes)",
        "/** Without `crypto.randomUUID()`, since */",
        "a; // crypto.subtle",
        "window.caches?.open(name)",
        'h("p", { class: "caches" })',
        "this.caches.size",
    ],
)
def test_a_use_with_a_guard_passes(source: str) -> None:
    assert unguarded(source, MISSING) == []


def test_a_signed_in_reader_reads_writes_replies_and_edits(
    client: Client, paper: Site, open_page: OpenPage
) -> None:
    posted(client, "The moon is up.")
    page = opened(open_page, paper)

    expect(page.get_by_text("The moon is up.")).to_be_visible()
    write(page, "Write a comment", "So it is.")
    expect(page.get_by_role("status")).to_have_text("Posted.")
    page.locator("[data-does=reply]").first.click()
    write(page, "Reply to Ben", "Full, too.")
    expect(page.locator(".thread .thread")).to_contain_text("Full, too.")
    page.locator("[data-does=edit]").first.click()
    write(page, "Edit", "Full, tonight.", "Save")

    expect(page.get_by_text("Full, tonight.")).to_be_visible()
    listed = client.get(f"/nodes/{NODE}/comments").json["comments"]
    assert sorted(each["text"] for each in listed) == [
        *("Full, tonight.", "So it is.", "The moon is up."),
    ]


def test_a_buyer_orders(client: Client, workers: Workers, paper: Site, open_page: OpenPage) -> None:
    stocked(client)
    paper.body = CART
    page = opened(open_page, paper)
    buy(page, SKU)
    fill_in(page)

    order(page)

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    workers.drain()


def test_a_post_goes_out(
    client: Client, workers: Workers, clock: Clock, paper: Site, open_page: OpenPage
) -> None:
    town = Town(client, workers, clock)
    town.settle()
    paper.body = "<plaza-feed></plaza-feed>"
    page = opened(open_page, paper)

    write(page, "What is new?", "Posted plainly.")

    expect(page.get_by_role("article", name="Ann")).to_contain_text("Posted plainly.")


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_a_form_that_throws_leaves_the_comments_and_says_so(
    client: Client, paper: Site, open_page: OpenPage, language: str
) -> None:
    posted(client, "The moon is up.")
    paper.language = language
    page = opened(
        open_page,
        paper,
        may_log="no keys here",
        before=lambda page: page.add_init_script(BROKEN_KEYS),
    )

    expect(page.get_by_text("The moon is up.")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_text(words(language, "common")["internal"])


def spoil(page: Page, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a page is answered of its comments."""

    def answer(route: Route) -> None:
        # The names are the browser's own.
        reply = route.fetch(url=at_name(route.request.url, "127.0.0.1", "plaza.test"))
        listed = reply.json()
        change(listed)
        route.fulfill(response=reply, json=listed)

    page.route(re.compile(r"/comments\?"), answer)


def test_a_comment_that_throws_leaves_the_others_and_says_so(
    client: Client, paper: Site, open_page: OpenPage
) -> None:
    ids = [posted(client, f"Comment {number}.") for number in range(3)]
    said: list[str] = []

    def change(listed: dict[str, Any]) -> None:
        listed["comments"][1]["author"]["name"] = None

    def prepare(page: Page) -> None:
        page.on("console", lambda each: said.append(each.text))
        spoil(page, change)

    page = opened(open_page, paper, may_log="TypeError", before=prepare)

    expect(page.get_by_role("article")).to_have_count(2)
    told = page.locator(f"#c-{ids[1]}").get_by_role("alert")
    expect(told).to_contain_text("Something went wrong in Plaza.")
    expect(page.locator(f"#c-{ids[2]}")).to_contain_text("Comment 2.")
    expect(page.get_by_role("textbox", name="Write a comment")).to_be_visible()
    assert any("TypeError" in each and "bylineOf" in each for each in said)


def test_votes_that_throw_leave_the_comments_and_say_so(
    client: Client, paper: Site, open_page: OpenPage
) -> None:
    posted(client, "The moon is up.")
    admin = client.as_("admin", roles=["admin"])
    marks = {"votes": "up_down", "reactions": REACTIONS}
    assert admin.put("/sites/harbour/comments/settings", **marks).status == 200

    def change(listed: dict[str, Any]) -> None:
        listed["comments"][0]["reactions"] = None

    page = opened(open_page, paper, may_log="TypeError", before=lambda page: spoil(page, change))

    expect(page.locator("article .marks")).to_contain_text("Something went wrong in Plaza.")
    expect(page.get_by_text("The moon is up.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Write a comment")).to_be_visible()
