"""Elements are dark where the page is, whatever the reader's system prefers."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import SCHEMES, violations
from tests.web.support.rows import failing
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
COMMENTS = f'<plaza-comments node="{NODE}"></plaza-comments>'
META = '<meta name="color-scheme" content="light dark">'
LIGHT, DARK = {"light": "light", "dark": "light"}, {"light": "dark", "dark": "dark"}
SYSTEM = {"light": "light", "dark": "dark"}
NIGHT = "background: #14171a; color: #e6e6e6;"
# The page's styles, what it has before the element, and its scheme under each of the system's.
PAGES: dict[str, tuple[str, str, dict[str, str]]] = {
    "plain": ("", "", LIGHT),
    "white": ("html { background: #fff; color: #222; }", "", LIGHT),
    "dark root": (f"html {{ {NIGHT} }}", "", DARK),
    "dark body": (f"body {{ {NIGHT} }}", "", DARK),
    "transparent body": (f"html {{ {NIGHT} }} body {{ background: transparent; }}", "", DARK),
    "declares both": ("html { color-scheme: light dark; }", "", SYSTEM),
    "declares both in meta": ("", META, SYSTEM),
    "declares dark": ("html { color-scheme: dark; }", "", DARK),
    "declares both and is white": (
        "html { color-scheme: light dark; background: #fff; color: #222; }",
        "",
        LIGHT,
    ),
    "follows the system by colours": (
        f"@media (prefers-color-scheme: dark) {{ html {{ {NIGHT} }} }}",
        "",
        SYSTEM,
    ),
    "light column on black": (
        "html { background: #000; } main { background: rgb(255 255 255 / 96%); color: #111; }",
        "",
        LIGHT,
    ),
    "dark column on white": ("main { background: oklch(0.2 0.02 250); color: #fff; }", "", DARK),
    "faint text": (
        "html { background: #fff; } main { color: #ccc; } h1 { color: #222; }",
        "",
        LIGHT,
    ),
    "dark picture": (
        "html { background: #fff; } body { background: linear-gradient(#111, #222); color: #eee; }",
        "",
        DARK,
    ),
    "sepia": ("body { background: #f4ecd8; color: #3b2f1e; }", "", LIGHT),
}
USED = "getComputedStyle(document.querySelector('plaza-comments')).colorScheme"
PAINT = """() => {
    const { style } = document.documentElement;
    const parts = [document.documentElement, document.body].map((each) => getComputedStyle(each));
    const none = "rgba(0, 0, 0, 0)";
    if (parts.every((each) => each.background.startsWith(none))) style.background = "Canvas";
}"""
COLOURS = {"light": "rgb(28, 31, 35)", "dark": "rgb(230, 233, 237)"}


@pytest.fixture(autouse=True)
def node(client: Client, site: Site) -> Client:
    """A node with a comment that Ann, who reads the site's page, may edit and answer."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    text = "The *moon* is [up](https://a.example).\n\n> So `it` is."
    reply = client.as_("ann", name="Ann").post(f"/nodes/{NODE}/comments", text=text)
    assert reply.status == 201
    site.body = COMMENTS
    site.token = lambda: client.token("ann", name="Ann")
    return client


def opened(open_page: OpenPage, site: Site, **options: Any) -> Page:
    """Open the site's page, with a form below the comment."""
    return replying(open_page(site, **options))


def loaded(page: Page, site: Site, css: str, body: str) -> Page:
    """Load the site's page anew, with other styles and another body."""
    site.css, site.body = css, body
    page.reload()
    return page


def replying(page: Page) -> Page:
    """Open a form below the comment of a page."""
    page.locator("[data-does=reply]").click()
    expect(page.get_by_role("textbox", name="Reply to Ann")).to_be_visible()
    return page


def turned(page: Page, scheme: str) -> None:
    """Expect the discussion to have turned light or dark."""
    discussion = page.locator("plaza-comments")
    expect(discussion).to_have_css("color-scheme", scheme)
    expect(discussion).to_have_css("color", COLOURS[scheme])


