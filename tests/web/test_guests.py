"""Readers without an account write under a name of their choice, where the site lets them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.browser import WITHOUT_STORAGE
from tests.web.support.letters import link_in, links_in, with_mail
from tests.web.support.two import Discussion, discussing

expect.set_options(timeout=PATIENCE_MS)
FAILED = "Failed to load resource"
WITHOUT_ACCOUNT = "Write without an account"


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion with guests, and a comment of Ben's."""
    with discussing(client, clock, address) as made:
        made.decide(guests="name")
        made.posted("The first.", by="ben")
        yield made


def choose_name(page: Page, name: str) -> None:
    page.get_by_role("button", name=WITHOUT_ACCOUNT).click()
    expect(page.get_by_role("textbox", name="Your name")).to_be_focused()
    page.get_by_role("textbox", name="Your name").fill(name)
    page.get_by_role("button", name="Continue").click()


def test_a_guest_writes_and_is_known_when_they_come_back(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of(""))
    choose_name(page, "Passenger")
    field = page.get_by_role("textbox", name="Write a comment")
    expect(field).to_be_focused()

    field.fill("What a view!")
    page.get_by_role("button", name="Post", exact=True).click()

    own = page.get_by_role("article", name="Passenger")
    expect(own).to_contain_text("What a view!")
    expect(own.locator(".chip")).to_have_text("guest")
    page.reload()
    expect(page.get_by_text("You write as Passenger.")).to_be_visible()
    expect(own.get_by_role("button", name="Edit")).to_be_visible()
    page.get_by_role("article", name="Ben").get_by_role("button", name="Vote for").click()
    expect(page.get_by_role("article", name="Ben")).to_contain_text("▲Vote for this comment 1")


def test_a_name_that_is_being_typed_stays_when_the_order_changes(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of(""))
    page.get_by_role("button", name=WITHOUT_ACCOUNT).click()
    page.get_by_role("textbox", name="Your name").fill("Passenger")

    with page.expect_response("**/comments?*order=oldest*"):
        page.get_by_role("combobox").first.select_option(value="oldest")

    expect(page.get_by_role("textbox", name="Your name")).to_have_value("Passenger")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("You write as Passenger.")).to_be_visible()


def test_a_guest_of_one_tab_is_the_same_in_the_others(
    talk: Discussion, open_page: OpenPage
) -> None:
    site = talk.site_of("")
    page = open_page(site)
    other = page.context.new_page()
    other.goto(f"{site.address}/")
    expect(other.get_by_role("button", name=WITHOUT_ACCOUNT)).to_be_visible()

    choose_name(page, "Passenger")

    expect(other.get_by_text("You write as Passenger.")).to_be_visible()
    expect(other.get_by_role("button", name=WITHOUT_ACCOUNT)).to_have_count(0)


def test_a_guest_takes_another_name(talk: Discussion, open_page: OpenPage) -> None:
    page = open_page(talk.site_of(""))
    choose_name(page, "Passenger")

    page.get_by_role("button", name="Write under another name").click()

    choose_name(page, "Pilot")
    expect(page.get_by_text("You write as Pilot.")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Ben", "Someone else here has this name. Choose another."),
        ("Admin", "This name cannot be used. Choose another."),
    ],
)
def test_a_name_that_cannot_be_had_is_told_and_stays_to_be_changed(
    talk: Discussion, open_page: OpenPage, name: str, told: str
) -> None:
    page = open_page(talk.site_of(""), may_log=FAILED)

    choose_name(page, name)

    expect(page.get_by_role("alert")).to_have_text(told)
    expect(page.get_by_role("textbox", name="Your name")).to_have_value(name)
    page.get_by_role("textbox", name="Your name").fill("Bea")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("You write as Bea.")).to_be_visible()


def test_who_goes_back_finds_the_invitation(talk: Discussion, open_page: OpenPage) -> None:
    page = open_page(talk.site_of(""))
    page.get_by_role("button", name=WITHOUT_ACCOUNT).click()

    page.get_by_role("textbox", name="Your name").press("Escape")

    expect(page.get_by_role("button", name="Sign in to comment")).to_be_visible()
    expect(page.get_by_role("button", name=WITHOUT_ACCOUNT)).to_be_visible()
    focused = "document.querySelector('plaza-comments').shadowRoot.activeElement?.localName"
    assert page.evaluate(focused) == "button"


def test_an_account_goes_before_a_guest(talk: Discussion, open_page: OpenPage) -> None:
    site = talk.site_of("")
    page = open_page(site)
    choose_name(page, "Passenger")
    expect(page.get_by_text("You write as Passenger.")).to_be_visible()

    site.token = lambda: talk.client.token("ann", name="Ann")
    page.reload()

    expect(page.get_by_role("textbox", name="Write a comment")).to_be_visible()
    expect(page.get_by_text("You write as")).to_have_count(0)


