"""A discussion with votes and reactions, and two readers of it, each in a browser of their own."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Page, Request

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.support.browser import until
from tests.web.support.site import Site, serving

NODE = "harbour:moon"
REACTIONS = [
    {"key": "heart", "emoji": "❤️"},
    {"key": "fire", "emoji": "🔥"},
    {"key": "laugh", "emoji": "😂"},
]
# Longer than until the first look for what is new.
POLL_MS = 31_000
# The longest wait between two looks, and as much for a busy machine.
_MOST_TURNS = 200


@dataclass
class Discussion:
    """What people read: `as_` calls the API, `site_of` is the page of one of them."""

    client: Client
    clock: Clock
    address: str
    stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def settle(self) -> None:
        """Make the node of the page, with votes for and against, and reactions."""
        assert self.admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status < 300
        self.decide()

    @property
    def admin(self) -> Client:
        return self.client.as_("admin", roles=["admin"])

    def decide(self, **settings: Any) -> None:
        """Set what the site allows, and let it be forgotten what it was."""
        given = {"votes": "up_down", "reactions": REACTIONS, **settings}
        assert self.admin.put("/sites/harbour/comments/settings", **given).status == 200
        self.clock.advance(seconds=6)

    def posted(self, text: str = "The moon is up.", by: str = "ann", **body: Any) -> str:
        """Post a comment; return its id."""
        author = self.client.as_(by, name=by.title())
        reply = author.post(f"/nodes/{NODE}/comments", text=text, **body)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def feature(self, comment: str) -> None:
        assert self.admin.put(f"/nodes/{NODE}/comments/{comment}/featured").status < 300

    def vote(self, comment: str, by: str, value: int = 1) -> None:
        reply = self.client.as_(by).put(f"/nodes/{NODE}/comments/{comment}/vote", value=value)
        assert reply.status == 200, reply.body

    def marks(self, comment: str, sub: str | None = None) -> Any:
        """Return what the API tells of a comment."""
        reader = self.client.as_(sub) if sub else self.client
        return reader.get(f"/nodes/{NODE}/marks?ids={comment}").json["comments"][comment]

    def page_reactions(self) -> Any:
        return self.client.get(f"/nodes/{NODE}/comments").json["page"]["reactions"]

    def site_of(self, sub: str, **claims: Any) -> Site:
        """Return a site with the discussion, which somebody reads; "" is a guest."""
        site = Site(self.address, body=f'<plaza-comments node="{NODE}"></plaza-comments>')
        site.css = "html { background: Canvas; color: CanvasText; color-scheme: light dark; }"
        if sub:
            site.token = lambda: self.client.token(sub, name=sub.title(), **claims)
        return self.stack.enter_context(serving(site))


@contextlib.contextmanager
def discussing(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """Give a discussion, and close its sites afterwards."""
    made = Discussion(client, clock, address)
    made.settle()
    with made.stack:
        yield made


def with_clock(page: Page) -> None:
    """Have a page's time pass by `page.clock.run_for`."""
    page.clock.install()


def look(page: Page) -> None:
    """Let time pass until the page has looked for what is new, and has the whole answer.

    While an answer is on its way the clock stands: the page gives a call up after 35 seconds.
    """
    asked: list[Request] = []
    ended: list[Request] = []

    def note(request: Request) -> None:
        if "limit=50" in request.url:
            asked.append(request)

    def end(request: Request) -> None:
        ended.append(request)

    page.on("request", note)
    page.on("requestfinished", end)
    page.on("requestfailed", end)
    for _ in range(_MOST_TURNS):
        page.clock.run_for(POLL_MS)
        page.wait_for_timeout(50)
        if asked:
            break
    else:
        pytest.fail("the page never looked")
    until(page, lambda: all(each in ended for each in asked))
    page.remove_listener("request", note)
    page.remove_listener("requestfinished", end)
    page.remove_listener("requestfailed", end)
