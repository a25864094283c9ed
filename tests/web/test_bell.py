"""A bell in a page: how much its reader has not seen, by number, in every tab."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Request, Route, expect

from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.bell import (
    CHANGES,
    CORS,
    IDENTITY,
    INBOX,
    badge,
    bell,
    held_first,
    host,
    panel,
    replied,
    rows,
    talk,
)
from tests.web.support.browser import answer_read, count_answers, until
from tests.web.support.site import Site
from tests.web.support.two import POLL_MS, Discussion, with_clock
from tests.web.test_changes import Passing

__all__ = ["host", "replied", "talk"]  # fixtures

expect.set_options(timeout=PATIENCE_MS)
CALLS = re.compile(r"/notifications|/changes")


def noting(made: list[Request]) -> Callable[[Page], object]:
    """Return what notes the calls that a page makes."""
    return lambda page: page.on(
        "request", lambda each: made.append(each) if CALLS.search(each.url) else None
    )


def test_a_reply_is_counted_seen_in_all_tabs_and_read_by_following_it(
    talk: Discussion, host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    reply = replied()
    replied("Look, @Ben.", by="cleo", mentions=["ben"])
    page = open_page(host)
    expect(bell(page)).to_have_accessible_name("Notifications: 2 new")
    expect(badge(page)).to_have_text("2")
    other = page.context.new_page()
    other.goto(host.address)
    expect(badge(other)).to_have_text("2")

    bell(page).click()

    expect(rows(page)).to_have_count(2)
    expect(rows(page).first).to_contain_text("Cleo replied to you")
    expect(rows(page).last).to_contain_text("Ann replied to you")
    expect(rows(page).last).to_contain_text("It is.")
    expect(rows(page).last).to_contain_text("unread")
    expect(rows(page).last).to_contain_text("Moon")
    for each in (page, other):
        expect(badge(each)).to_have_text("")
        expect(bell(each)).to_have_accessible_name("Notifications")
    seen = talk.client.as_("ben").get("/notifications").json
    assert (seen["unseen"], seen["unread"]) == (0, 2)

    rows(page).last.get_by_role("link").click()

    page.wait_for_url(re.compile(rf"\?moon#plaza-{reply}$"))

    def is_read() -> bool:
        inbox = talk.client.as_("ben").get("/notifications").json
        return [each["read"] for each in inbox["notifications"]] == [False, True]

    until(page, is_read)
    bell(page).click()
    expect(rows(page).first).to_contain_text("unread")
    expect(rows(page).last).not_to_contain_text("unread")


def test_a_guest_has_no_bell_and_makes_no_call_until_they_sign_in(
    host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    replied()
    ben, host.token = host.token, lambda: None
    made: list[Request] = []
    page = open_page(host, before=noting(made))
    until(page, lambda: bool(page.evaluate("!!document.querySelector('plaza-bell').shadowRoot")))
    page.wait_for_load_state("networkidle")
    assert page.locator("#top").bounding_box()["height"] == 0  # type: ignore[index]
    assert made == []

    host.token = ben
    page.evaluate(IDENTITY)
    expect(badge(page)).to_have_text("1")

    host.token = lambda: None
    page.evaluate(IDENTITY)
    expect(bell(page)).to_have_count(0)
    assert page.locator("#top").bounding_box()["height"] == 0  # type: ignore[index]


def test_more_than_99_are_told_so_and_the_number_moves_nothing(
    host: Site, open_page: OpenPage
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = open_page(host, before=lambda page: page.route(CHANGES, hold))
    until(page, lambda: bool(held))
    before = page.locator("#after").bounding_box()
    size = bell(page).bounding_box()
    counts = {"versions": {"inbox": "AAAAAAAAAAAA"}, "inbox": {"unread": 100, "unseen": 100}}
    held[0].fulfill(json=counts, headers=CORS)

    expect(badge(page)).to_have_text("99+")
    expect(bell(page)).to_have_accessible_name("Notifications: more than 99 new")
    assert page.locator("#after").bounding_box() == before
    assert bell(page).bounding_box() == size


def test_an_answer_to_an_earlier_reader_is_dropped(
    talk: Discussion, host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    replied()
    page = open_page(host, before=count_answers)
    expect(badge(page)).to_have_text("1")
    held = held_first(page, INBOX)
    bell(page).click()
    until(page, lambda: bool(held and held[0][1]))

    host.token = lambda: talk.client.token("cleo", name="Cleo")
    page.evaluate(IDENTITY)
    expect(badge(page)).to_have_text("")
    expect(panel(page)).to_be_hidden()
    with answer_read(page):
        for route, answer in held:
            route.fulfill(response=answer)
    expect(badge(page)).to_have_text("")
    bell(page).click()

    expect(panel(page).get_by_role("status")).to_contain_text("Nothing yet")
    expect(badge(page)).to_have_text("")
    assert talk.client.as_("ben").get("/notifications").json["unseen"] == 1


def test_a_list_that_is_closed_before_it_is_there_has_not_been_seen(
    talk: Discussion, host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    replied()
    page = open_page(host, before=count_answers)
    expect(badge(page)).to_have_text("1")
    held = held_first(page, INBOX)
    bell(page).click()
    until(page, lambda: bool(held and held[0][1]))
    page.keyboard.press("Escape")
    expect(panel(page)).to_be_hidden()

    with answer_read(page):
        for route, answer in held:
            route.fulfill(response=answer)

    page.wait_for_load_state("networkidle")
    expect(badge(page)).to_have_text("1")
    assert talk.client.as_("ben").get("/notifications").json["unseen"] == 1


def test_what_comes_later_is_counted_by_a_look_and_a_late_look_takes_no_mark_back(
    host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    def prepare(page: Page) -> None:
        with_clock(page)
        count_answers(page)

    page = open_page(host, before=prepare)
    expect(bell(page)).to_have_accessible_name("Notifications")
    replied()
    page.clock.run_for(POLL_MS)
    expect(badge(page)).to_have_text("1")
    held = held_first(page, CHANGES)
    page.clock.run_for(POLL_MS)
    until(page, lambda: bool(held and held[0][1]))
    bell(page).click()
    expect(rows(page)).to_have_count(1)
    expect(badge(page)).to_have_text("")

    with answer_read(page):
        for route, answer in held:
            route.fulfill(response=answer)

    expect(badge(page)).to_have_text("")


def test_a_bell_whose_file_for_changes_failed_to_load_rings_once_the_network_is_back(
    host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    made: list[Passing] = []

    def before(page: Page) -> None:
        made.append(Passing.over(page))
        page.route("**/topics.js*", lambda route: route.abort())

    page = open_page(host, may_log=("Failed", "ERR_"), before=before)
    page.wait_for_load_state("networkidle")
    made[0].seconds(30)
    page.unroute("**/topics.js*")
    replied()

    made[0].seconds(120, lambda: badge(page).inner_text() == "1")

    expect(badge(page)).to_have_text("1")
