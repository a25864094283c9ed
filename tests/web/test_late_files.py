"""A file that has failed once comes when its reader has need of it again, in the same page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.shop.support.buying import SKU, stocked
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import failing_once, until
from tests.web.support.shop import CART, FAILED, buy
from tests.web.support.site import Site
from tests.web.support.two import POLL_MS, Discussion, discussing, with_clock

expect.set_options(timeout=PATIENCE_MS)
ANY_ORIGIN = {"Access-Control-Allow-Origin": "*"}
UNREACHED = "Plaza cannot be reached."


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion with guests, and a comment of Ann's."""
    with discussing(client, clock, address) as made:
        made.decide(votes="off", reactions=[], guests="name")
        made.posted("The moon is up.")
        yield made


def test_who_writes_has_a_form_once_its_file_comes(talk: Discussion, open_page: OpenPage) -> None:
    page = open_page(talk.site_of("ben"), may_log=FAILED, before=failing_once("acts.js", []))
    expect(page.get_by_text("The moon is up.")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_text(UNREACHED)

    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("textbox", name="Write a comment")).to_be_visible()
    page.get_by_role("button", name="Reply").click()
    expect(page.get_by_role("textbox", name="Reply to Ann")).to_be_focused()


def test_a_guest_chooses_a_name_at_a_second_press(talk: Discussion, open_page: OpenPage) -> None:
    failed: list[str] = []
    page = open_page(talk.site_of(""), may_log=FAILED, before=failing_once("guest.js", failed))
    until(page, lambda: bool(failed))
    page.evaluate("new Promise((done) => setTimeout(done))")

    page.get_by_role("button", name="Write without an account").click()

    expect(page.get_by_role("textbox", name="Your name")).to_be_focused()


def test_news_are_told_at_the_next_look(talk: Discussion, open_page: OpenPage) -> None:
    failed: list[str] = []

    def prepare(page: Page) -> None:
        with_clock(page)
        failing_once("changes.js", failed)(page)

    page = open_page(talk.site_of("ben"), may_log=FAILED, before=prepare)
    expect(page.get_by_text("The moon is up.")).to_be_visible()
    talk.posted("So it is.")
    page.clock.run_for(POLL_MS)
    until(page, lambda: bool(failed))

    page.clock.run_for(2 * POLL_MS)

    expect(page.get_by_role("button", name="1 new comment")).to_be_visible()


@pytest.mark.usefixtures("workers")
def test_a_buyer_checks_out_at_a_second_press(
    client: Client, site: Site, open_page: OpenPage
) -> None:
    stocked(client, 3)
    site.body = CART
    page = open_page(site, may_log=FAILED, before=failing_once("cart-form.js", []))
    buy(page, SKU)
    page.get_by_role("button", name="Check out").click()
    expect(page.get_by_role("status").first).to_have_text(UNREACHED)

    page.get_by_role("button", name="Check out").click()

    expect(page.get_by_label("E-mail", exact=True)).to_be_visible()


def test_a_guest_who_comes_back_is_asked_at_a_second_press(
    talk: Discussion, open_page: OpenPage
) -> None:
    """The code in the address works once: no form for a new name stands over its answer."""
    failed: list[str] = []
    known = {"name": "Passenger", "token": "a-token"}

    def prepare(page: Page) -> None:
        failing_once("guest.js", failed)(page)
        page.route("**/sign-in/token", lambda route: route.fulfill(json=known, headers=ANY_ORIGIN))

    talk.decide(votes="off", reactions=[], guests="email")
    back = f"/#plaza-guest={'c' * 43}"
    page = open_page(talk.site_of(""), at=back, may_log=FAILED, before=prepare)
    until(page, lambda: bool(failed))
    page.evaluate("new Promise((done) => setTimeout(done))")

    page.get_by_role("button", name="Write without an account").click()

    expect(page.get_by_text("Write as Passenger?")).to_be_visible()


def test_votes_come_when_the_discussion_is_read_again(
    talk: Discussion, open_page: OpenPage
) -> None:
    failed: list[str] = []
    talk.decide(votes="up", reactions=[])
    page = open_page(talk.site_of("ben"), may_log=FAILED, before=failing_once("marks.js", failed))
    expect(page.get_by_text("The moon is up.")).to_be_visible()
    until(page, lambda: bool(failed))
    page.evaluate("new Promise((done) => setTimeout(done))")
    page.get_by_role("textbox", name="Write a comment").fill("Half a thought")

    page.get_by_role("combobox").first.select_option(value="newest")

    expect(page.locator(".marks button").first).to_be_visible()
    expect(page.get_by_role("textbox", name="Write a comment")).to_have_value("Half a thought")


def test_words_of_the_page_s_language_come_when_the_discussion_is_read_again(
    talk: Discussion, open_page: OpenPage
) -> None:
    site = talk.site_of("")
    site.language = "de"
    page = open_page(site, may_log=FAILED, before=failing_once("words-de-comments.js", []))
    expect(page.get_by_role("option", name="Newest first")).to_have_count(1)

    page.get_by_role("combobox").first.select_option(value="newest")

    expect(page.get_by_role("option", name="Neueste zuerst")).to_have_count(1)
