"""A discussion on somebody else's page, under the strictest policy: read, write, and what fails."""

import re
from collections.abc import Callable
from itertools import product
from typing import Literal

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import SCHEMES
from tests.web.support.browser import confirm
from tests.web.support.rows import failing
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
COMMENTS = f'<plaza-comments node="{NODE}"><a href="#">Read the discussion</a></plaza-comments>'
PHONE = {"viewport": {"width": 320, "height": 700}}
# What Chromium logs of an answer that is no success.
FAILED = "Failed to load resource"


@pytest.fixture(autouse=True)
def node(client: Client, site: Site) -> Client:
    """A node with nothing in it; its page is the site's."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    site.body = COMMENTS
    return client


@pytest.fixture
def signed_in(site: Site, token: Callable[..., str]) -> Callable[[str], None]:
    """Signs somebody in on the site; "" signs out."""

    def as_(sub: str) -> None:
        site.token = (lambda: token(sub, name=sub.title())) if sub else (lambda: None)

    return as_


@pytest.fixture
def writing(site: Site, open_page: OpenPage, signed_in: Callable[[str], None]) -> Page:
    """The page of a reader who may write, and whose calls may fail."""
    signed_in("ann")
    return open_page(site, may_log=FAILED)


def posted(client: Client, text: str, parent: str | None = None, sub: str = "ann") -> str:
    """Post a comment by the API; return its id."""
    body = {"text": text, **({"parent": parent} if parent else {})}
    reply = client.as_(sub).post(f"/nodes/{NODE}/comments", **body)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def write(page: Page, label: str, text: str, button: str = "Post") -> None:
    """Type a text into the field of this label, and send it."""
    field = page.get_by_role("textbox", name=label)
    field.fill(text)
    page.locator("form", has=field).get_by_role("button", name=button).click()


def test_a_guest_reads_a_thread_and_is_asked_to_sign_in(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    first = posted(node, "The *moon* is up.")
    posted(node, "So it is.", parent=first, sub="ben")

    page = open_page(site)

    expect(page.get_by_role("heading", name="2 comments")).to_be_visible()
    reply = page.locator(f"#c-{first} .thread article")
    expect(reply).to_contain_text("So it is.")
    expect(page.locator(f"#c-{first} > article em")).to_have_text("moon")
    expect(page.get_by_role("button", name="Sign in to comment")).to_be_visible()
    expect(page.get_by_role("button", name="Reply")).to_have_count(0)


def test_a_comment_is_posted_replied_to_edited_and_deleted(
    node: Client, site: Site, open_page: OpenPage, signed_in: Callable[[str], None]
) -> None:
    signed_in("ann")
    page = open_page(site)

    write(page, "Write a comment", "The moon is up.")
    expect(page.get_by_role("heading", name="1 comment")).to_be_visible()
    page.get_by_role("button", name="Reply").click()
    write(page, "Reply to Ann", "So it is.")
    expect(page.locator(".thread .thread article")).to_contain_text("So it is.")
    page.locator(".thread .thread").get_by_role("button", name="Edit").click()
    write(page, "Edit", "So it is, indeed.", "Save")
    expect(page.locator(".thread .thread article")).to_contain_text("indeed")
    expect(page.locator(".thread .thread article i")).to_have_text("edited")
    confirm(page.locator(".thread .thread"), "Delete")

    expect(page.locator(".thread .thread article")).to_have_count(0)
    expect(page.get_by_role("heading", name="1 comment")).to_be_visible()
    stored = node.get(f"/nodes/{NODE}/comments").json["comments"]
    assert [each["text"] for each in stored] == ["The moon is up."]


def test_the_keyboard_alone_is_enough(
    node: Client, site: Site, open_page: OpenPage, signed_in: Callable[[str], None]
) -> None:
    signed_in("ann")
    page = open_page(site)
    expect(page.get_by_role("textbox", name="Write a comment")).to_be_visible()

    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("By keyboard.")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("status")).to_have_text("Posted.")
    focused = "document.querySelector('plaza-comments').shadowRoot.activeElement.localName"
    assert page.evaluate(focused) == "li"
    assert len(node.get(f"/nodes/{NODE}/comments").json["comments"]) == 1


def test_further_pages_come_when_they_are_asked_for(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    for number in range(51):
        posted(node, f"Comment {number}")
    page = open_page(site)

    expect(page.get_by_role("article")).to_have_count(50)
    page.get_by_role("button", name="Show more").click()

    expect(page.get_by_role("article")).to_have_count(51)
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    expect(page.get_by_role("listitem").last).to_be_focused()


def test_a_draft_survives_a_reload_and_goes_once_it_is_posted(
    site: Site, open_page: OpenPage, signed_in: Callable[[str], None]
) -> None:
    signed_in("ann")
    page = open_page(site)
    page.get_by_role("textbox", name="Write a comment").fill("Half a thought")
    page.reload()

    field = page.get_by_role("textbox", name="Write a comment")
    expect(field).to_have_value("Half a thought")
    write(page, "Write a comment", "A whole one")
    expect(field).to_have_value("")
    page.reload()

    expect(page.get_by_role("textbox", name="Write a comment")).to_have_value("")


def test_a_post_whose_answer_is_lost_is_posted_once(
    node: Client, site: Site, open_page: OpenPage, signed_in: Callable[[str], None]
) -> None:
    """The second click sends the same key, so that the server knows the comment again."""
    signed_in("ann")
    page = open_page(site, may_log=FAILED)
    lost: list[bool] = []

    def lose_first(route: Route) -> None:
        if route.request.method == "POST" and not lost:
            lost.append(True)
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/comments", lose_first)
    write(page, "Write a comment", "Said once.")
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(page.get_by_role("textbox", name="Write a comment")).to_have_value("Said once.")
    page.get_by_role("button", name="Post").click()

    expect(page.get_by_role("status")).to_have_text("Posted.")
    assert len(node.get(f"/nodes/{NODE}/comments").json["comments"]) == 1


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        (503, "unavailable", re.compile("try|again|moment|later", re.IGNORECASE)),
        (429, "too_fast", "You write faster"),
        (409, "node_locked", re.compile("closed", re.IGNORECASE)),
        (418, "unheard_of", "That did not work: A title"),
    ],
)
def test_a_failure_is_told_and_loses_no_text(
    writing: Page, status: int, code: str, told: str | re.Pattern[str]
) -> None:
    page = writing
    problem = {"code": code, "title": "A title", "status": status, "type": "about:blank"}
    headers = {"Access-Control-Allow-Origin": "*", "Content-Type": "application/problem+json"}

    def refuse(route: Route) -> None:
        if route.request.method == "POST":
            route.fulfill(status=status, json=problem, headers=headers)
        else:
            route.continue_()

    page.route("**/comments", refuse)
    write(page, "Write a comment", "Kept.")

    expect(page.get_by_role("alert")).to_contain_text(told)
    expect(page.get_by_role("textbox", name="Write a comment")).to_have_value("Kept.")


def test_a_discussion_that_was_closed_while_somebody_wrote_says_so(
    node: Client, site: Site, open_page: OpenPage, signed_in: Callable[[str], None]
) -> None:
    signed_in("ann")
    page = open_page(site, may_log=FAILED)
    expect(page.get_by_role("textbox", name="Write a comment")).to_be_visible()
    admin = node.as_("admin", roles=["admin"])
    admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/", locked=True)

    write(page, "Write a comment", "Too late.")

    expect(page.get_by_role("alert")).to_contain_text("closed")
    expect(page.get_by_role("textbox", name="Write a comment")).to_have_value("Too late.")


def test_a_token_that_has_ended_is_asked_for_anew(
    site: Site, open_page: OpenPage, token: Callable[..., str], clock: Clock
) -> None:
    given = [token("ann", name="Ann", exp=int(clock().timestamp()) - 10), token("ann", name="Ann")]
    site.token = lambda: given.pop(0) if len(given) > 1 else given[0]

    page = open_page(site, may_log=FAILED)

    expect(page.get_by_role("textbox", name="Write a comment")).to_be_visible()


def test_the_link_to_a_comment_finds_it_on_whichever_page_it_is(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    ids = [posted(node, f"Comment {number}") for number in range(60)]
    page = open_page(site)
    expect(page.get_by_role("article")).to_have_count(50)

    page.evaluate(f"location.hash = '#plaza-{ids[-1]}'")

    expect(page.locator(f"#c-{ids[-1]}")).to_have_class("target")
    expect(page.locator(f"#c-{ids[-1]}")).to_be_in_viewport()


def test_what_waits_for_a_moderator_is_shown_to_its_author(
    node: Client, site: Site, open_page: OpenPage, signed_in: Callable[[str], None]
) -> None:
    admin = node.as_("admin", roles=["admin"])
    admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/", moderation="before")
    signed_in("ann")
    page = open_page(site)

    write(page, "Write a comment", "May I?")

    expect(page.locator(".badge")).to_have_text("waits for a moderator")
    expect(page.get_by_role("status")).to_have_text("waits for a moderator")


def test_it_fits_on_a_phone_in_every_direction(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    parent = None
    for depth in range(6):
        parent = posted(node, f"{'long ' * 20} {depth} {'x' * 200}", parent=parent)
    page = open_page(site, **PHONE)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    direction = "document.querySelector('plaza-comments').shadowRoot.querySelector('section').dir"

    def fits(row: tuple[str, Literal["light", "dark"]]) -> None:
        site.language, scheme = row
        page.emulate_media(color_scheme=scheme)
        page.reload()
        expect(page.get_by_role("article")).to_have_count(6)
        assert page.evaluate(wide) == 0
        assert page.evaluate(direction) == ("rtl" if site.language == "ar" else "ltr")

    assert failing(product(("en", "de", "ar"), SCHEMES), fits) == []


def test_without_the_api_the_pages_own_link_stays(site: Site, open_page: OpenPage) -> None:
    page = open_page(
        site,
        may_log=FAILED,
        before=lambda page: page.route("**/nodes/**", lambda route: route.abort()),
    )

    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(page.get_by_role("link", name="Read the discussion")).to_be_visible()


def test_a_discussion_that_came_late_comes_by_the_button(site: Site, open_page: OpenPage) -> None:
    down = [True]

    def answer(route: Route) -> None:
        if down:
            route.abort()
        else:
            route.continue_()

    page = open_page(site, may_log=FAILED, before=lambda page: page.route("**/nodes/**", answer))
    expect(page.get_by_role("alert")).to_be_visible()
    down.clear()
    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("heading", name="Nobody has said anything yet.")).to_be_visible()
