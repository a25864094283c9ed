"""A guest becomes an account, by the page and the mailbox, and keeps what they wrote."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from chalicelib.runtime import Runtime, utc_now
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.openid import running_provider
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.letters import link_in, with_mail
from tests.web.support.site import Site
from tests.web.support.two import Discussion, discussing
from tests.web.test_providers import offer, sign_in

expect.set_options(timeout=PATIENCE_MS)
pytestmark = pytest.mark.processes
FOREIGN = "ERR_NAME_NOT_RESOLVED"
TAKE_ALONG = "Yes, with what I wrote as Passenger"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with running_provider() as made:
        yield made


@pytest.fixture
def talk(
    client: Client, clock: Clock, address: str, runtime: Runtime, tmp_path: Path
) -> Iterator[Discussion]:
    """A discussion, whose clock is that of the provider, and whose letters lie in a folder."""
    with_mail(runtime, address, tmp_path)
    clock.time = utc_now()
    with discussing(client, clock, address) as made:
        made.posted("The first.", by="ben")
        yield made


def write_as_guest(page: Page, text: str) -> None:
    page.get_by_role("button", name="Write without an account").click()
    page.get_by_role("textbox", name="Your name").fill("Passenger")
    page.get_by_role("textbox", name="Your e-mail address").fill("ann@mail.example")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("We have sent a letter to ann@mail.example.")).to_be_visible()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("textbox", name="Write a comment").fill(text)
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.get_by_role("article", name="Passenger")).to_contain_text(text)


def confirm(page: Page, folder: Path) -> None:
    """Press the button of the link in the only letter of the mailbox."""
    page.goto(link_in(folder))
    page.get_by_role("button", name="Yes, show my comments").click()


def opened(open_page: OpenPage, site: Site, issuer: str, **options: Any) -> Page:
    return open_page(site, may_log=(issuer, "fonts.googleapis.com", FOREIGN), **options)


def test_a_guest_is_joined_with_an_account_and_exports_and_erases_what_they_wrote(
    talk: Discussion, open_page: OpenPage, issuer: str, workers: Workers, tmp_path: Path
) -> None:
    site = offer(talk, issuer, guests="email")
    page = opened(open_page, site, issuer)
    write_as_guest(page, "What a view!")
    workers.drain()
    confirm(page, tmp_path)
    expect(page.get_by_role("article", name="Passenger")).to_contain_text("What a view!")

    page.get_by_role("button", name="Write under another name").click()
    sign_in(page, "ann")
    expect(page.get_by_text("Write as Ann?")).to_be_visible()
    page.get_by_role("button", name=TAKE_ALONG).click()

    own = page.get_by_role("article", name="Ann")
    expect(own).to_contain_text("What a view!")
    expect(own.locator(".chip")).to_have_count(0)
    expect(own.get_by_role("button", name="Edit")).to_be_visible()
    expect(page.get_by_role("article", name="Passenger")).to_have_count(0)
    assert page.evaluate("sessionStorage.getItem('plaza:guest')") == ""
    token = page.evaluate("localStorage.getItem('plaza:guest')")
    ann = Client(talk.client.app, talk.client.token, {"Authorization": f"Bearer {token}"})
    workers.drain()
    exported = ann.get("/users/me/export?limit=200").json["entries"]
    texts = [each["data"]["text"] for each in exported if each["kind"] == "comment"]
    assert texts == ["What a view!"]

    assert ann.delete("/users/me").status == 202
    workers.drain()
    page.reload()

    expect(page.get_by_role("article", name="Ben")).to_be_visible()
    expect(page.get_by_text("What a view!")).to_have_count(0)
    assert ann.get("/users/me/erasure").json["remaining"] == 0


def test_who_leaves_the_past_behind_writes_as_the_account_alone(
    talk: Discussion, open_page: OpenPage, issuer: str, workers: Workers, tmp_path: Path
) -> None:
    site = offer(talk, issuer, guests="email")
    page = opened(open_page, site, issuer)
    write_as_guest(page, "What a view!")
    workers.drain()
    confirm(page, tmp_path)
    page.get_by_role("button", name="Write under another name").click()
    sign_in(page, "ann")
    expect(page.get_by_role("button", name=TAKE_ALONG)).to_be_visible()

    page.get_by_role("button", name="Yes", exact=True).click()

    expect(page.get_by_text("You write as Ann.")).to_be_visible()
    expect(page.get_by_role("article", name="Passenger")).to_contain_text("What a view!")


def test_an_address_finds_the_past_in_a_browser_that_knows_no_guest(
    talk: Discussion, open_page: OpenPage, issuer: str, workers: Workers, tmp_path: Path
) -> None:
    site = offer(talk, issuer, guests="email")
    first = opened(open_page, site, issuer)
    write_as_guest(first, "What a view!")
    workers.drain()
    confirm(first, tmp_path)
    expect(first.get_by_role("article", name="Passenger")).to_contain_text("What a view!")
    page = opened(open_page, site, issuer)

    sign_in(page, "ann")
    page.get_by_role("button", name=TAKE_ALONG).click()

    expect(page.get_by_role("article", name="Ann")).to_contain_text("What a view!")


def test_a_past_of_another_account_is_told(
    talk: Discussion, open_page: OpenPage, issuer: str
) -> None:
    site = offer(talk, issuer, guests="name")
    page = open_page(site, may_log=(issuer, "fonts.googleapis.com", FOREIGN, "409"))
    page.get_by_role("button", name="Write without an account").click()
    page.get_by_role("textbox", name="Your name").fill("Passenger")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("You write as Passenger.")).to_be_visible()
    token = page.evaluate("localStorage.getItem('plaza:guest')")
    eve = talk.client.as_("eve", name="Eve")
    assert eve.post("/sites/harbour/people/me/joined", token=token).status == 202
    page.get_by_role("button", name="Write under another name").click()
    sign_in(page, "ann")

    page.get_by_role("button", name=TAKE_ALONG).click()

    expect(page.get_by_role("alert")).to_have_text(
        "What that guest wrote belongs to another account."
    )
    page.get_by_role("button", name="Yes", exact=True).click()
    expect(page.get_by_text("You write as Ann.")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_question_fits_a_phone_and_breaks_no_rule(
    talk: Discussion, open_page: OpenPage, axe: str, issuer: str, language: str
) -> None:
    site = offer(talk, issuer, guests="name")
    page = opened(open_page, site, issuer, viewport={"width": 320, "height": 700})
    page.get_by_role("button", name="Write without an account").click()
    page.get_by_role("textbox", name="Your name").fill("Passenger of the late ferry")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Write under another name").click()
    # The page is served in its language from the next visit.
    site.language = language
    sign_in(page, "ann")

    expect(page.locator("plaza-comments .note button")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert in_both_schemes(page, axe) == []
