"""One life for all elements: attributes that come late or change, moves, components, failures."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.rows import failing
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
MOON, SUN = "harbour:moon", "harbour:sun"
FAILED = "Failed to load resource"
# What an element needs, and the call by which it starts.
NEEDS = {
    "plaza-comments": ({"node": MOON}, "/nodes/harbour%3Amoon/comments"),
    "plaza-count": ({"node": MOON}, "/comment-counts"),
    "plaza-ad": ({"site": "harbour", "zone": "top"}, "/ads/harbour/top"),
    "plaza-hit": ({"site": "harbour"}, "/hits"),
    "plaza-feed": ({"user": "ann"}, "/users/ann/wall"),
}
BACK = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
ADD = """({name, attributes, into}) => {
    const element = document.createElement(name);
    const link = element.appendChild(document.createElement("a"));
    Object.assign(link, { href: "/plain", textContent: "plain" });
    let place = document.querySelector("main");
    if (into) {
        const host = place.appendChild(document.createElement("x-card"));
        place = host.attachShadow({ mode: into });
    }
    place.append(element);
    window.added = element;
    for (const name in attributes) element.setAttribute(name, attributes[name]);
}"""


@pytest.fixture(autouse=True)
def _nodes(client: Client, site: Site) -> None:
    admin = client.as_("admin", roles=["admin"])
    for node in (MOON, SUN):
        title = node.partition(":")[2].title()
        assert admin.put(f"/nodes/{node}", title=title, url="https://a.example/").status == 201
        reply = client.as_("ann", name="Ann").post(
            f"/nodes/{node}/comments", text=f"{title} is up."
        )
        assert reply.status == 201
    site.body = '<div id="there"></div>'


@pytest.fixture
def calls(site: Site, open_page: OpenPage) -> tuple[Page, list[str]]:
    """A page with the embed alone, and the calls of the API that it makes."""
    made: list[str] = []
    page = open_page(
        site,
        may_log=FAILED,
        before=lambda page: page.on("request", lambda each: made.append(each.url)),
    )
    return page, made


def shows(page: Page, selector: str) -> bool:
    """Return whether the element that was added last shows something."""
    return bool(page.evaluate("each => !!added.shadowRoot?.querySelector(each)", selector))


def wait_for(page: Page, made: list[str], call: str) -> None:
    """Let a page go on until it has made a call."""
    try:
        until(page, lambda: any(call in each for each in made))
    except pytest.fail.Exception:
        raise AssertionError(f"{call} is not among {made}") from None


def settle(page: Page) -> None:
    """Let a page do what it does at once: another element's call has been answered."""
    page.evaluate("() => fetch('/token')")
    page.wait_for_timeout(100)


def quietly(page: Page, calls: list[str]) -> list[str]:
    settle(page)
    page.wait_for_load_state("networkidle")
    return [each for each in calls if re.search(r"/(nodes|comment-counts|ads|hits|users)\b", each)]


@pytest.mark.parametrize("into", ["", "open", "closed"])
def test_an_element_starts_once_when_it_has_what_it_needs_wherever_it_stands(
    calls: tuple[Page, list[str]], into: str
) -> None:
    page, made = calls

    def starts(name: str) -> None:
        attributes, call = NEEDS[name]
        made.clear()
        page.evaluate(ADD, {"name": name, "attributes": attributes, "into": into})
        wait_for(page, made, call)
        if name in {"plaza-comments", "plaza-feed"}:
            until(page, lambda: shows(page, "[part=root]"))
        assert [call in each for each in quietly(page, made)] == [True], made

    assert failing(NEEDS, starts) == []


def test_an_element_waits_for_what_it_needs_and_says_nothing(
    calls: tuple[Page, list[str]],
) -> None:
    page, made = calls
    for name in NEEDS:
        if name != "plaza-feed":
            page.evaluate(ADD, {"name": name, "attributes": {}, "into": ""})
    expect(page.get_by_role("link", name="plain")).to_have_count(4)

    assert quietly(page, made) == []
    expect(page.get_by_role("alert")).to_have_count(0)
    page.evaluate("document.querySelector('plaza-comments').setAttribute('node', 'harbour:moon')")
    expect(page.get_by_text("Moon is up.")).to_be_visible()


