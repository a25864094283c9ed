"""Links to a comment: they lead to it on pages of any length, which go on changing."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.rows import failing
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
FAILED = "Failed to load resource"
LOST = "This comment is no longer there."
COMMENTS = f'<plaza-comments node="{NODE}"></plaza-comments>'
FIRST = "document.querySelector('plaza-comments')"
LONG = '<div class="long"></div>'
TALL = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="4000"/>'


@pytest.fixture(autouse=True)
def node(client: Client, site: Site) -> Client:
    """A node whose discussion stands far below the fold of the site's page."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    site.body = LONG + COMMENTS + LONG
    # A browser without scroll anchoring shows who holds the place.
    site.css = ".long { block-size: 9000px } html { overflow-anchor: none }"
    return client


@pytest.fixture
def led(site: Site, open_page: OpenPage) -> Callable[..., Page]:
    """Opens the site's page at a comment's address."""
    return lambda comment, **options: open_page(
        site, at=f"/#plaza-{comment}", may_log=FAILED, **options
    )


def posted(client: Client, text: str, parent: str = "") -> str:
    """Post a comment; return its id."""
    body = {"text": text, **({"parent": parent} if parent else {})}
    reply = client.as_("ann", name="Ann").post(f"/nodes/{NODE}/comments", **body)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def other_node(client: Client) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/nodes/harbour:sun", title="Sun", url="https://a.example/").status == 201


def many(client: Client, count: int) -> list[str]:
    return [posted(client, f"Comment {number}.") for number in range(count)]


def arrived(page: Page, comment: str) -> Locator:
    """Expect the page to show a comment, and to mark it."""
    item = page.locator(f"#c-{comment}")
    expect(item).to_have_class("target")
    expect(item.locator("> article")).to_be_in_viewport()
    return item


def show_picture(page: Page, address: str) -> None:
    """Let a picture of 4,000 px come above all else of the page."""
    page.route("**/late.svg", lambda each: each.fulfill(body=TALL, content_type="image/svg+xml"))
    page.evaluate("(src) => { document.querySelector('img').src = src; }", f"{address}/late.svg")
    until(page, lambda: bool(page.evaluate("document.querySelector('img').naturalHeight > 0")))


@pytest.mark.parametrize("height_px", [0, 2_000, 90_000])
def test_a_link_leads_to_its_comment(
    node: Client, site: Site, open_page: OpenPage, height_px: int
) -> None:
    site.css = f".long {{ block-size: {height_px}px }}"
    ids = many(node, 53)
    deep = ids[51]
    for depth in range(4):
        deep = posted(node, f"Reply {depth}.", deep)
    places = {"first": ids[0], "last of the first page": ids[49], "later page": ids[52]}
    places["deep"] = deep
    page = open_page(site, may_log=FAILED)

    def leads(where: str) -> None:
        # From the same page, another fragment would load nothing anew.
        page.goto("about:blank")
        page.goto(f"{site.address}/#plaza-{places[where]}")
        expect(arrived(page, places[where])).to_be_focused()

    assert failing(places, leads) == []


