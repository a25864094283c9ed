"""Answers that come late: what a reader has written is shown, in whatever order they read."""

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Error, Page, Request, Response, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.two import NODE, POLL_MS, Discussion, discussing, with_clock

expect.set_options(timeout=PATIENCE_MS)
COMMENTS = re.compile(r"/comments(\?|$)")
VOTE = re.compile("/vote$")
MARKS = re.compile(r"/marks\?")


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion with a comment of Ben's, which Ann reads."""
    with discussing(client, clock, address) as made:
        made.posted("The first.", by="ben")
        yield made


class Late:
    """Calls that the server answers; the page hears of it when they are let go."""

    def __init__(self, page: Page, method: str, path: re.Pattern[str] = COMMENTS) -> None:
        self._page, self._method = page, method
        self._answered: list[tuple[Route, object]] = []
        self._is_open = False
        page.route(path, self._take)

    def _take(self, route: Route) -> None:
        if route.request.method != self._method or self._is_open:
            route.continue_()
            return
        try:
            self._answered.append((route, route.fetch()))
        except Error as error:
            # The page has gone: the failure would come up within the next test.
            if "disposed" not in error.message:
                raise

    def wait(self) -> None:
        until(self._page, lambda: bool(self._answered))

    def let_go(self) -> None:
        self._is_open = True
        for route, answer in self._answered:
            route.fulfill(response=answer)  # type: ignore[arg-type]


def is_posted(answer: Response) -> bool:
    return answer.request.method == "POST" and bool(COMMENTS.search(answer.url))


def is_read(answer: Response) -> bool:
    return answer.request.method == "GET" and bool(COMMENTS.search(answer.url))


def write(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Write a comment").fill(text)
    page.get_by_role("button", name="Post", exact=True).click()


def choose(page: Page, order: str) -> None:
    page.get_by_role("combobox", name="Order").select_option(order)


def shows(page: Page, text: str) -> None:
    """Expect a comment once, counted, and its form empty."""
    expect(page.locator("li .text", has_text=text)).to_have_count(1)
    expect(page.get_by_role("heading", name="2 comments", exact=True)).to_be_visible()
    expect(page.get_by_role("textbox", name="Write a comment")).to_have_value("")
    expect(page.get_by_role("button", name="Post", exact=True)).to_be_enabled()


@pytest.mark.parametrize("late", ["GET", "POST"])
@pytest.mark.parametrize("is_chosen_first", [True, False])
def test_a_comment_that_is_posted_while_an_order_is_loaded_is_there_at_once(
    talk: Discussion, open_page: OpenPage, late: str, *, is_chosen_first: bool
) -> None:
    page = open_page(talk.site_of("ann"))
    expect(page.get_by_text("The first.")).to_be_visible()
    held = Late(page, late)
    others: list[Request] = []

    def note(request: Request) -> None:
        if COMMENTS.search(request.url) and request.method in {"GET", "POST"} - {late}:
            others.append(request)

    page.on("requestfinished", note)
    if is_chosen_first:
        choose(page, "newest")
    write(page, "The second.")
    if not is_chosen_first:
        choose(page, "newest")
    held.wait()
    until(page, lambda: bool(others))
    held.let_go()

    shows(page, "The second.")
    expect(page.get_by_role("combobox", name="Order")).to_have_value("newest")


def test_what_is_written_stays_while_an_order_is_loaded(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of("ann"))
    field = page.get_by_role("textbox", name="Write a comment")
    field.fill("Half a thought")

    with page.expect_response(COMMENTS):
        choose(page, "newest")

    expect(field).to_have_value("Half a thought")
    write(page, "The whole.")
    shows(page, "The whole.")


def test_a_press_of_a_button_counts_when_an_order_comes_between_its_two_ends(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of("ann"))
    expect(page.get_by_text("The first.")).to_be_visible()
    held = Late(page, "GET")
    choose(page, "newest")
    held.wait()
    page.get_by_role("textbox", name="Write a comment").fill("The second.")
    page.get_by_role("button", name="Post", exact=True).hover()

    page.mouse.down()
    with page.expect_response(is_read):
        held.let_go()
    expect(page.get_by_role("combobox", name="Order")).to_have_value("newest")
    page.mouse.up()

    shows(page, "The second.")


@pytest.mark.parametrize(("role", "name"), [("textbox", "Write a comment"), ("combobox", "Order")])
def test_the_focus_stays_where_it_is_when_an_order_comes(
    talk: Discussion, open_page: OpenPage, role: Literal["textbox", "combobox"], name: str
) -> None:
    talk.posted("A later one.", by="ben")
    page = open_page(talk.site_of("ann"))
    expect(page.get_by_text("The first.")).to_be_visible()
    held = Late(page, "GET")
    choose(page, "newest")
    held.wait()
    page.get_by_role(role, name=name).focus()

    held.let_go()

    expect(page.locator("li .text").first).to_have_text("A later one.")
    expect(page.get_by_role(role, name=name)).to_be_focused()


def test_a_vote_that_is_on_its_way_is_shown_in_the_order_that_comes_meanwhile(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of("ann"))
    up = page.get_by_role("button", name="Vote for this comment")
    held = Late(page, "PUT", VOTE)
    up.click()
    held.wait()
    with page.expect_response(COMMENTS):
        choose(page, "newest")
    expect(up).to_have_attribute("aria-pressed", "true")

    held.let_go()

    expect(up).to_have_text("▲Vote for this comment 1")
    expect(up).to_have_attribute("aria-pressed", "true")


def test_a_look_that_is_answered_late_tells_nobody_of_their_own_comment(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of("ann"), before=with_clock)
    expect(page.get_by_text("The first.")).to_be_visible()
    held = Late(page, "GET")
    page.clock.run_for(POLL_MS)
    held.wait()
    write(page, "The second.")
    shows(page, "The second.")

    held.let_go()
    with page.expect_response(COMMENTS):
        page.clock.run_for(2 * POLL_MS)

    shows(page, "The second.")
    expect(page.get_by_role("button", name="new comment")).to_have_count(0)


def test_a_comment_whose_answer_never_came_is_told_as_new_and_shown_by_a_press(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of("ann"), before=with_clock)
    expect(page.get_by_text("The first.")).to_be_visible()
    held = Late(page, "POST")
    write(page, "The second.")
    held.wait()
    page.clock.run_for(2 * POLL_MS)
    expect(page.get_by_role("alert")).to_contain_text("Your text is kept here.")
    held.let_go()
    page.clock.run_for(4 * POLL_MS)

    page.get_by_role("button", name="1 new comment").click()

    expect(page.locator("li .text", has_text="The second.")).to_have_count(1)
    expect(page.get_by_role("button", name="1 new comment")).to_have_count(0)
    expect(page.get_by_role("heading", name="2 comments", exact=True)).to_be_visible()
    page.get_by_role("button", name="Post", exact=True).click()
    shows(page, "The second.")


def test_a_comment_that_is_posted_while_a_look_asks_for_votes_is_not_told_as_new(
    talk: Discussion, open_page: OpenPage
) -> None:
    """With a further page, a look knows new comments by the count alone."""
    gone = talk.posted("It goes.", by="ben")
    for number in range(50):
        talk.posted(f"Comment {number}.", by="ben")
    page = open_page(talk.site_of("ann"), before=with_clock, may_log="Failed to load resource")
    expect(page.get_by_role("heading", name="52 comments", exact=True)).to_be_visible()
    assert talk.client.as_("ben").delete(f"/nodes/{NODE}/comments/{gone}").status == 204
    held = Late(page, "GET", MARKS)
    page.clock.run_for(POLL_MS)
    held.wait()
    write(page, "The newest.")
    expect(page.get_by_role("heading", name="52 comments", exact=True)).to_be_visible()

    held.let_go()
    looked: list[Response] = []
    page.on("response", lambda answer: looked.append(answer) if MARKS.search(answer.url) else None)

    def has_looked_again() -> bool:
        page.clock.run_for(POLL_MS)
        return len(looked) > 1

    until(page, has_looked_again)

    expect(page.get_by_role("heading", name="52 comments", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="new comment")).to_have_count(0)


def test_a_new_comment_that_a_further_page_has_brought_is_not_told_any_more(
    talk: Discussion, open_page: OpenPage
) -> None:
    """All is shown then, though one more page has what the reader wrote."""
    ids = [talk.posted(f"Comment {number}.", by="ben") for number in range(98)]
    page = open_page(talk.site_of("ann"), before=with_clock)
    expect(page.get_by_role("heading", name="99 comments", exact=True)).to_be_visible()
    write(page, "The newest.")
    expect(page.get_by_role("heading", name="100 comments", exact=True)).to_be_visible()
    reply = talk.posted("A reply.", by="ben", parent=ids[60])
    page.clock.run_for(POLL_MS)
    told = page.get_by_role("button", name="1 new comment")
    expect(told).to_be_visible()
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(f"#c-{reply}")).to_be_visible()
    expect(page.get_by_role("button", name="Show more")).to_be_visible()

    page.clock.run_for(POLL_MS)

    expect(told).to_have_count(0)
    expect(page.get_by_role("heading", name="101 comments", exact=True)).to_be_visible()


