"""The desk of a site's moderators, with the console that they open."""

from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, Response, expect

from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
PUBLIC_URL = "https://plaza.example"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def handed_over(open_page: OpenPage, token: str, query: str = "", **options: Any) -> Page:
    """Open the console by an address with a token, and confirm who it is."""
    page = open_page(f"/console{query}#token={token}", **options)
    page.get_by_role("button", name="Sign in as").click()
    return page


@dataclass(frozen=True)
class Desk:
    """A site that holds back every comment, and its moderators' consoles."""

    client: Client
    clock: Clock
    open_page: OpenPage

    @property
    def admin(self) -> Client:
        return self.client.as_("admin", roles=["admin"])

    @property
    def moderator(self) -> Client:
        return self.client.as_("mo", name="Mo", roles=["moderator"])

    def settle(self) -> None:
        """Make the page, and have its site hold back every comment."""
        made = self.admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/")
        assert made.status == 201
        held = self.admin.put("/sites/harbour/comments/settings", moderation="before")
        assert held.status == 200, held.body
        self.clock.advance(seconds=6)

    def post(self, text: str = "The moon is up.", by: str = "ann", **body: str) -> str:
        """Have somebody post a comment; return its id."""
        self.clock.advance(minutes=1)
        author = self.client.as_(by, name=by.title())
        reply = author.post(f"/nodes/{NODE}/comments", text=text, **body)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def state(self, comment: str) -> str:
        return str(self.admin.get(f"/nodes/{NODE}/comments/{comment}").json["state"])

    def token(self, sub: str = "mo") -> str:
        return self.client.token(sub, name=sub.title(), roles=["moderator"])

    def sign_in_again(self, page: Page) -> None:
        """Answer the question for a token, after the end of the former."""
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Token").fill(self.token())
        dialog.get_by_role("button", name="Sign in").click()

    def open(self, sub: str = "mo", **options: Any) -> Page:
        """Open the console as a moderator, whose site hands over the token in the address."""
        page = handed_over(self.open_page, self.token(sub), **options)
        expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
        return page

    def open_and_read(self, **options: Any) -> Page:
        """Open the console, and wait until nothing more is asked for the first comment."""
        claims: list[str] = []

        def note(response: Response) -> None:
            if response.url.endswith("/claim"):
                claims.append(response.url)

        page = self.open(before=lambda page: page.on("response", note), **options)
        expect(page.get_by_role("article").first).to_contain_text("On Moon")
        until(page, lambda: bool(claims))
        return page

    def open_log(self, query: str = "?site=harbour", **options: Any) -> Page:
        """Open the log of moderation as a moderator who is signed in."""
        page = self.open(**options)
        page.goto(f"{page.url.partition('#')[0]}{query}#log")
        expect(page.get_by_role("heading", name="What moderators did")).to_be_visible()
        return page


@pytest.fixture
def desk(client: Client, clock: Clock, open_page: OpenPage) -> Desk:
    """The desk of a site that holds back every comment."""
    desk = Desk(client, clock, open_page)
    desk.settle()
    return desk


@pytest.fixture
def public_url(runtime: Runtime) -> str:
    """The address that pages reach the API at, which is another than the console's."""
    object.__setattr__(runtime.settings, "public_url", PUBLIC_URL)
    return PUBLIC_URL