def test_an_attribute_starts_an_element_anew_if_its_value_is_another(
    calls: tuple[Page, list[str]],
) -> None:
    page, made = calls
    page.evaluate(ADD, {"name": "plaza-comments", "attributes": {"node": MOON}, "into": ""})
    expect(page.get_by_text("Moon is up.")).to_be_visible()
    quietly(page, made)
    made.clear()

    page.evaluate("added.setAttribute('node', 'harbour:moon')")
    page.evaluate("added.setAttribute('order', 'newest'); added.removeAttribute('order')")
    page.evaluate("added.style.color = 'red'")
    assert quietly(page, made) == []

    page.evaluate("added.setAttribute('order', 'newest')")
    expect(page.get_by_role("combobox")).to_have_value("newest")
    page.evaluate("added.lang = 'de'; added.setAttribute('node', 'harbour:sun')")
    expect(page.get_by_text("Sun is up.")).to_be_visible()
    expect(page.get_by_role("heading", name="1 Kommentar")).to_be_visible()
    assert [each.partition("?")[0][-4:] for each in quietly(page, made)] == ["ents", "ents"]


MOVES = {
    "append": "document.querySelector('main').append(added)",
    "before": "document.querySelector('#there').before(added)",
    "into a component": """(() => {
        const host = document.querySelector('#there');
        (host.shadowRoot || host.attachShadow({ mode: 'open' })).append(added);
    })()""",
    "out and in": "added.remove(); document.body.append(added)",
}


def test_an_element_that_moves_neither_loads_nor_counts_again(
    calls: tuple[Page, list[str]],
) -> None:
    page, made = calls

    def stays(name: str) -> None:
        attributes, call = NEEDS[name]
        made.clear()
        page.evaluate(ADD, {"name": name, "attributes": attributes, "into": ""})
        wait_for(page, made, call)
        for move in MOVES.values():
            page.evaluate(move)
            settle(page)
        assert [call in each for each in quietly(page, made)] == [True], made

    assert failing(NEEDS, stays) == []


