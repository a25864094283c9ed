"""The console's frame: the page that the address names is the one shown."""

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import OpenPage
from tests.web.console.conftest import Desk, handed_over


def test_a_page_that_is_loaded_late_does_not_replace_the_one_chosen_since(
    desk: Desk, open_page: OpenPage
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = handed_over(
        open_page,
        desk.token(),
        "?site=harbour",
        before=lambda page: page.route("**/console/queue.js", hold),
    )
    page.get_by_role("link", name="Log", exact=True).click()
    expect(page.get_by_role("heading", name="What moderators did")).to_be_visible()

    with page.expect_response("**/console/queue-context.js"):
        held[0].continue_()
    page.evaluate("url => import(url).then(() => {})", held[0].request.url)

    expect(page.get_by_role("heading", name="What moderators did")).to_be_visible()
    expect(page.get_by_role("heading", name="Waiting for you")).to_have_count(0)


def test_a_page_that_fails_late_does_not_replace_the_one_chosen_since(
    desk: Desk, open_page: OpenPage
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    options: dict[str, Any] = {
        "before": lambda page: page.route("**/console/queue.js", hold),
        "may_log": "net::ERR_FAILED",
    }
    page = handed_over(open_page, desk.token(), "?site=harbour", **options)
    page.get_by_role("link", name="Log", exact=True).click()
    expect(page.get_by_role("heading", name="What moderators did")).to_be_visible()

    with page.expect_event("requestfailed"):
        held[0].abort()
    page.evaluate("new Promise((done) => setTimeout(done))")

    expect(page.get_by_role("heading", name="What moderators did")).to_be_visible()
    expect(page.get_by_role("heading", name="Plaza does not answer")).to_have_count(0)


def test_a_page_that_cannot_be_loaded_says_so_and_is_tried_again(
    desk: Desk, open_page: OpenPage
) -> None:
    def cut(page: Page) -> None:
        page.route("**/console/queue.js", lambda route: route.abort())

    options: dict[str, Any] = {"before": cut, "may_log": "net::ERR_FAILED"}
    page = handed_over(open_page, desk.token(), **options)
    expect(page.get_by_role("heading", name="Plaza does not answer")).to_be_visible()
    page.unroute("**/console/queue.js")

    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()


def signed_in(page: Page) -> Locator:
    """Return the place that names who is signed in."""
    return page.get_by_role("navigation", name="Console").locator(".who b")


def test_an_address_signs_nobody_in_before_they_confirm_who_it_is(
    client: Client, open_page: OpenPage
) -> None:
    page = open_page(f"/console#token={client.token('eve', name='Mo', roles=['moderator'])}")

    expect(page.get_by_role("heading", name="Sign in?")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("Mo (eve)")
    assert "token" not in page.url
    assert page.evaluate("sessionStorage.length") == 0
    page.get_by_role("button", name="Do not sign in").click()

    expect(page.get_by_role("textbox", name="Token")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


@pytest.mark.parametrize("is_accepted", [False, True])
def test_an_address_with_anothers_token_asks_whether_to_leave_the_session_that_is_there(
    desk: Desk, client: Client, *, is_accepted: bool
) -> None:
    page = desk.open()
    token = client.token("eve", name="Eve", roles=["moderator"])

    # A link to the console that is open does not load it anew.
    page.evaluate("(token) => { location.hash = `token=${token}`; }", token)

    expect(page.get_by_role("main")).to_contain_text("Eve (eve)")
    expect(page.get_by_role("main")).to_contain_text("Mo (mo)")
    assert "token" not in page.url
    accept, refuse = "Sign in as Eve", "Stay signed in as Mo"
    page.get_by_role("button", name=accept if is_accepted else refuse).click()
    expect(signed_in(page)).to_have_text("Eve" if is_accepted else "Mo")
    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
    page.reload()
    expect(signed_in(page)).to_have_text("Eve" if is_accepted else "Mo")


def test_a_later_token_of_who_is_signed_in_is_taken_unasked(desk: Desk) -> None:
    page = desk.open()
    later = desk.client.token("mo", name="Mo Lind", roles=["moderator"])

    page.goto(f"{page.url.partition('#')[0]}?again#token={later}")

    expect(signed_in(page)).to_have_text("Mo Lind")
    assert page.evaluate("sessionStorage.getItem('plaza-console-token')") == later


def test_a_token_in_the_address_that_has_ended_leaves_the_session_and_is_told_without_one(
    desk: Desk, client: Client, clock: Clock, open_page: OpenPage
) -> None:
    ended = client.token("eve", exp=clock() - timedelta(hours=1))
    page = open_page(f"/console#token={ended}", may_log="401")
    expect(page.get_by_role("alert")).to_contain_text("is not valid, or has ended")

    page.get_by_label("Token").fill(desk.token())
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
    page.goto(f"{page.url.partition('#')[0]}?again#token={ended}")

    expect(signed_in(page)).to_have_text("Mo")


def test_a_token_for_who_reads_the_page_goes_on_with_what_has_waited(desk: Desk) -> None:
    comment = desk.post()
    page = desk.open_and_read(may_log="401")
    desk.clock.advance(days=366)
    page.keyboard.press("a")
    expect(page.get_by_role("dialog")).to_be_visible()

    page.evaluate("(token) => { location.hash = `token=${token}`; }", desk.token())

    expect(page.get_by_role("status")).to_contain_text("Approved")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url.endswith("#queue")
    assert desk.state(comment) == "visible"


def test_what_has_waited_is_not_sent_as_another(desk: Desk, client: Client) -> None:
    comment = desk.post()
    page = desk.open_and_read(may_log="401")
    desk.clock.advance(days=366)
    page.keyboard.press("a")

    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Token").fill(client.token("eve", name="Eve", roles=["moderator"]))
    dialog.get_by_role("button", name="Sign in").click()

    expect(signed_in(page)).to_have_text("Eve")
    expect(page.get_by_role("article")).to_be_focused()
    assert desk.state(comment) == "pending"


def test_a_question_for_a_token_is_asked_again_after_another_has_signed_in(
    desk: Desk, client: Client
) -> None:
    comment = desk.post()
    page = desk.open_and_read(may_log="401")
    desk.clock.advance(days=366)
    page.keyboard.press("a")
    expect(page.get_by_role("dialog")).to_be_visible()
    token = client.token("eve", name="Eve", roles=["moderator"])
    page.evaluate("(token) => { location.hash = `token=${token}`; }", token)
    page.get_by_role("button", name="Sign in as Eve").click()
    expect(page.get_by_role("article")).to_be_focused()
    assert desk.state(comment) == "pending"
    # A later token of hers sends nothing of the reader before.
    desk.clock.advance(seconds=1)
    later = client.token("eve", name="Eve", roles=["moderator"])
    page.evaluate("(token) => { location.hash = `token=${token}`; }", later)
    page.wait_for_function(
        "token => sessionStorage.getItem('plaza-console-token') === token", arg=later
    )
    page.get_by_role("link", name="Log", exact=True).click()
    expect(page.get_by_role("heading", name="What moderators did")).to_be_visible()
    page.get_by_role("link", name="Waiting", exact=True).click()
    expect(page.get_by_role("article")).to_be_focused()
    assert desk.state(comment) == "pending"

    desk.clock.advance(days=366)
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Token").fill(client.token("eve", name="Eve", roles=["moderator"]))
    dialog.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("status")).to_contain_text("Approved")
    assert desk.state(comment) == "visible"


def test_a_later_token_leaves_what_is_written_on_the_open_page(desk: Desk) -> None:
    desk.post()
    page = desk.open()
    page.goto(f"{page.url.partition('#')[0]}?site=harbour&person=ann#person")
    note = page.get_by_label("Note")
    note.fill("Is kind")
    desk.clock.advance(seconds=1)
    later = desk.token()

    page.evaluate("(token) => { location.hash = `token=${token}`; }", later)

    page.wait_for_function(
        "token => sessionStorage.getItem('plaza-console-token') === token", arg=later
    )
    expect(note).to_have_value("Is kind")
    assert page.url.endswith("#person")
