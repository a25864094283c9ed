"""A page with a bell, which Ben reads, and a discussion on another page of its site."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.support.site import Site
from tests.web.support.two import NODE, Discussion, discussing

INBOX = re.compile(r"/notifications\?")
CHANGES = re.compile(r"/changes\?")
IDENTITY = "document.dispatchEvent(new CustomEvent('plaza:identity'))"
CORS = {"Access-Control-Allow-Origin": "*"}
AT = "2026-03-01T12:00:00.000Z"
PHONE: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "has_touch": True}
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Somebody else's header, in a page that has something below it.
_HEADER = '<header id="top"><plaza-bell></plaza-bell></header><p id="after">Below.</p>'


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion, with its people."""
    with discussing(client, clock, address) as made:
        yield made


@pytest.fixture
def host(talk: Discussion, site: Site) -> Site:
    """A page with a bell, which Ben reads; the discussion, which tells, is on another."""
    talk.decide(votes="off", reactions=[], notifications=True)
    url = f"{site.address}/?moon"
    assert talk.admin.put(f"/nodes/{NODE}", title="Moon", url=url).status == 200
    site.body = _HEADER
    site.css = "html { background: Canvas; color: CanvasText; color-scheme: light dark; }"
    site.token = lambda: talk.client.token("ben", name="Ben")
    return site


@pytest.fixture
def replied(talk: Discussion, host: Site, workers: Workers) -> Callable[..., str]:
    """Reply to Ben, as Ann, and have the worker tell him."""
    assert host.address
    first = talk.posted("Is the moon up?", by="ben")

    def reply(text: str = "It is.", by: str = "ann", **body: Any) -> str:
        talk.clock.advance(seconds=1)
        made = talk.posted(text, by=by, parent=first, **body)
        workers.drain()
        return made

    return reply


def bell(page: Page) -> Locator:
    return page.locator("plaza-bell").get_by_role("button", name="Notifications").first


def badge(page: Page) -> Locator:
    return page.locator("plaza-bell [part~=count]")


def panel(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Notifications")


def rows(page: Page) -> Locator:
    return panel(page).get_by_role("listitem")


def held_first(page: Page, calls: re.Pattern[str]) -> list[tuple[Route, Any]]:
    """Have the server answer the next of some calls, and hold the answer back from the page."""
    held: list[tuple[Route, Any]] = []

    def hold(route: Route) -> None:
        if held or route.request.method != "GET":
            route.continue_()
        else:
            held.append((route, None))
            held[0] = (route, route.fetch())

    page.route(calls, hold)
    return held
