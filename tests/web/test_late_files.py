"""A file that has failed once comes when its reader has need of it again, in the same page."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.shop.support.buying import SKU, stocked
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.shop import CART, FAILED, buy
from tests.web.support.site import Site
from tests.web.support.two import POLL_MS, Discussion, discussing, with_clock

expect.set_options(timeout=PATIENCE_MS)
UNREACHED = "Plaza cannot be reached."


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion with guests, and a comment of Ann's."""
    with discussing(client, clock, address) as made:
        made.decide(votes="off", reactions=[], guests="name")
        made.posted("The moon is up.")
        yield made


def failing_once(file: str, failed: list[str]) -> Callable[[Page], object]:
    """Return what has a page's first call for a file fail; `failed` notes it."""

    def fail(route: Route) -> None:
        if failed:
            return route.fallback()
        failed.append(route.request.url)
        return route.abort()

    return lambda page: page.route(f"**/{file}*", fail)


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