def test_a_guest_whose_token_ends_or_whose_site_has_no_guests_any_more_is_invited(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of(""), may_log=FAILED)
    choose_name(page, "Passenger")
    expect(page.get_by_text("You write as Passenger.")).to_be_visible()

    talk.clock.advance(days=91)
    page.reload()

    expect(page.get_by_role("button", name=WITHOUT_ACCOUNT)).to_be_visible()
    choose_name(page, "Passenger")
    expect(page.get_by_text("You write as Passenger.")).to_be_visible()
    talk.decide(guests="off")
    page.reload()
    expect(page.get_by_role("button", name="Sign in to comment")).to_be_visible()
    expect(page.get_by_role("button", name=WITHOUT_ACCOUNT)).to_have_count(0)


@pytest.mark.parametrize("storage", WITHOUT_STORAGE)
def test_a_browser_without_storage_has_a_guest_for_as_long_as_the_page(
    talk: Discussion, open_page: OpenPage, storage: str
) -> None:
    """Also where a guest has left before there was no more room."""
    left = "localStorage.setItem('plaza:guest', '');"
    none = f"{left}{WITHOUT_STORAGE[storage]}"
    page = open_page(talk.site_of(""), before=lambda page: page.add_init_script(none))

    choose_name(page, "Passenger")

    expect(page.get_by_text("You write as Passenger.")).to_be_visible()


def test_a_guest_confirms_an_address_by_a_letter_and_is_shown_to_all(
    talk: Discussion, open_page: OpenPage, runtime: Runtime, workers: Workers, tmp_path: Path
) -> None:
    with_mail(runtime, talk.address, tmp_path)
    site = talk.site_of("")
    talk.decide(guests="email", origins=[site.address])
    page = open_page(site)
    page.get_by_role("button", name=WITHOUT_ACCOUNT).click()
    page.get_by_role("textbox", name="Your name").fill("Passenger")
    page.get_by_role("textbox", name="Your e-mail address").fill("ann@mail.example")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("[role=status].note")).to_contain_text("a letter to ann@mail.example")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("textbox", name="Write a comment").fill("What a view!")
    page.get_by_role("button", name="Post", exact=True).click()
    expect(page.get_by_role("article", name="Passenger")).to_contain_text("What a view!")
    reader = open_page(site)
    expect(reader.get_by_role("article", name="Ben")).to_be_visible()
    expect(reader.get_by_role("article", name="Passenger")).to_have_count(0)
    workers.drain()

    page.goto(link_in(tmp_path))
    expect(page.get_by_role("heading", name="Confirm your address")).to_be_visible()
    page.get_by_role("button", name="Yes, show my comments").click()

    expect(page.get_by_role("article", name="Passenger")).to_contain_text("What a view!")
    assert page.url == f"{site.address}/"
    reader = open_page(site)
    expect(reader.get_by_role("article", name="Passenger")).to_contain_text("What a view!")


def test_a_guest_of_before_comes_back_on_another_device_by_a_letter(
    talk: Discussion, open_page: OpenPage, runtime: Runtime, workers: Workers, tmp_path: Path
) -> None:
    with_mail(runtime, talk.address, tmp_path)
    site = talk.site_of("")
    talk.decide(guests="email", origins=[site.address])
    said = {"name": "Passenger", "email": "ann@mail.example", "return_to": site.address}
    assert talk.client.post("/sites/harbour/guests", **said).status == 201
    workers.drain()
    first = link_in(tmp_path)
    confirmed = first.removeprefix(talk.address)
    assert talk.client.request("POST", confirmed).status == 302
    page = open_page(site)
    page.get_by_role("button", name=WITHOUT_ACCOUNT).click()
    page.get_by_role("textbox", name="Your e-mail address").fill("ann@mail.example")
    page.get_by_role("button", name="I have written here before").click()
    sent = page.locator("[role=status].note")
    expect(sent).to_contain_text("a letter is on its way")
    expect(sent).to_be_focused()
    workers.drain()

    page.goto(next(each for each in links_in(tmp_path) if each != first))
    page.get_by_role("button", name="Yes, go on").click()
    expect(page.get_by_text("Write as Passenger?")).to_be_visible()
    assert page.url == f"{site.address}/"
    page.get_by_role("button", name="Yes").click()

    expect(page.get_by_text("You write as Passenger.")).to_be_visible()


def test_an_address_that_no_letter_reaches_is_told(
    talk: Discussion, open_page: OpenPage, runtime: Runtime, tmp_path: Path
) -> None:
    with_mail(runtime, talk.address, tmp_path)
    site = talk.site_of("")
    talk.decide(guests="email", origins=[site.address])
    page = open_page(site, may_log=FAILED)
    page.get_by_role("button", name=WITHOUT_ACCOUNT).click()
    page.get_by_role("textbox", name="Your name").fill("Passenger")

    page.get_by_role("textbox", name="Your e-mail address").fill("ann@localhost")
    page.get_by_role("button", name="Continue").click()

    expect(page.get_by_role("alert")).to_have_text(
        "No letter can go to this address. Choose another."
    )


@pytest.mark.processes
@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_form_fits_a_phone_and_breaks_no_rule(
    talk: Discussion, open_page: OpenPage, axe: str, language: str
) -> None:
    site = talk.site_of("")
    site.language = language
    page = open_page(site, viewport={"width": 320, "height": 700})
    page.locator("plaza-comments .note button").nth(1).click()

    expect(page.locator("plaza-comments form input")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert in_both_schemes(page, axe) == []
