"""The console's page of how readers sign in: who writes, and how it is read and used by all."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from chalicelib.runtime import Runtime
from tests.support.http_client import Client
from tests.web.console.conftest import PHONE, WIDER, Desk, handed_over
from tests.web.support.axe import in_both_schemes
from tests.web.support.browser import until
from tests.web.support.plain_http import at_name
from tests.web.support.sign_in_page import (
    ISS,
    ISSUERS,
    OWN,
    SECRET,
    SERVICES,
    WHO,
    accept,
    answering,
    field,
    issuers,
    offer,
    open_sign_in,
    paula,
    save,
    section,
)
from tests.web.support.site import Site

pytestmark = pytest.mark.usefixtures("public_url")
SETTINGS = f"{OWN}/comments/settings"
NARROW = {"viewport": {"width": 320, "height": 700}}


def test_who_writes_and_the_pages_origins_are_set(desk: Desk) -> None:
    page = open_sign_in(desk, may_log="422")
    missing = page.get_by_role("list", name="What is missing")
    place = section(page, WHO)
    expect(field(place, "Readers who write")).to_have_value("off")
    expect(missing).to_be_hidden()

    field(place, "Readers who write").select_option("accounts")
    origins = field(place, "Origins of your pages")
    origins.fill("https://harbour.example\n\n https://harbour.example/moon")
    save(place)
    expect(origins).to_be_focused()
    expect(origins).to_have_accessible_description(re.compile("Line 2: An origin a line"))
    origins.fill("https://harbour.example")
    save(place)

    expect(page.get_by_role("status")).to_have_text("Saved.")
    stored = desk.admin.get(SETTINGS).json
    assert (stored["guests"], stored["origins"]) == ("accounts", [ISS])
    assert stored["moderation"] == "before"
    expect(missing).to_have_text(
        "Readers without an account of yours have no service to sign in by."
    )


def test_only_what_was_changed_is_set(desk: Desk) -> None:
    page = open_sign_in(desk)
    place = section(page, WHO)
    expect(field(place, "Readers who write")).to_have_value("off")
    # Another publisher is quicker.
    assert desk.admin.patch(SETTINGS, guests="name").status == 200

    save(place)
    expect(page.get_by_role("status")).to_have_text("Nothing was changed.")
    field(place, "Origins of your pages").fill(ISS)
    save(place)

    expect(page.get_by_role("status")).to_have_text("Saved.")
    stored = desk.admin.get(SETTINGS).json
    assert (stored["guests"], stored["origins"]) == ("name", [ISS])


def test_two_publishers_add_and_take_origins_of_one_list(desk: Desk) -> None:
    gone, kept, mine, theirs = (f"https://{name}.example" for name in "abcd")
    assert desk.admin.patch(SETTINGS, origins=[gone, kept]).status == 200
    page = open_sign_in(desk)
    place = section(page, WHO)
    origins = field(place, "Origins of your pages")
    expect(origins).to_have_value(f"{gone}\n{kept}")
    # Another publisher is quicker.
    assert desk.admin.patch(SETTINGS, origins=[kept, theirs]).status == 200

    origins.fill(f"{gone}\n{kept}\n{mine}")
    save(place)

    expect(page.get_by_role("status")).to_have_text("Saved.")
    assert desk.admin.get(SETTINGS).json["origins"] == [kept, mine, theirs]
    expect(origins).to_have_value(f"{kept}\n{mine}\n{theirs}")


def test_a_second_save_leaves_what_another_publisher_has_changed(desk: Desk) -> None:
    page = open_sign_in(desk)
    place = section(page, WHO)
    expect(field(place, "Readers who write")).to_have_value("off")
    # Another publisher is quicker.
    other = "https://other.example"
    assert desk.admin.patch(SETTINGS, origins=[other]).status == 200

    field(place, "Readers who write").select_option("accounts")
    save(place)
    expect(page.get_by_role("status")).to_have_text("Saved.")
    expect(field(place, "Origins of your pages")).to_have_value(other)
    expect(place.get_by_role("button", name="Save")).to_be_focused()
    field(place, "Readers who write").select_option("name")
    save(place)

    until(page, lambda: desk.admin.get(SETTINGS).json["guests"] == "name")
    assert desk.admin.get(SETTINGS).json["origins"] == [other]


@pytest.mark.parametrize("is_meant", [False, True])
def test_the_end_of_all_guests_is_asked_about(desk: Desk, *, is_meant: bool) -> None:
    assert desk.admin.patch(SETTINGS, guests="name").status == 200
    page = open_sign_in(desk)
    asked = answering(page, accepts=is_meant)
    place = section(page, WHO)
    field(place, "Readers who write").select_option("off")

    save(place)

    until(page, lambda: bool(asked))
    assert "End the rights of all guests of harbour?" in asked[0]
    if is_meant:
        expect(page.get_by_role("status")).to_have_text("Saved.")
    assert desk.admin.get(SETTINGS).json["guests"] == ("off" if is_meant else "name")


def test_what_keeps_readers_from_signing_in_is_said(desk: Desk, runtime: Runtime) -> None:
    object.__setattr__(runtime.settings, "public_url", "")
    offer(desk)

    page = open_sign_in(desk)

    missing = page.get_by_role("list", name="What is missing").get_by_role("listitem")
    expect(missing).to_contain_text(
        ["No service is offered while", "Without the origins", "PLAZA_PUBLIC_URL"]
    )
    answering(page, accepts=True)
    section(page, SERVICES).get_by_role("button", name="Remove Harbour accounts").click()
    expect(missing).to_have_count(0)


def test_it_is_done_by_the_keyboard_alone(desk: Desk) -> None:
    page = open_sign_in(desk)
    add = section(page, ISSUERS).get_by_role("button", name="Add an issuer")
    expect(add).to_be_visible()
    page.get_by_role("link", name="Sign-in").focus()
    for _ in range(40):
        if add.evaluate("button => button === document.activeElement"):
            break
        page.keyboard.press("Tab")

    page.keyboard.press("Enter")
    for text in ("accounts", ISS, "", SECRET):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")

    expect(page.get_by_role("status")).to_have_text("accounts is saved.")
    assert [(each["has_secret"], each["trust_email"]) for each in issuers(desk)] == [(True, True)]


def test_on_plain_http_what_is_to_be_copied_is_selected(desk: Desk, address: str) -> None:
    accept(desk, "accounts")
    plain = Site(at_name(address, "plaza.test"))
    plain.address = plain.api
    page = desk.open_page(plain, at=f"/console#token={paula(desk)}")
    assert page.evaluate("isSecureContext") is False
    page.get_by_role("button", name="Sign in as").click()
    page.get_by_role("link", name="Sign-in").click()

    section(page, ISSUERS).get_by_role("button", name="Copy").click()

    expect(page.get_by_role("status")).to_have_text("It is selected: copy it by the keyboard.")
    selected = "field => field.value.slice(field.selectionStart, field.selectionEnd)"
    copied = field(section(page, ISSUERS), "Audience (aud) of its tokens")
    assert copied.evaluate(selected) == "plaza:harbour"


def test_what_a_publisher_wrote_is_text(desk: Desk) -> None:
    offer(desk, name="<img src=x onerror=alert(1)>")

    page = open_sign_in(desk)

    expect(section(page, SERVICES)).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("main img").count() == 0


def test_the_site_of_another_publisher_is_refused(desk: Desk) -> None:
    page = open_sign_in(desk, "?site=abroad", may_log="403")

    expect(page.get_by_role("status")).to_have_text(re.compile("abroad|another publisher"))
    expect(section(page, SERVICES)).to_have_count(0)


def test_an_admin_names_the_site(desk: Desk, client: Client) -> None:
    offer(desk)
    page = handed_over(desk.open_page, client.token("root", name="Root", roles=["admin"]))
    page.get_by_role("link", name="Sign-in").click()
    expect(page.get_by_role("status")).to_have_text("Name a site.")

    page.get_by_label("Site", exact=True).fill("harbour")
    page.get_by_role("button", name="Show", exact=True).click()

    expect(section(page, SERVICES).get_by_role("listitem")).to_contain_text("Harbour accounts")
    assert "?site=harbour#sign-in" in page.url


@pytest.mark.processes
@pytest.mark.parametrize("options", [{}, PHONE, NARROW], ids=["desk", "phone", "narrow"])
def test_it_fits_and_can_be_read_by_all(desk: Desk, axe: str, options: dict[str, Any]) -> None:
    offer(desk)
    accept(desk, "accounts")
    page = open_sign_in(desk, **options)
    expect(section(page, ISSUERS)).to_be_visible()
    assert in_both_schemes(page, axe) == []
    assert page.evaluate(WIDER) == 0

    section(page, SERVICES).get_by_role("button", name="Add a service").click()
    section(page, ISSUERS).get_by_role("button", name="Change accounts").click()
    save(section(page, ISSUERS))
    expect(field(section(page, ISSUERS), "Secret")).to_be_focused()

    assert in_both_schemes(page, axe) == []
    assert page.evaluate(WIDER) == 0


def test_moderators_have_no_such_page(desk: Desk) -> None:
    page = desk.open()

    expect(page.get_by_role("link", name="Log")).to_be_visible()
    expect(page.get_by_role("link", name="Sign-in")).to_have_count(0)
