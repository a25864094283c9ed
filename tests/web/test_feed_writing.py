"""What a reader of a feed writes there: posts and comments; and what fails on the way."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import WITHOUT_STORAGE, confirm, failing_once
from tests.web.support.site import Site
from tests.web.support.town import Town, write

expect.set_options(timeout=PATIENCE_MS)
FAILED = "Failed to load resource"


@pytest.fixture(autouse=True)
def town(client: Client, workers: Workers, clock: Clock, site: Site) -> Town:
    """People who follow each other; Ann reads her news on the site's page."""
    town = Town(client, workers, clock)
    town.settle()
    site.body = "<plaza-feed></plaza-feed>"
    site.token = lambda: client.token("ann", name="Ann")
    return town


def composer(page: Page) -> Page:
    """Wait for the form for a post."""
    expect(page.get_by_role("textbox", name="What is new?")).to_be_visible()
    return page


def test_who_writes_has_a_form_once_its_file_comes(site: Site, open_page: OpenPage) -> None:
    page = open_page(site, may_log=FAILED, before=failing_once("writing.js", []))
    expect(page.get_by_role("alert")).to_have_text("Plaza cannot be reached.")

    page.get_by_role("button", name="Try again").click()

    composer(page)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_post_goes_to_the_circle_that_was_chosen(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    page = composer(open_page(site))
    page.get_by_role("textbox", name="What is new?").focus()
    page.get_by_role("combobox", name="Who may see it").select_option("Friends")

    write(page, "What is new?", "For friends.")

    expect(page.get_by_role("status").get_by_text("Posted.")).to_be_visible()
    post = page.get_by_role("article", name="Ann")
    expect(post).to_contain_text("for circles")
    focused = "document.querySelector('plaza-feed').shadowRoot.activeElement.localName"
    assert page.evaluate(focused) == "li"
    (stored,) = town.wall("ann")
    assert stored["circles"] == ["friends"]
    assert stored["detail"] == {"text": "For friends."}


def test_a_draft_for_few_never_becomes_one_for_everybody(site: Site, open_page: OpenPage) -> None:
    page = composer(open_page(site))
    page.get_by_role("textbox", name="What is new?").fill("Half a thought")
    page.get_by_role("combobox").select_option("Friends")

    page.reload()

    expect(page.get_by_role("textbox", name="What is new?")).to_have_value("Half a thought")
    expect(page.get_by_role("combobox")).to_have_value("friends")
    page.get_by_role("textbox", name="What is new?").focus()
    options = page.get_by_role("combobox").get_by_role("option")
    expect(options).to_have_text(["Everybody", "All my circles", "Friends"])


def test_a_draft_for_everybody_names_everybody_once(site: Site, open_page: OpenPage) -> None:
    page = composer(open_page(site))
    page.get_by_role("textbox", name="What is new?").fill("Half a thought")

    page.reload()

    expect(page.get_by_role("textbox", name="What is new?")).to_have_value("Half a thought")
    page.get_by_role("textbox", name="What is new?").focus()
    options = page.get_by_role("combobox").get_by_role("option")
    expect(options).to_have_text(["Everybody", "All my circles", "Friends"])
    expect(page.get_by_role("combobox")).to_have_value("*public*")


def test_another_reader_of_the_same_browser_gets_no_draft_of_the_first(
    site: Site, client: Client, open_page: OpenPage
) -> None:
    page = composer(open_page(site))
    page.get_by_role("textbox", name="What is new?").fill("Ann's secret")
    site.token = lambda: client.token("ben", name="Ben")
    with page.expect_response("**/news*"):
        page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")

    expect(page.get_by_role("textbox", name="What is new?")).to_have_value("")


@pytest.mark.parametrize("storage", WITHOUT_STORAGE)
def test_without_storage_a_draft_lives_as_long_as_the_page(
    site: Site, open_page: OpenPage, storage: str
) -> None:
    none = WITHOUT_STORAGE[storage]
    page = composer(open_page(site, before=lambda page: page.add_init_script(none)))
    page.get_by_role("textbox", name="What is new?").fill("Half a thought")

    with page.expect_response("**/news*"):
        page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")

    expect(page.get_by_role("textbox", name="What is new?")).to_have_value("Half a thought")


def test_a_post_whose_answer_is_lost_is_posted_once(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    page = composer(open_page(site, may_log=FAILED))
    lost: list[bool] = []

    def lose_first(route: Route) -> None:
        if lost:
            route.continue_()
        else:
            lost.append(True)
            route.fetch()
            route.abort()

    page.route("**/posts", lose_first)
    write(page, "What is new?", "Said once.")
    expect(page.get_by_role("alert")).to_have_text(
        "Plaza cannot be reached. Your text is kept here."
    )
    expect(page.get_by_role("textbox", name="What is new?")).to_have_value("Said once.")
    page.get_by_role("button", name="Post", exact=True).click()

    expect(page.get_by_role("article", name="Ann")).to_have_count(1)
    assert len(town.wall("ann")) == 1


def test_what_is_on_its_way_cannot_be_changed_and_lost(site: Site, open_page: OpenPage) -> None:
    page = composer(open_page(site))
    held: list[Route] = []
    page.route("**/posts", lambda route: held.append(route))  # noqa: PLW0108 - playwright marks it
    field = page.get_by_role("textbox", name="What is new?")
    with page.expect_request("**/posts"):
        write(page, "What is new?", "Slow.")

    expect(field).not_to_be_editable()
    expect(page.get_by_role("button", name="Sending")).to_be_disabled()
    held[0].continue_()

    expect(field).to_be_editable()
    expect(field).to_have_value("")


def test_a_circle_that_was_deleted_meanwhile_is_told_and_the_text_kept(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    page = composer(open_page(site, may_log=FAILED))
    page.get_by_role("textbox", name="What is new?").focus()
    page.get_by_role("combobox").select_option("Friends")
    assert town.as_("ann").delete("/users/me/circles/friends").status == 204

    write(page, "What is new?", "To nobody.")

    expect(page.get_by_role("alert")).to_contain_text("This circle is no longer there")
    expect(page.get_by_role("textbox", name="What is new?")).to_have_value("To nobody.")


def test_a_comment_joins_those_that_were_not_shown_yet(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    post = town.post("Discuss.")
    for number in range(5):
        town.comment(post, f"Comment {number}")
    page = open_page(site)
    comments = page.locator(".comments li")
    expect(comments).to_have_count(3)

    page.get_by_role("button", name="5 comments").press("Enter")
    expect(comments).to_have_count(5)
    expect(comments.first).to_be_focused()
    page.get_by_role("button", name="Comment", exact=True).click()
    write(page, "Reply to Ben", "The last.")

    expect(comments).to_have_count(6)
    expect(comments.last).to_contain_text("The last.")
    expect(page.get_by_role("button", name="Comment", exact=True)).to_be_focused()
    assert len(town.as_("ann").get(f"/posts/{post}/comments").json["comments"]) == 6


def test_a_post_that_is_deleted_under_its_reader_says_so_and_keeps_the_text(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    post = town.post("Gone soon.")
    page = open_page(site, may_log=FAILED)
    page.get_by_role("button", name="Comment").click()
    assert town.as_("ben").delete(f"/posts/{post}").status == 204

    write(page, "Reply to Ben", "Too late.")

    expect(page.get_by_role("alert")).to_contain_text("This post is no longer there")
    expect(page.get_by_role("textbox", name="Reply to Ben")).to_have_value("Too late.")


def test_an_author_changes_and_deletes_a_post_and_nobody_else_can(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    site.body = '<plaza-feed view="wall"></plaza-feed>'
    place = {"place": "The wall", "text": "Fog."}
    town.post(sub="ann", type="checkin", detail=place)
    page = open_page(site)
    page.get_by_role("button", name="Edit").click()

    write(page, "Edit", "Sun.", "Save")

    expect(page.get_by_role("article")).to_contain_text("Sun.")
    expect(page.get_by_role("article")).to_contain_text("edited")
    (stored,) = town.wall("ann")
    assert stored["detail"] == {**place, "text": "Sun."}
    confirm(page, "Delete")
    expect(page.get_by_role("article")).to_have_count(0)
    expect(page.get_by_role("status").get_by_text("The post was deleted.")).to_be_visible()
    assert town.wall("ann") == []


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        (503, "unavailable", re.compile("not available")),
        (429, "too_fast", "You write faster"),
        (401, "unauthenticated", re.compile("sign-in has ended.*text is kept")),
    ],
)
def test_a_failure_is_told_and_loses_no_text(
    site: Site, open_page: OpenPage, status: int, code: str, told: str | re.Pattern[str]
) -> None:
    page = composer(open_page(site, may_log=FAILED))
    problem = {"code": code, "title": "A title", "status": status, "type": "about:blank"}
    headers = {"Access-Control-Allow-Origin": "*", "Content-Type": "application/problem+json"}
    page.route(
        "**/posts", lambda route: route.fulfill(status=status, json=problem, headers=headers)
    )

    write(page, "What is new?", "Kept.")

    expect(page.get_by_role("alert")).to_contain_text(told)
    expect(page.get_by_role("textbox", name="What is new?")).to_have_value("Kept.")


def test_the_keyboard_alone_is_enough(town: Town, site: Site, open_page: OpenPage) -> None:
    page = composer(open_page(site))

    page.keyboard.press("Tab")
    page.keyboard.type("By keyboard.")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("article", name="Ann")).to_contain_text("By keyboard.")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Comment")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Reply to Ann")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Comment")).to_be_focused()
    assert len(town.wall("ann")) == 1


def test_reading_goes_on_where_the_file_for_writing_does_not_come_yet(
    town: Town, site: Site, open_page: OpenPage
) -> None:
    town.post("Read me.")
    page = open_page(
        site,
        may_log=FAILED,
        before=lambda page: page.route("**/writing.js", lambda route: route.abort()),
    )

    expect(page.get_by_text("Read me.")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_count(0)
    page.unroute_all()
    page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    expect(page.get_by_role("textbox", name="What is new?")).to_be_visible()
