"""What tells a program from a person: a field that nobody sees, and how long a form was open."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
FIELD = "document.querySelector('plaza-comments').shadowRoot.querySelector('[name=website]')"


@pytest.fixture(autouse=True)
def node(client: Client, site: Site, token: Callable[..., str]) -> Client:
    """A node with nothing in it; Ann reads its page."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    site.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
    site.token = lambda: token("ann", name="Ann")
    return client


def reasons(client: Client) -> list[list[str]]:
    """Return why each comment of the queue waits."""
    queue = (
        client.as_("mo", roles=["moderator"])
        .get("/moderation/comments?queue=spam")
        .json["comments"]
    )
    return [each["reasons"] for each in queue]


def write(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Write a comment").fill(text)


def send(page: Page) -> None:
    page.get_by_role("button", name="Post").click()


def test_what_fills_in_the_field_that_nobody_sees_waits_for_a_moderator(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    page = open_page(site)
    write(page, "Buy boats.")
    page.evaluate(f"{FIELD}.value = 'https://boats.example'")

    send(page)

    expect(page.locator(".badge")).to_have_text("waits for a moderator")
    assert reasons(node) == [["decoy"]]
    assert page.evaluate(f"{FIELD}.value") == ""


def test_what_is_sent_as_soon_as_the_form_is_there_waits_for_a_moderator(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    stopped = "performance.now = () => 7"
    page = open_page(site, before=lambda page: page.add_init_script(stopped))
    write(page, "Buy boats.")

    send(page)

    expect(page.locator(".badge")).to_have_text("waits for a moderator")
    assert reasons(node) == [["too_quick"]]


def test_people_meet_the_field_neither_by_eye_nor_by_keyboard_nor_by_screen_reader(
    site: Site, open_page: OpenPage
) -> None:
    page = open_page(site)
    expect(page.get_by_role("textbox")).to_have_count(1)

    page.get_by_role("textbox").focus()
    page.keyboard.press("Tab")

    expect(page.get_by_role("button", name="Post")).to_be_focused()
    box = page.locator(".decoy").bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (1, 1)
    page.evaluate(f"{FIELD}.focus()")
    expect(page.get_by_role("button", name="Post")).to_be_focused()


def test_a_second_try_says_the_same_of_the_time_so_that_it_is_the_same_call(
    site: Site, open_page: OpenPage
) -> None:
    sent: list[Any] = []

    def lose_first(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        sent.append(route.request.post_data_json)
        if len(sent) == 1:
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page = open_page(site, may_log="Failed to load resource")
    page.route("**/comments", lose_first)
    write(page, "Said once.")
    send(page)
    expect(page.get_by_role("alert")).to_be_visible()
    page.reload()

    expect(page.get_by_role("textbox")).to_have_value("Said once.")
    send(page)

    expect(page.get_by_role("status")).to_have_text("Posted.")
    assert sent[0] == sent[1]
    assert sent[0]["written_ms"] >= 4_000