@pytest.mark.parametrize("system", SCHEMES)
def test_a_discussion_is_read_on_every_page_under_every_system(
    site: Site, open_page: OpenPage, axe: str, system: str
) -> None:
    page = open_page(site, color_scheme=system)

    def is_read(name: str) -> None:
        css, before, schemes = PAGES[name]
        replying(loaded(page, site, css, before + COMMENTS))
        turned(page, schemes[system])
        # axe-core takes for white what a page leaves to the browser.
        page.evaluate(PAINT)
        assert violations(page, axe) == []

    assert failing(PAGES, is_read) == []


def test_a_page_may_say_it_for_an_element(site: Site, open_page: OpenPage) -> None:
    page = open_page(site)

    def is_said(theme: str) -> None:
        css = f"html {{ {NIGHT if theme == 'light' else ''} }}"
        body = f'<plaza-comments node="{NODE}" theme="{theme}"></plaza-comments>'
        turned(replying(loaded(page, site, css, body)), theme)

    assert failing(SCHEMES, is_said) == []


SWITCHES = {
    "an attribute": (
        f"html[data-theme=dark] {{ {NIGHT} }}",
        "document.documentElement.dataset.theme = {on} ? 'dark' : 'light'",
    ),
    "a class around it": (
        f".night {{ {NIGHT} }}",
        "document.querySelector('main').classList.toggle('night', {on})",
    ),
    "a class, slowly": (
        f"html {{ background: #fff; transition: all 0.3s; }} html.night {{ {NIGHT} }}",
        "document.documentElement.classList.toggle('night', {on})",
    ),
    "a box that is ticked": (
        f"html:has(#night:checked) {{ {NIGHT} }}",
        "document.querySelector('#night').click()",
    ),
    "its styles": (f"html {{ {NIGHT} }}", "document.querySelector('link').disabled = !{on}"),
}


def test_a_page_that_changes_is_followed(site: Site, open_page: OpenPage, axe: str) -> None:
    page = open_page(site, color_scheme="light")
    body = f'<label><input type="checkbox" id="night"> Night</label>{COMMENTS}'

    def is_followed(name: str) -> None:
        css, script = SWITCHES[name]
        replying(loaded(page, site, css, body))
        for scheme in ("dark", "light", "dark"):
            if page.evaluate(USED) != scheme:
                page.evaluate(script.replace("{on}", "true" if scheme == "dark" else "false"))
            turned(page, scheme)
        assert violations(page, axe) == []

    assert failing(SWITCHES, is_followed) == []


def test_a_system_that_changes_is_followed_where_the_page_follows_it(
    site: Site, open_page: OpenPage
) -> None:
    site.body = META + COMMENTS
    page = opened(open_page, site, color_scheme="dark")
    turned(page, "dark")

    page.emulate_media(color_scheme="light")

    turned(page, "light")


def test_a_discussion_in_a_dark_part_of_a_light_page_is_dark(
    site: Site, open_page: OpenPage
) -> None:
    site.css = ".card { background: #101418; color: #eee; }"
    site.body = '<div class="card"></div>'
    page = open_page(site)

    page.evaluate(
        """(node) => {
            const host = document.querySelector(".card");
            const added = document.createElement("plaza-comments");
            added.setAttribute("loading", "eager");
            added.setAttribute("node", node);
            host.append(added);
        }""",
        NODE,
    )

    turned(page, "dark")


@pytest.mark.parametrize("system", SCHEMES)
def test_other_elements_follow_the_page_too(
    client: Client, site: Site, open_page: OpenPage, system: str
) -> None:
    assert client.as_("ann", name="Ann").put("/users/me").status == 200
    page = open_page(site, color_scheme=system)

    def follows(element: str) -> None:
        tag = element.partition(" ")[0]
        loaded(page, site, "", f"<{element} loading=eager></{tag}>")
        expect(page.get_by_role("heading", level=2)).to_be_visible()
        expect(page.locator(tag)).to_have_css("color", COLOURS["light"])

    assert failing(["plaza-cart site=harbour", "plaza-feed user=ann"], follows) == []
