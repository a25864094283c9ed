"""A choice beside a discussion: of which of its comments a reader hears."""

import re

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.bell import IDENTITY, PHONE, WIDER, badge, bell, host, rows, talk
from tests.web.support.browser import until
from tests.web.support.site import Site
from tests.web.support.two import NODE, Discussion

__all__ = ["host", "talk"]  # fixtures

expect.set_options(timeout=PATIENCE_MS)
WATCH = re.compile(r"/watch$")
FAILED = "net::ERR_FAILED"


@pytest.fixture
def watched(host: Site) -> Site:
    """A page with a bell and the choice, which Ben reads."""
    host.body = f'<plaza-bell></plaza-bell><plaza-watch node="{NODE}"></plaza-watch>'
    return host


def choice(page: Page) -> Locator:
    return page.get_by_label("Notify me of")


def level_of(talk: Discussion) -> object:
    return talk.client.as_("ben").get(f"/nodes/{NODE}/watch").json["level"]


def test_who_chooses_every_comment_has_it_in_the_bell(
    talk: Discussion, watched: Site, open_page: OpenPage, workers: Workers
) -> None:
    page = open_page(watched)
    expect(choice(page)).to_have_value("normal")
    choice(page).select_option("Every comment")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert level_of(talk) == "watching"

    talk.clock.advance(seconds=1)
    talk.posted("The moon is up.")
    workers.drain()
    page.reload()

    expect(badge(page)).to_have_text("1")
    expect(choice(page)).to_have_value("watching")
    bell(page).click()
    expect(rows(page).first).to_contain_text("New comments in a discussion you watch: Ann")
    expect(rows(page).first).to_contain_text("The moon is up.")
    page.keyboard.press("Escape")

    choice(page).select_option("Mentions only")
    until(page, lambda: level_of(talk) == "muted")
    choice(page).select_option("Replies and mentions")
    until(page, lambda: level_of(talk) is None)


def test_the_last_of_quick_choices_holds(
    talk: Discussion, watched: Site, open_page: OpenPage
) -> None:
    held: list[Route] = []
    page = open_page(watched)
    expect(choice(page)).to_have_value("normal")
    page.route(WATCH, lambda route: route.continue_() if held else held.append(route))

    choice(page).select_option("Every comment")
    until(page, lambda: bool(held))
    choice(page).select_option("Mentions only")
    held[0].continue_()

    until(page, lambda: level_of(talk) == "muted")
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(choice(page)).to_have_value("muted")


def test_a_choice_that_fails_is_taken_back_and_says_why(
    talk: Discussion, watched: Site, open_page: OpenPage
) -> None:
    page = open_page(watched, may_log=FAILED)
    expect(choice(page)).to_have_value("normal")
    page.route(WATCH, lambda route: route.abort())

    choice(page).select_option("Every comment")

    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(choice(page)).to_have_value("normal")
    assert level_of(talk) is None


def test_a_list_that_cannot_be_read_can_be_tried_again(watched: Site, open_page: OpenPage) -> None:
    page = open_page(
        watched,
        may_log=FAILED,
        before=lambda page: page.route(WATCH, lambda route: route.abort()),
    )
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    page.unroute(WATCH)

    page.get_by_role("button", name="Try again").click()

    expect(choice(page)).to_have_value("normal")


def test_a_guest_sees_nothing_and_nothing_is_asked(watched: Site, open_page: OpenPage) -> None:
    made: list[Request] = []
    token, watched.token = watched.token, lambda: None

    def note(page: Page) -> object:
        return page.on(
            "request", lambda each: made.append(each) if WATCH.search(each.url) else None
        )

    page = open_page(watched, before=note)
    until(page, lambda: bool(page.evaluate("!!document.querySelector('plaza-watch').shadowRoot")))
    expect(page.locator("plaza-watch")).to_be_hidden()
    assert made == []

    watched.token = token
    page.evaluate(IDENTITY)

    expect(choice(page)).to_have_value("normal")


def test_where_a_site_does_not_notify_there_is_no_choice(
    talk: Discussion, watched: Site, open_page: OpenPage
) -> None:
    talk.decide(notifications=False)
    answered: list[int] = []
    page = open_page(
        watched,
        before=lambda page: page.on(
            "response",
            lambda each: answered.append(each.status) if WATCH.search(each.url) else None,
        ),
    )

    until(page, lambda: answered == [200])
    expect(page.locator("plaza-watch")).to_be_hidden()


@pytest.mark.parametrize("lang", ["en", "de", "ar"])
def test_it_fits_a_phone_and_reads_well(
    watched: Site, open_page: OpenPage, axe: str, lang: str
) -> None:
    watched.body = watched.body.replace("node=", f'lang="{lang}" node=')
    page = open_page(watched, **PHONE)
    expect(page.get_by_role("combobox")).to_be_visible()

    assert page.evaluate(WIDER) == 0
    assert in_both_schemes(page, axe) == []