def test_what_becomes_of_a_comment_that_is_posted_far_behind_the_shown_pages_is_shown(
    talk: Discussion, open_page: OpenPage
) -> None:
    for number in range(160):
        talk.clock.advance(seconds=1)
        talk.posted(f"Comment {number}.", by="ben")
    page = open_page(talk.site_of("ann"), before=with_clock, may_log="Failed to load resource")
    with page.expect_response(is_posted) as answer:
        write(page, "The newest.")
    mine = answer.value.json()["id"]
    expect(page.locator(f"#c-{mine}")).to_contain_text("The newest.")
    changed = talk.admin.patch(f"/nodes/{NODE}/comments/{mine}", text="Changed.")
    assert changed.status == 200

    page.clock.run_for(POLL_MS)

    expect(page.locator(f"#c-{mine} .text")).to_have_text("Changed.")
    assert talk.admin.delete(f"/nodes/{NODE}/comments/{mine}").status == 204
    page.clock.run_for(POLL_MS)
    expect(page.locator(f"#c-{mine}")).to_have_count(0)
    expect(page.get_by_role("heading", name="161 comments", exact=True)).to_be_visible()


def test_a_pinned_reply_of_a_further_page_stays_there_when_new_comments_are_shown(
    talk: Discussion, open_page: OpenPage
) -> None:
    ids = [talk.posted(f"Comment {number}.", by="ben") for number in range(110)]
    pinned = talk.posted("Pinned.", by="ben", parent=ids[0])
    assert talk.admin.put(f"/nodes/{NODE}/comments/{pinned}/pin").status < 300
    page = open_page(talk.site_of("ann"), before=with_clock)
    expect(page.get_by_role("complementary")).to_contain_text("Pinned.")
    choose(page, "newest")
    expect(page.locator(f"#c-{ids[-1]}")).to_be_visible()
    new = talk.posted("A reply.", by="ben", parent=ids[-1])
    page.clock.run_for(POLL_MS)

    page.get_by_role("button", name="1 new comment").click()

    expect(page.locator(f"#c-{ids[-1]} #c-{new}")).to_contain_text("A reply.")
    expect(page.locator(f"#c-{pinned}")).to_have_count(0)
