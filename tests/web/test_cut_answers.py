"""Answers that end midway, stand still or are another page's: told, never taken for Plaza's own."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.stand_ins import answering
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.two import Discussion, discussing, with_clock

expect.set_options(timeout=PATIENCE_MS)
READ = "**/nodes/*/comments?*"
POSTS = "**/nodes/*/comments"
UNREACHED = "Plaza cannot be reached."
BEGIN = b'{"node": '
# Longer than an element waits for an answer.
TOO_LONG_MS = 36_000
NETWORK = ("Failed to load resource", "net::ERR")


class Broken(ThreadingHTTPServer):
    """Answers every call with 200 and a part of a body."""

    daemon_threads = True

    def __init__(self, rest: Callable[["Broken"], bytes]) -> None:
        self.rest, self.asked, self.over = rest, 0, threading.Event()
        super().__init__(("127.0.0.1", 0), Answer)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Answer(BaseHTTPRequestHandler):
    """The part of a body, and what the server does then."""

    def _answer(self) -> None:
        server = self.server
        assert isinstance(server, Broken)
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(BEGIN)
        self.wfile.flush()
        server.asked += 1
        self.wfile.write(server.rest(server))

    do_GET = do_POST = _answer  # noqa: N815 (http.server's names)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


def end(_server: Broken) -> bytes:
    return b""


def garble(_server: Broken) -> bytes:
    return b" " * (1000 - len(BEGIN))


def stand_still(server: Broken) -> bytes:
    server.over.wait()
    return b""


WAYS = {"ends midway": end, "is no JSON": garble, "stands still": stand_still}


@pytest.fixture(params=WAYS)
def broken(request: pytest.FixtureRequest) -> Iterator[Broken]:
    """A server that sends half of an answer."""
    server = Broken(WAYS[request.param])
    with answering(server):
        yield server
        server.over.set()


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion with a comment of Ben's."""
    with discussing(client, clock, address) as made:
        made.posted("The first.", by="ben")
        yield made


def lead_to(server: Broken, method: str) -> Callable[[Route], None]:
    """Return what has a broken server answer the calls of a method; what they write is written."""

    def lead(route: Route) -> None:
        is_meant = route.request.method == method
        if is_meant and method != "GET":
            route.fetch()
        route.continue_(url=server.address if is_meant else route.request.url)

    return lead


def wait_for_its_end(page: Page, broken: Broken) -> None:
    """Wait for half an answer, and for longer than an element does."""
    until(page, lambda: broken.asked > 0)
    page.clock.run_for(TOO_LONG_MS)


def test_a_discussion_whose_answer_breaks_is_told_of_and_can_be_read_again(
    talk: Discussion, broken: Broken, open_page: OpenPage
) -> None:
    def prepare(page: Page) -> None:
        with_clock(page)
        page.route(READ, lead_to(broken, "GET"))

    page = open_page(talk.site_of(""), before=prepare, may_log=NETWORK)
    wait_for_its_end(page, broken)

    expect(page.get_by_role("alert")).to_have_text(UNREACHED)
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("The first.")).to_be_visible()


def test_another_order_whose_answer_breaks_is_told_of_and_can_be_read_again(
    talk: Discussion, broken: Broken, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of(""), before=with_clock, may_log=NETWORK)
    expect(page.get_by_text("The first.")).to_be_visible()
    page.route(READ, lead_to(broken, "GET"))
    page.get_by_role("combobox", name="Order").select_option("newest")
    wait_for_its_end(page, broken)

    expect(page.get_by_role("alert")).to_have_text(UNREACHED)
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("The first.")).to_be_visible()
    expect(page.get_by_role("combobox", name="Order")).to_have_value("newest")


def test_a_comment_whose_answer_breaks_is_kept_in_its_form_and_sent_once(
    talk: Discussion, broken: Broken, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of("ann"), before=with_clock, may_log=NETWORK)
    field = page.get_by_role("textbox", name="Write a comment")
    post = page.get_by_role("button", name="Post", exact=True)
    page.route(POSTS, lead_to(broken, "POST"))
    field.fill("The second.")
    page.clock.run_for(4_000)
    post.click()
    wait_for_its_end(page, broken)

    expect(page.get_by_text(UNREACHED)).to_be_visible()
    expect(field).to_have_value("The second.")
    page.unroute_all()
    post.click()
    expect(page.locator("li .text", has_text="The second.")).to_have_count(1)
    expect(page.get_by_role("heading", name="2 comments", exact=True)).to_be_visible()
