"""A page that is read hears of what is new within ten seconds, by one call for all its elements."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.bell import badge
from tests.web.support.browser import stop_time, until
from tests.web.support.town import Town
from tests.web.support.two import NODE, Discussion, discussing

expect.set_options(timeout=PATIENCE_MS)
COMMENTS = f'<plaza-comments node="{NODE}"></plaza-comments>'
ELEMENTS = f"<plaza-bell></plaza-bell>{COMMENTS}<plaza-feed></plaza-feed>"
FRESH = "plaza-comments .fresh button"
NETWORK = "Failed to load resource"


@dataclass
class Passing:
    """A page whose time passes second by second, and stands while a call is on its way."""

    page: Page
    asked: list[Request] = field(default_factory=list)
    _open: int = 0

    @classmethod
    def over(cls, page: Page) -> "Passing":
        made = cls(page)
        stop_time(page)
        page.on("request", made._begin)
        page.on("requestfinished", made._end)
        page.on("requestfailed", made._end)
        return made

    def _begin(self, request: Request) -> None:
        self._open += 1
        if urlsplit(request.url).path.endswith("/changes"):
            self.asked.append(request)

    def _end(self, _request: Request) -> None:
        self._open -= 1

    def seconds(self, most: int, is_done: Callable[[], bool] = lambda: False) -> int:
        """Let so many seconds pass, or until something is there; return their number."""
        for passed in range(most):
            if is_done():
                return passed
            self.page.clock.run_for(1_000)
            until(self.page, lambda: self._open == 0)
        return most

    @property
    def topics(self) -> list[list[str]]:
        """What each call asked for."""
        queries = [parse_qs(urlsplit(each.url).query) for each in self.asked]
        return [each["topics"][0].split(",") for each in queries]


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    with discussing(client, clock, address) as made:
        made.decide(votes="off", reactions=[], notifications=True)
        yield made


@pytest.fixture
def town(client: Client, workers: Workers, clock: Clock) -> Town:
    town = Town(client, workers, clock)
    town.settle()
    return town


@pytest.fixture
def read(talk: Discussion, open_page: OpenPage) -> Callable[..., tuple[Page, Passing]]:
    """Open a page with a bell, a discussion and news; "" is a guest."""

    def opened(sub: str, body: str = ELEMENTS, **options: Any) -> tuple[Page, Passing]:
        site = talk.site_of(sub)
        site.body = body
        made: list[Passing] = []
        page = open_page(site, before=lambda page: made.append(Passing.over(page)), **options)
        expect(page.locator("plaza-comments [part~=title]")).not_to_be_empty()
        page.wait_for_load_state("networkidle")
        return page, made[0]

    return opened


def test_one_call_tells_a_reader_of_a_reply_and_of_a_post_within_ten_seconds(
    talk: Discussion, town: Town, workers: Workers, read: Callable[..., tuple[Page, Passing]]
) -> None:
    first = talk.posted("Is the moon up?", by="ann")
    page, passing = read("ann")
    passing.seconds(20)
    begun = len(passing.asked)
    talk.posted("It is.", by="ben", parent=first)
    town.post("A flamingo.")
    workers.drain()

    fresh = page.get_by_role("button", name="1 new comment")
    post = page.get_by_role("button", name="1 new post")
    told = passing.seconds(
        60, lambda: fresh.count() == 1 and post.count() == 1 and badge(page).inner_text() == "1"
    )

    assert told <= 10
    assert len(passing.asked) - begun <= 2
    assert passing.topics[-1] == ["inbox", "news", f"node:{NODE}"]


def test_a_guest_asks_of_the_discussion_alone_and_without_a_token(
    talk: Discussion, read: Callable[..., tuple[Page, Passing]]
) -> None:
    talk.posted()
    page, passing = read("")
    passing.seconds(20)
    assert passing.topics
    assert all(each == [f"node:{NODE}"] for each in passing.topics)
    assert all("authorization" not in each.headers for each in passing.asked)

    talk.posted("It is down.", by="ben")
    assert passing.seconds(60, lambda: page.locator(FRESH).count() == 1) <= 10


def test_nothing_new_asks_for_nothing_else(
    talk: Discussion, read: Callable[..., tuple[Page, Passing]]
) -> None:
    talk.posted()
    page, passing = read("", COMMENTS)
    pages: list[str] = []
    page.on("request", lambda each: pages.append(each.url) if "/comments?" in each.url else None)
    passing.seconds(26)
    assert len(passing.asked) >= 2
    assert pages == []


def test_a_page_that_only_lies_open_is_asked_for_ever_more_seldom_until_it_is_read_again(
    talk: Discussion, read: Callable[..., tuple[Page, Passing]]
) -> None:
    talk.posted()
    page, passing = read("")
    passing.seconds(120)
    busy = len(passing.asked)
    passing.seconds(240)
    assert busy >= 12
    assert len(passing.asked) - busy <= 6

    before = len(passing.asked)
    page.mouse.move(5, 5)
    page.mouse.move(50, 50)
    passing.seconds(10)
    assert len(passing.asked) > before


def test_an_api_that_fails_is_left_in_peace_and_found_again(
    talk: Discussion, read: Callable[..., tuple[Page, Passing]]
) -> None:
    talk.posted()
    page, passing = read("", may_log=NETWORK)
    pattern = re.compile(r"/changes\?")

    def fail(route: Route) -> None:
        route.fulfill(
            status=503, json={"code": "unavailable"}, headers={"Access-Control-Allow-Origin": "*"}
        )

    page.route(pattern, fail)
    passing.seconds(60)
    failed = len(passing.asked)
    assert failed <= 4
    for place in range(20):
        page.mouse.move(place, place)
        passing.seconds(1)
    assert len(passing.asked) - failed <= 1

    page.unroute(pattern)
    talk.posted("It is down.", by="ben")
    passing.seconds(300, lambda: page.locator(FRESH).count() == 1)
    expect(page.locator(FRESH)).to_have_count(1)


def test_an_element_that_is_gone_is_asked_for_no_more(
    talk: Discussion, read: Callable[..., tuple[Page, Passing]]
) -> None:
    talk.posted()
    page, passing = read("ann")
    passing.seconds(20)
    page.evaluate("document.querySelector('plaza-comments').remove()")
    before = len(passing.asked)
    passing.seconds(20)
    assert passing.topics[before:]
    assert all(each == ["inbox", "news"] for each in passing.topics[before:])


def test_who_has_blocked_the_only_writer_is_told_of_nothing(
    talk: Discussion, read: Callable[..., tuple[Page, Passing]]
) -> None:
    talk.posted(by="ann")
    assert talk.client.as_("ann").put("/sites/harbour/blocked/troll").status == 204
    page, passing = read("ann")
    passing.seconds(20)
    talk.posted("Buy my moon.", by="troll")
    passing.seconds(20)
    assert page.locator(FRESH).count() == 0
    expect(page.get_by_role("article")).to_have_count(1)
