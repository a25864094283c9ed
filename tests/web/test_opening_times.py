"""When a discussion opens and closes: told above it, also while somebody reads or writes."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.two import NODE, POLL_MS, Discussion, discussing

expect.set_options(timeout=PATIENCE_MS)
FAILED = "Failed to load resource"
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PHONE = {"width": 320, "height": 700}
# The readers' clocks say what the API's does; they live where days are as long as there.
UTC_DAYS = {"timezone_id": "UTC"}


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion with a comment."""
    with discussing(client, clock, address) as made:
        made.decide(votes="off", reactions=[])
        made.posted()
        yield made


@pytest.fixture
def read(talk: Discussion, open_page: OpenPage) -> Any:
    """Opens the page for somebody, whose clock says what the API's does."""

    def opened(sub: str, language: str = "en", may_log: str = "", **options: Any) -> Page:
        roles = {"roles": ["moderator"]} if sub == "mo" else {}
        site = talk.site_of(sub, **roles)
        site.language = language
        page = open_page(
            site,
            may_log=may_log,
            before=lambda page: page.clock.install(time=talk.clock()),
            **UTC_DAYS,
            **options,
        )
        expect(page.get_by_text("The moon is up.")).to_be_visible()
        return page

    return opened


def put(talk: Discussion, **times: Any) -> None:
    """Give the discussion times, each so long from now."""
    said = {name: (talk.clock() + each).isoformat() for name, each in times.items()}
    reply = talk.admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/", **said)
    assert reply.status == 200, reply.body


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Write a comment")


def look(page: Page) -> None:
    """Let the page look for what is new."""
    with page.expect_response("**/comments?limit=50*"):
        page.clock.run_for(POLL_MS)


@pytest.mark.parametrize("reader", ["ben", ""], ids=["reader", "guest"])
def test_a_discussion_that_closes_within_a_week_says_when(
    talk: Discussion, read: Any, reader: str
) -> None:
    put(talk, closes_at=timedelta(days=6))

    page = read(reader)

    expect(page.locator(".times")).to_have_text("Comments close on Mar 7, 2026, 12:00 PM")
    expect(field(page) if reader else page.get_by_role("button", name="Sign in")).to_be_visible()


def test_a_later_close_is_not_told(talk: Discussion, read: Any) -> None:
    put(talk, closes_at=timedelta(days=8))

    page = read("ben")

    expect(field(page)).to_be_visible()
    expect(page.locator(".times")).to_be_hidden()


@pytest.mark.parametrize("reader", ["ben", ""], ids=["reader", "guest"])
def test_a_closed_discussion_says_since_when_and_has_no_form(
    talk: Discussion, read: Any, reader: str
) -> None:
    put(talk, closes_at=timedelta(hours=1))
    talk.clock.advance(days=2)

    page = read(reader)

    told = "This discussion has been closed since Mar 1, 2026, 1:00 PM."
    expect(page.locator(".times")).to_have_text(told)
    expect(field(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Sign in")).to_have_count(0)


def test_a_locked_discussion_tells_no_time(talk: Discussion, read: Any) -> None:
    times = {"opens_at": "2026-03-09T00:00:00Z", "closes_at": "2026-03-10T00:00:00Z"}
    locked = {"title": "Moon", "url": "https://a.example/", "locked": True, **times}
    assert talk.admin.put(f"/nodes/{NODE}", **locked).status == 200

    page = read("ben")

    expect(page.locator(".times")).to_have_text("This discussion is closed.")
    expect(field(page)).to_have_count(0)


def test_a_moderator_writes_the_last_word_in_a_closed_discussion(
    talk: Discussion, read: Any
) -> None:
    put(talk, closes_at=timedelta(hours=1))
    talk.clock.advance(days=2)
    page = read("mo")
    expect(page.locator(".times")).to_contain_text("closed since Mar 1, 2026")

    field(page).fill("The last word.")
    page.get_by_role("button", name="Post").click()

    expect(page.get_by_role("article").last).to_contain_text("The last word.")


def test_a_discussion_that_opens_while_it_is_read_gets_its_form(
    talk: Discussion, read: Any
) -> None:
    put(talk, opens_at=timedelta(hours=1), closes_at=timedelta(days=30))
    page = read("ben")
    expect(page.locator(".times")).to_have_text("This discussion opens on Mar 1, 2026, 1:00 PM")
    expect(field(page)).to_have_count(0)
    talk.clock.advance(hours=2)

    look(page)

    expect(field(page)).to_be_visible()
    expect(page.locator(".times")).to_be_hidden()


def test_what_is_written_while_a_discussion_closes_is_refused_and_kept(
    talk: Discussion, read: Any
) -> None:
    put(talk, closes_at=timedelta(hours=1))
    page = read("ben", may_log=FAILED)
    field(page).fill("One more thing")
    talk.clock.advance(hours=2)

    page.get_by_role("button", name="Post").click()

    expect(page.get_by_role("alert")).to_have_text("This discussion is not open now.")
    expect(field(page)).to_have_value("One more thing")
    look(page)
    expect(page.locator(".times")).to_contain_text("closed since Mar 1, 2026")
    expect(field(page)).to_have_value("One more thing")
    put(talk, closes_at=timedelta(days=30))
    page.get_by_role("button", name="Post").click()
    expect(page.get_by_role("article").last).to_contain_text("One more thing")


def test_replies_are_offered_only_while_a_discussion_is_open(talk: Discussion, read: Any) -> None:
    put(talk, closes_at=timedelta(hours=1))
    page = read("ben")
    reply = page.get_by_role("button", name="Reply")
    expect(reply).to_be_visible()
    talk.clock.advance(hours=2)

    look(page)

    expect(reply).to_have_count(0)
    put(talk, closes_at=timedelta(days=30))
    look(page)
    expect(reply).to_be_visible()


def test_a_reply_that_is_written_while_a_discussion_closes_is_kept(
    talk: Discussion, read: Any
) -> None:
    put(talk, closes_at=timedelta(hours=1))
    page = read("ben", may_log=FAILED)
    page.get_by_role("button", name="Reply").click()
    reply = page.get_by_role("textbox", name="Reply to Ann")
    reply.fill("So it is")
    talk.clock.advance(hours=2)
    page.get_by_role("article").get_by_role("button", name="Post").click()
    expect(page.get_by_role("alert")).to_have_text("This discussion is not open now.")

    look(page)

    expect(page.locator(".times")).to_contain_text("closed since")
    expect(reply).to_have_value("So it is")


@pytest.mark.processes
@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_times_fit_a_phone_and_break_no_rule(
    talk: Discussion, read: Any, axe: str, language: str
) -> None:
    put(talk, closes_at=timedelta(days=1))
    page = read("ben", language, viewport=PHONE)

    expect(page.locator(".times")).to_contain_text("2026")
    assert page.evaluate(WIDER) == 0
    assert in_both_schemes(page, axe) == []
