"""What happens while somebody reads or writes: a slow API, a token that ends, a deleted comment."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import stop_time
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
FAILED = "Failed to load resource"


@pytest.fixture(autouse=True)
def node(client: Client, site: Site, token: Callable[..., str], clock: Clock) -> Client:
    """A node with a comment of Bob's; Ann reads its page."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    inside = '<a href="#">Read the discussion</a>'
    site.body = f'<plaza-comments node="{NODE}">{inside}</plaza-comments>'
    site.token = lambda: token("ann", name="Ann", exp=clock() + timedelta(hours=1))
    return client


@pytest.fixture
def comment(node: Client) -> str:
    """The id of Bob's comment."""
    reply = node.as_("bob").post(f"/nodes/{NODE}/comments", text="Full tonight.")
    return str(reply.json["id"])


class Held:
    """Calls of a page that are not answered until they are let go."""

    def __init__(self, method: str) -> None:
        self._method = method
        self._routes: list[Route] = []
        self._is_open = False

    def hold(self, page: Page) -> None:
        page.route("**/comments*", self._take)

    def _take(self, route: Route) -> None:
        if route.request.method == self._method and not self._is_open:
            self._routes.append(route)
        else:
            route.continue_()

    def let_go(self) -> None:
        self._is_open = True
        for route in self._routes:
            route.continue_()


def write(page: Page, label: str, text: str, button: str) -> None:
    field = page.get_by_role("textbox", name=label)
    field.fill(text)
    page.locator("form", has=field).get_by_role("button", name=button).click()


@pytest.mark.usefixtures("comment")
def test_while_a_discussion_is_on_its_way_the_pages_own_link_is_there(
    site: Site, open_page: OpenPage
) -> None:
    held = Held("GET")
    page = open_page(site, before=held.hold)
    expect(page.get_by_role("link", name="Read the discussion")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)

    held.let_go()

    expect(page.get_by_text("Full tonight.")).to_be_visible()


def test_while_a_text_is_on_its_way_the_page_says_so_and_keeps_it(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    page = open_page(site)
    held = Held("POST")
    held.hold(page)
    write(page, "Write a comment", "Said slowly.", "Post")
    sending = page.get_by_role("button", name="Sending")
    expect(sending).to_be_focused()
    expect(sending).to_be_disabled()
    expect(page.get_by_role("textbox", name="Write a comment")).to_have_value("Said slowly.")

    held.let_go()

    expect(page.get_by_role("status")).to_have_text("Posted.")
    assert len(node.get(f"/nodes/{NODE}/comments").json["comments"]) == 1


def test_a_token_that_ends_while_somebody_writes_is_asked_for_anew(
    node: Client, site: Site, open_page: OpenPage, token: Callable[..., str], clock: Clock
) -> None:
    page = open_page(site, may_log=FAILED)
    page.get_by_role("textbox", name="Write a comment").fill("Written for hours.")
    clock.advance(hours=3)
    site.token = lambda: token("ann", name="Ann")

    page.get_by_role("button", name="Post").click()

    expect(page.get_by_role("status")).to_have_text("Posted.")
    (said,) = node.get(f"/nodes/{NODE}/comments").json["comments"]
    assert (said["author"]["id"], said["text"]) == ("ann", "Written for hours.")


def test_a_session_that_ends_while_somebody_writes_is_told_and_loses_no_text(
    site: Site, open_page: OpenPage, clock: Clock
) -> None:
    page = open_page(site, may_log=FAILED)
    page.get_by_role("textbox", name="Write a comment").fill("Written for hours.")
    clock.advance(hours=3)
    site.token = lambda: None

    page.get_by_role("button", name="Post").click()

    expect(page.get_by_role("alert")).to_contain_text(re.compile("sign in", re.IGNORECASE))
    expect(page.get_by_role("textbox", name="Write a comment")).to_have_value("Written for hours.")


def test_a_reply_to_what_was_deleted_meanwhile_is_told_and_kept(
    node: Client, site: Site, open_page: OpenPage, comment: str
) -> None:
    page = open_page(site, may_log=FAILED)
    page.get_by_role("button", name="Reply").click()
    assert node.as_("bob").delete(f"/nodes/{NODE}/comments/{comment}").status == 204

    write(page, "Reply to Bob", "Is it?", "Post")

    expect(page.get_by_role("alert")).to_contain_text("no longer there")
    expect(page.get_by_role("textbox", name="Reply to Bob")).to_have_value("Is it?")


def test_who_writes_too_fast_sees_for_how_long_and_sends_it_by_their_own_click(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    page = open_page(site, may_log=FAILED, before=stop_time)
    refused: list[Route] = []

    def refuse_first(route: Route) -> None:
        if route.request.method == "POST" and not refused:
            refused.append(route)
            exposed = {"Access-Control-Expose-Headers": "Retry-After", "Retry-After": "40"}
            headers = {"Access-Control-Allow-Origin": "*", **exposed}
            route.fulfill(status=429, json={"code": "too_fast", "status": 429}, headers=headers)
        else:
            route.continue_()

    page.route("**/comments", refuse_first)
    page.get_by_role("textbox", name="Write a comment").fill("In a hurry.")
    page.clock.run_for(5_000)
    button = page.get_by_role("button", name="Post", exact=True)
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("You write faster")
    expect(button).to_have_text("Post · 40 sec")
    page.clock.run_for(38_000)
    expect(button).to_have_text("Post · 2 sec")
    expect(button).to_have_attribute("aria-disabled", "true")
    page.get_by_role("textbox", name="Write a comment").press("Control+Enter")
    page.clock.run_for(2_000)
    expect(page.get_by_text("You can send it now.")).to_be_visible()
    assert node.get(f"/nodes/{NODE}/comments").json["comments"] == []

    button.click()

    expect(page.get_by_text("Posted.")).to_be_visible()
    (said,) = node.get(f"/nodes/{NODE}/comments").json["comments"]
    assert said["text"] == "In a hurry."