def test_a_link_within_a_discussion_takes_its_reader_along(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    """The next Tab goes on from the comment that the link leads to."""
    deep = first = posted(node, "The first.")
    for depth in range(5):
        deep = posted(node, f"Reply {depth}.", deep)
    page = open_page(site, at=f"/#plaza-{deep}")
    expect(arrived(page, deep)).to_be_focused()

    page.get_by_role("article").first.get_by_role("link").press("Enter")

    expect(arrived(page, first)).to_be_focused()


def test_without_a_link_a_discussion_below_the_fold_waits(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    """So it does at an address that leads elsewhere; a link that is pressed later is followed."""
    ids = many(node, 60)
    asked: list[str] = []
    page = open_page(
        site,
        at="/#chapter-2",
        before=lambda page: page.on("request", lambda each: asked.append(each.url)),
    )
    page.wait_for_load_state("networkidle")
    assert not [url for url in asked if url.endswith("/comments.js")]

    page.evaluate(f"location.hash = '#plaza-{ids[55]}'")

    arrived(page, ids[55])
    page.evaluate(f"location.hash = '#plaza-{ids[57]}'")
    arrived(page, ids[57])
    expect(page.locator(".target")).to_have_count(1)


def test_a_discussion_that_a_script_adds_is_led_to(
    node: Client, site: Site, led: Callable[..., Page]
) -> None:
    comment = posted(node, "The moon is up.")
    site.body = LONG
    page = led(comment)

    page.evaluate(
        """(node) => {
            const added = document.createElement("plaza-comments");
            added.setAttribute("node", node);
            document.querySelector("main").append(added);
        }""",
        NODE,
    )

    arrived(page, comment)


def test_pictures_that_come_above_do_not_push_it_away(
    node: Client, site: Site, led: Callable[..., Page], address: str
) -> None:
    site.body = "<img>" + site.body
    comment = posted(node, "The moon is up.")
    page = led(comment)
    arrived(page, comment)

    show_picture(page, address)

    arrived(page, comment)


@pytest.mark.parametrize("act", ["wheel", "key", "press"])
def test_a_reader_who_goes_on_is_not_brought_back(
    node: Client, site: Site, led: Callable[..., Page], address: str, act: str
) -> None:
    site.body = "<img>" + site.body
    comment = posted(node, "The moon is up.")
    page = led(comment)
    arrived(page, comment)
    if act == "wheel":
        page.mouse.wheel(0, -3_000)
    elif act == "key":
        page.keyboard.press("Home")
    else:
        page.mouse.click(5, 5)
        page.evaluate("scrollTo(0, 8000)")
    expect(page.locator(f"#c-{comment}")).not_to_be_in_viewport()

    show_picture(page, address)

    expect(page.locator(f"#c-{comment}")).not_to_be_in_viewport()


def test_a_page_that_scrolls_smoothly_is_there_at_once(
    node: Client, site: Site, led: Callable[..., Page]
) -> None:
    site.css += "html { scroll-behavior: smooth }"
    comment = posted(node, "The moon is up.")
    moves = "addEventListener('scroll', () => (window.moves = (window.moves || 0) + 1));"

    page = led(comment, reduced_motion="reduce", before=lambda page: page.add_init_script(moves))

    arrived(page, comment)
    assert page.evaluate("window.moves") <= 3


@pytest.mark.parametrize("what", ["unknown", "hidden", "deleted"])
def test_a_link_to_what_is_not_there_says_so_and_asks_no_more(
    node: Client, led: Callable[..., Page], what: str
) -> None:
    ids = many(node, 60)
    if what == "hidden":
        admin = node.as_("admin", roles=["admin"])
        body = {"state": "hidden"}
        assert admin.post(f"/nodes/{NODE}/comments/{ids[55]}/state", **body).status == 200
    if what == "deleted":
        assert node.as_("ann").delete(f"/nodes/{NODE}/comments/{ids[55]}").status == 204
    asked: list[str] = []

    def note(page: Page) -> None:
        page.on("request", lambda each: asked.append(each.url))

    page = led("nope" if what == "unknown" else ids[55], before=note)

    told = page.get_by_role("status").filter(has_text=LOST)
    expect(told).to_be_in_viewport()
    expect(page.get_by_role("article").first).to_be_visible()
    expect(page.locator(".target")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    assert len([url for url in asked if "/comments?" in url]) == 2


def test_a_link_that_cannot_be_followed_says_why(node: Client, led: Callable[..., Page]) -> None:
    ids = many(node, 60)

    page = led(
        ids[55],
        before=lambda page: page.route(re.compile("around="), lambda route: route.abort()),
    )

    expect(page.get_by_role("status").filter(has_text="cannot be reached")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(50)


def test_an_order_that_is_chosen_then_is_shown_from_its_beginning(
    node: Client, led: Callable[..., Page]
) -> None:
    ids = many(node, 60)
    page = led(ids[5])
    arrived(page, ids[5])

    page.get_by_role("combobox", name="Order").select_option("newest")

    expect(page.locator(f"#c-{ids[59]}")).to_be_visible()
    expect(page.locator(".target")).to_have_count(0)


def test_a_link_leads_once_and_the_reader_goes_where_they_want_then(
    node: Client, led: Callable[..., Page]
) -> None:
    ids = many(node, 53)
    asked: list[str] = []
    page = led(ids[52], before=lambda page: page.on("request", lambda each: asked.append(each.url)))
    arrived(page, ids[52])
    asked.clear()

    page.get_by_role("combobox").select_option("newest")
    expect(page.locator(f"#c-{ids[3]}")).to_be_attached()
    page.evaluate("document.querySelector('plaza-comments').setAttribute('lang', 'de')")
    expect(page.get_by_role("heading", name="53 Kommentare")).to_be_visible()

    expect(page.locator(".target")).to_have_count(0)
    assert not [each for each in asked if "around=" in each]
    # The same link again is another wish, and so is a new one.
    page.evaluate(f"location.hash = '#plaza-{ids[51]}'")
    arrived(page, ids[51])
    page.evaluate(f"location.hash = '#plaza-{ids[52]}'")
    arrived(page, ids[52])


@pytest.mark.parametrize("base", ["", '<base href="/">'])
def test_the_link_of_a_comment_keeps_the_pages_own_address(
    node: Client, site: Site, open_page: OpenPage, base: str
) -> None:
    ids = many(node, 2)
    site.body = base + COMMENTS + LONG
    page = open_page(site, at="/?edition=2#chapter", may_log=FAILED)
    page.evaluate("window.isHere = true")
    link = page.locator(f"#c-{ids[1]} header").get_by_role("link", name=re.compile("now|ago"))

    assert link.evaluate("each => each.href") == f"{site.address}/?edition=2#plaza-{ids[1]}"
    link.click()

    arrived(page, ids[1])
    assert page.url == f"{site.address}/?edition=2#plaza-{ids[1]}"
    # Scrolled away, the same link leads there again.
    page.evaluate("scrollTo(0, 8000)")
    expect(link).not_to_be_in_viewport()
    link.evaluate("each => each.click()")
    arrived(page, ids[1])
    assert page.evaluate("window.isHere")


def test_where_the_hash_is_a_route_a_comment_is_named_by_the_query(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    ids = many(node, 53)
    page = open_page(site, at=f"/?q=1&plaza={ids[52]}#/moon", may_log=FAILED)
    arrived(page, ids[52])
    page.evaluate("window.isHere = true")

    link = page.locator(f"#c-{ids[51]} header").get_by_role("link", name=re.compile("now|ago"))
    link.click()

    arrived(page, ids[51])
    assert page.url == f"{site.address}/?q=1&plaza={ids[51]}#/moon"
    page.evaluate("location.hash = '#!/sun'")
    expect(link).to_have_attribute("href", f"{site.address}/?q=1&plaza={ids[51]}#!/sun")
    page.evaluate("document.querySelector('plaza-comments').setAttribute('order', 'newest')")
    expect(page.get_by_role("combobox")).to_have_value("newest")
    expect(page.locator(".target")).to_have_count(0)
    assert page.evaluate("window.isHere")


def test_a_route_that_shows_another_discussion_does_not_look_for_the_comment(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    """The query stays when an application changes its hash."""
    other_node(node)
    comment = posted(node, "The moon is up.")
    page = open_page(site, may_log=FAILED)
    sun = "setAttribute('node', 'harbour:sun')"
    anew = f"const made = {FIRST}.cloneNode(); made.{sun}; {FIRST}.replaceWith(made)"
    for step in (f"{FIRST}.{sun}", anew):
        page.goto("about:blank")
        page.goto(f"{site.address}/?plaza={comment}#/moon")
        arrived(page, comment)
        page.evaluate(f"location.hash = '#/sun'; {step}")
        expect(page.get_by_role("heading", name="Nobody has said anything yet.")).to_be_visible()
        page.wait_for_load_state("networkidle")
        expect(page.get_by_text(LOST)).to_have_count(0)


def test_a_discussion_that_comes_back_to_its_page_is_not_led_again(
    node: Client, led: Callable[..., Page]
) -> None:
    comment = posted(node, "The moon is up.")
    page = led(comment)
    arrived(page, comment)

    page.evaluate(f"window.kept = {FIRST}; kept.remove()")
    with page.expect_response("**/comments?*"):
        page.evaluate("document.querySelector('main').append(kept)")
    page.wait_for_load_state("networkidle")

    expect(page.get_by_text("The moon is up.")).to_be_visible()
    expect(page.locator(".target")).to_have_count(0)


def test_of_two_discussions_the_one_that_has_the_comment_leads_to_it(
    node: Client, site: Site, led: Callable[..., Page]
) -> None:
    other_node(node)
    ids = many(node, 53)
    sun = '<plaza-comments node="harbour:sun"></plaza-comments>'
    for body in (sun + LONG + COMMENTS, COMMENTS + LONG + sun):
        site.body = body
        page = led(ids[52])
        arrived(page, ids[52])
        page.wait_for_load_state("networkidle")
        expect(page.get_by_text(LOST)).to_have_count(0)
        arrived(page, ids[52])

    page = led("gone")
    expect(page.get_by_text(LOST)).to_have_count(1)
    site.body = LONG + COMMENTS + COMMENTS
    page = led(ids[1])
    page.wait_for_load_state("networkidle")
    expect(page.locator(".target")).to_have_count(1)
