"""The form of choices beside a bell's list: channels of each kind, and quiet hours."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from chalicelib.notifications.preferences import KINDS
from deploy.web import SOURCES
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.bell import IDENTITY, PHONE, WIDER, bell, held_first, host, panel, talk
from tests.web.support.browser import until
from tests.web.support.site import Site
from tests.web.support.two import Discussion

__all__ = ["host", "talk"]  # fixtures

expect.set_options(timeout=PATIENCE_MS)
CHOICES = re.compile(r"/notifications/preferences$")
FAILED = ("Failed to load resource", "net::ERR")


def open_form(page: Page) -> None:
    bell(page).click()
    panel(page).get_by_role("button", name="Settings").click()
    expect(panel(page).get_by_role("heading")).to_have_text("What you hear of, and where")


def box(page: Page, name: str) -> Locator:
    return panel(page).get_by_role("checkbox", name=name, exact=True)


def first_hour(page: Page) -> Locator:
    return panel(page).get_by_role("combobox", name="From")


def last_hour(page: Page) -> Locator:
    return panel(page).get_by_role("combobox", name="To", exact=True)


def save(page: Page) -> None:
    panel(page).get_by_role("button", name="Save").click()


def stored(talk: Discussion) -> Any:
    return talk.client.as_("ben").get("/notifications/preferences").json


def store(talk: Discussion, **body: Any) -> None:
    assert talk.client.as_("ben").put("/notifications/preferences", **body).status == 200


def test_every_kind_is_in_one_row() -> None:
    source = (SOURCES / "choices.js").read_text()
    rows = source.partition("const ROWS = {")[2].partition("};")[0]

    assert sorted(re.findall(r'"([a-z.]+)"', rows)) == sorted(KINDS)


def test_a_reader_chooses_channels_and_quiet_hours(
    talk: Discussion, host: Site, open_page: OpenPage
) -> None:
    page = open_page(host)
    open_form(page)
    expect(box(page, "Replies to you: Here")).to_be_focused()
    expect(last_hour(page)).to_be_hidden()
    box(page, "Replies to you: E-mail").uncheck()
    box(page, "Reactions to your posts: Here").uncheck()
    expect(box(page, "Reactions to your posts: E-mail")).to_be_disabled()
    expect(box(page, "Reactions to your posts: E-mail")).not_to_be_checked()
    first_hour(page).select_option("10:00 PM")

    save(page)

    expect(panel(page).get_by_role("status")).to_have_text("Saved.")
    found = stored(talk)
    assert found["quiet"] == {"from": 22, "to": 7}
    assert {kind: each for kind, each in found["kinds"].items() if not all(each.values())} == {
        "comment.reply": {"in_app": True, "email": False, "push": True},
        "post.reaction": {"in_app": False, "email": False, "push": False},
    }
    panel(page).get_by_role("button", name="Back").click()
    expect(panel(page).get_by_role("button", name="Settings")).to_be_focused()
    panel(page).get_by_role("button", name="Settings").click()
    expect(box(page, "Replies to you: E-mail")).not_to_be_checked()
    expect(first_hour(page)).to_have_value("22")
    first_hour(page).select_option("None")
    box(page, "Reactions to your posts: Here").check()
    save(page)
    until(page, lambda: stored(talk)["quiet"] is None)
    assert all(stored(talk)["kinds"]["post.reaction"].values())


def test_some_kinds_of_a_row_stay_apart_until_the_row_is_changed(
    talk: Discussion, host: Site, open_page: OpenPage
) -> None:
    shipped = {"in_app": True, "email": False, "push": False}
    store(talk, kinds={"order.shipped": shipped, "order.refunded": {"in_app": False}})
    page = open_page(host)
    open_form(page)
    mail = box(page, "Your orders: E-mail")
    expect(mail).to_have_js_property("indeterminate", value=True)
    expect(box(page, "Your orders: Here")).to_have_js_property("indeterminate", value=True)

    save(page)

    expect(panel(page).get_by_role("status")).to_have_text("Saved.")
    kinds = stored(talk)["kinds"]
    assert kinds["order.shipped"] == shipped
    assert not any(kinds["order.refunded"].values())
    mail.uncheck()
    mail.check()
    expect(mail).to_have_js_property("indeterminate", value=True)
    save(page)
    until(page, lambda: bool(stored(talk)["kinds"]["order.shipped"]["email"]))
    # What the inbox has not comes by no other channel.
    assert not any(stored(talk)["kinds"]["order.refunded"].values())


def test_posts_on_the_own_wall_always_come_here(host: Site, open_page: OpenPage) -> None:
    page = open_page(host)
    open_form(page)

    expect(box(page, "Posts on your wall: Here")).to_be_checked()
    expect(box(page, "Posts on your wall: Here")).to_be_disabled()
    expect(box(page, "Posts on your wall: E-mail")).to_be_enabled()


def test_push_messages_are_chosen_where_the_page_has_a_worker(
    talk: Discussion, host: Site, open_page: OpenPage
) -> None:
    store(talk, kinds={"follow": {"push": False}})
    page = open_page(host)
    open_form(page)
    expect(panel(page).get_by_role("columnheader")).to_have_text(["Here", "E-mail"])
    save(page)
    expect(panel(page).get_by_role("status")).to_have_text("Saved.")
    assert stored(talk)["kinds"]["follow"] == {"in_app": True, "email": True, "push": False}

    host.body = '<plaza-bell worker="/plaza-worker.js"></plaza-bell>'
    page = open_page(host)
    open_form(page)

    expect(panel(page).get_by_role("columnheader")).to_have_text(["Here", "E-mail", "Browser"])
    box(page, "New followers: Browser").check()
    save(page)
    until(page, lambda: stored(talk)["kinds"]["follow"]["push"])


@pytest.mark.parametrize(("begin", "end"), [("7:00 AM", "22"), ("9:00 AM", "7")])
def test_hours_end_at_another_hour_than_they_begin(
    host: Site, open_page: OpenPage, begin: str, end: str
) -> None:
    page = open_page(host)
    open_form(page)
    first_hour(page).select_option("9:00 PM")
    first_hour(page).select_option(begin)

    expect(last_hour(page)).to_have_value(end)
    last_hour(page).select_option(begin)
    assert last_hour(page).input_value() != first_hour(page).input_value()


def test_a_failure_is_said_and_the_choice_stays(
    talk: Discussion, host: Site, open_page: OpenPage
) -> None:
    page = open_page(host, may_log=FAILED)
    open_form(page)
    box(page, "Mentions of you: E-mail").uncheck()
    page.route(CHOICES, lambda route: route.abort())
    save(page)
    expect(panel(page).get_by_role("alert")).not_to_be_empty()
    expect(box(page, "Mentions of you: E-mail")).not_to_be_checked()

    page.unroute(CHOICES)
    save(page)

    expect(panel(page).get_by_role("status")).to_have_text("Saved.")
    assert stored(talk)["kinds"]["comment.mention"]["email"] is False


def test_a_choice_that_is_made_while_the_last_one_is_saved_is_not_called_saved(
    host: Site, open_page: OpenPage
) -> None:
    page = open_page(host)
    open_form(page)
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "PUT":
            held.append(route)
        else:
            route.continue_()

    page.route(CHOICES, hold)
    save(page)
    until(page, lambda: bool(held))
    box(page, "Mentions of you: E-mail").uncheck()

    with page.expect_response(CHOICES):
        held[0].continue_()
    page.evaluate("new Promise((done) => setTimeout(done))")

    expect(panel(page).get_by_text("Saved.")).to_have_count(0)


def test_choices_of_another_reader_are_not_shown(
    talk: Discussion, host: Site, open_page: OpenPage
) -> None:
    page = open_page(host)
    bell(page).click()
    held = held_first(page, CHOICES)
    panel(page).get_by_role("button", name="Settings").click()
    until(page, lambda: bool(held))

    host.token = lambda: talk.client.token("cleo", name="Cleo")
    page.evaluate(IDENTITY)
    expect(panel(page)).to_be_hidden()
    route, answer = held[0]
    route.fulfill(response=answer)
    bell(page).click()

    expect(panel(page).get_by_role("heading")).to_have_text("Notifications")
    expect(panel(page).get_by_role("checkbox")).to_have_count(0)


def test_forms_look_the_same_whichever_was_opened_before(host: Site, open_page: OpenPage) -> None:
    page = open_page(host)
    open_form(page)
    checkbox = size(box(page, "Replies to you: Here"))
    panel(page).get_by_role("button", name="Back").click()
    address = size_of_address(page)
    panel(page).get_by_role("button", name="Settings").click()

    assert size(box(page, "Replies to you: Here")) == checkbox
    panel(page).get_by_role("button", name="Back").click()
    assert size_of_address(page) == address
    assert checkbox[0] == checkbox[1] < 25 < address[1] < 100 < address[0]


def size(shown: Locator) -> list[float]:
    found: list[float] = shown.evaluate("each => [each.offsetWidth, each.offsetHeight]")
    return found


def size_of_address(page: Page) -> list[float]:
    """Open the form of letters, and go back; return the size of its address."""
    panel(page).get_by_role("button", name="By e-mail").click()
    panel(page).get_by_role("combobox", name="When").select_option("At once")
    found = size(panel(page).get_by_label("E-mail address"))
    panel(page).get_by_role("button", name="Back").click()
    return found


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_the_form_fits_a_phone_and_all_may_use_it(
    host: Site, open_page: OpenPage, axe: str, language: str
) -> None:
    host.language = language
    host.body = '<plaza-bell worker="/plaza-worker.js"></plaza-bell>'
    page = open_page(host, **PHONE)
    element = page.locator("plaza-bell")
    element.get_by_role("button").first.click()
    element.locator("header button").last.click()
    expect(element.get_by_role("checkbox").first).to_be_focused()

    assert page.evaluate(WIDER) == 0
    assert in_both_schemes(page, axe) == []