def test_a_wrong_id_is_named_and_leaves_the_pages_own_link(
    calls: tuple[Page, list[str]],
) -> None:
    page, made = calls
    page.evaluate(ADD, {"name": "plaza-comments", "attributes": {"node": "blog:café"}, "into": ""})

    expect(page.get_by_role("alert")).to_have_text(
        "This page is not set up well: “blog:café” is no id."
    )
    expect(page.get_by_role("link", name="plain")).to_be_visible()
    assert quietly(page, made) == []

    page.evaluate("added.setAttribute('node', 'harbour:moon')")
    expect(page.get_by_text("Moon is up.")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_elements_that_show_no_words_tell_a_wrong_id_on_the_console(
    site: Site, open_page: OpenPage
) -> None:
    told: list[str] = []
    wrong = {"plaza-count": ({"node": "a b"}), "plaza-hit": {"site": "Harbour"}}
    wrong["plaza-ad"] = {"site": "harbour", "zone": "top/left"}
    page = open_page(
        site,
        may_log="is no id",
        before=lambda page: page.on("console", lambda each: told.append(each.text)),
    )
    for name, attributes in wrong.items():
        page.evaluate(ADD, {"name": name, "attributes": attributes, "into": ""})
    until(page, lambda: len(told) >= len(wrong))

    assert sorted(re.findall(r'<([\w-]+)>: (\w+="[^"]*") is no id', " ".join(told))) == [
        ("plaza-ad", 'zone="top/left"'),
        ("plaza-count", 'node="a b"'),
        ("plaza-hit", 'site="Harbour"'),
    ]
    expect(page.get_by_role("link", name="plain")).to_have_count(3)


# Answers of another shape than the API's: each is a fault that no element expects.
SPOILT = {
    "plaza-comments": ({"node": MOON}, re.compile(r"/comments\?"), "{}"),
    "plaza-feed": ({"user": "ann"}, re.compile(r"/wall\?"), '{"posts": [{}], "next": null}'),
    "plaza-cart": ({"site": "harbour"}, re.compile(r"/carts/"), '{"lines": 7}'),
    "plaza-ad": ({"site": "harbour", "zone": "top"}, re.compile(r"/ads/"), '{"ads": [{}]}'),
    "plaza-count": ({"node": MOON}, re.compile(r"/comment-counts"), "null"),
}


def test_an_exception_leaves_what_the_page_has_put_inside(site: Site, open_page: OpenPage) -> None:
    def answer(body: str) -> Callable[[Route], None]:
        headers = {"Access-Control-Allow-Origin": "*"}
        kind = "application/json"
        return lambda route: route.fulfill(body=body, content_type=kind, headers=headers)

    def spoil(page: Page) -> None:
        for _, pattern, body in SPOILT.values():
            page.route(pattern, answer(body))

    page = open_page(site, before=spoil, may_log=("Error", "Cannot read", FAILED))
    kept = f"plaza:cart:{site.api}:harbour:"
    page.evaluate("key => localStorage.setItem(key, '\"abc\"')", kept)

    def keeps(name: str) -> None:
        attributes = SPOILT[name][0]
        page.evaluate(ADD, {"name": name, "attributes": attributes, "into": ""})
        if name not in {"plaza-ad", "plaza-count"}:
            until(page, lambda: shows(page, "[role=alert]"))
        page.wait_for_load_state("networkidle")
        expect(page.locator(name).get_by_role("link", name="plain")).to_be_visible()

    assert failing(SPOILT, keeps) == []


def test_two_of_a_kind_work_beside_each_other(
    site: Site, open_page: OpenPage, token: Callable[..., str]
) -> None:
    site.token = lambda: token("ben", name="Ben")
    names = f'<plaza-comments node="{MOON}"></plaza-comments><plaza-comments node="{SUN}">'
    site.body = f"{names}</plaza-comments>"
    page = open_page(site)
    first, second = (page.locator("plaza-comments").nth(at) for at in (0, 1))
    expect(first.get_by_text("Moon is up.")).to_be_visible()
    expect(second.get_by_text("Sun is up.")).to_be_visible()

    first.get_by_role("textbox").fill("To the moon.")
    second.get_by_role("textbox").fill("To the sun.")
    second.get_by_role("button", name="Post").click()
    expect(second.get_by_text("To the sun.")).to_be_visible()
    second.get_by_role("combobox").select_option("newest")

    expect(second.locator(".text").first).to_have_text("To the sun.")
    expect(first.get_by_text("To the sun.")).to_have_count(0)
    expect(first.get_by_role("textbox")).to_have_value("To the moon.")
    expect(first.get_by_role("combobox")).to_have_value("oldest")


def test_a_page_that_comes_back_shows_its_reader_of_now(
    site: Site, open_page: OpenPage, token: Callable[..., str]
) -> None:
    """A browser keeps pages in its memory, and their reader signs in or out on another one."""
    readers: list[str] = []
    site.token = lambda: token(readers[-1], name=readers[-1].title()) if readers else None
    site.body = f'<plaza-comments node="{MOON}"></plaza-comments><plaza-feed></plaza-feed>'
    calls: list[str] = []
    page = open_page(
        site,
        may_log=FAILED,
        before=lambda page: page.on("request", lambda each: calls.append(each.url)),
    )
    expect(page.get_by_text("Sign in to", exact=False)).to_have_count(2)

    readers.append("ben")
    page.evaluate(BACK.replace("true", "false"))
    page.evaluate(BACK)
    expect(page.get_by_role("textbox")).to_have_count(2)
    calls.clear()

    # The same reader goes on where they were.
    page.get_by_role("textbox").first.fill("Half a sentence")
    page.evaluate(BACK)
    assert [each for each in quietly(page, calls) if "limit=50" in each] == []
    expect(page.get_by_role("textbox").first).to_have_value("Half a sentence")
    readers.clear()
    page.evaluate(BACK)
    expect(page.get_by_text("Sign in to", exact=False)).to_have_count(2)
