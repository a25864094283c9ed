"""The console's services and issuers of a site, each set, changed and removed."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from chalicelib.runtime import Runtime
from tests.web.console.conftest import PUBLIC_URL, Desk, handed_over
from tests.web.support.browser import until
from tests.web.support.sign_in_page import (
    IDENTIFIER,
    ISS,
    ISSUER,
    ISSUERS,
    KEY,
    OWN,
    SECRET,
    SERVICES,
    accept,
    answering,
    field,
    issuers,
    offer,
    open_sign_in,
    save,
    section,
    services,
)

pytestmark = pytest.mark.usefixtures("public_url")
KEYS = f"{ISS}/jwks.json"
REDIRECT = "Redirect address, to register at the service"
COPIES = "navigator.clipboard.writeText = async (text) => { window.copied = text; };"


def test_a_service_is_set_with_the_redirect_address_to_register(desk: Desk) -> None:
    page = open_sign_in(desk, before=lambda page: page.add_init_script(COPIES))
    place = section(page, SERVICES)
    redirect = f"{PUBLIC_URL}{OWN}/providers/members/callback"

    place.get_by_role("button", name="Add a service").press("Enter")
    expect(field(place, KEY)).to_be_focused()
    page.keyboard.type("members")
    expect(field(place, REDIRECT)).to_have_value(redirect)
    place.get_by_role("button", name="Copy").press("Enter")
    expect(page.get_by_role("status")).to_have_text("Copied.")
    assert page.evaluate("copied") == redirect
    field(place, "Name that readers see").fill("Harbour accounts")
    field(place, "Issuer's address").fill(ISSUER)
    field(place, "Client id").fill("plaza")
    field(place, "Client secret").fill(SECRET)
    save(place)

    expect(page.get_by_role("status")).to_have_text("Harbour accounts is saved.")
    expect(place.get_by_role("heading", name=SERVICES)).to_be_focused()
    expect(place.get_by_role("listitem")).to_contain_text("Harbour accounts")
    expect(field(place, REDIRECT)).to_have_value(redirect)
    (stored,) = services(desk)
    assert (stored["key"], stored["kind"], stored["client_id"]) == ("members", "oidc", "plaza")
    assert stored["issuer"] == ISSUER


def test_github_has_an_issuer_of_its_own(desk: Desk) -> None:
    page = open_sign_in(desk)
    place = section(page, SERVICES)
    place.get_by_role("button", name="Add a service").click()
    field(place, KEY).fill("github")
    field(place, "Name that readers see").fill("GitHub")
    field(place, "Kind").select_option("GitHub")
    expect(field(place, "Issuer's address")).to_be_hidden()
    field(place, "Client id").fill("Iv1.0123")
    field(place, "Client secret").fill(SECRET)
    save(place)

    expect(page.get_by_role("status")).to_have_text("GitHub is saved.")
    assert [(each["kind"], each["issuer"]) for each in services(desk)] == [
        ("github", "https://github.com")
    ]


def test_a_secret_is_never_shown_and_each_change_needs_it_anew(desk: Desk) -> None:
    offer(desk)
    page = open_sign_in(desk)
    place = section(page, SERVICES)

    place.get_by_role("button", name="Change Harbour accounts").press("Enter")
    expect(field(place, "Name that readers see")).to_be_focused()
    expect(field(place, KEY)).to_have_count(0)
    expect(field(place, "Client id")).to_have_value("plaza")
    secret = field(place, "Client secret")
    expect(secret).to_have_value("")
    expect(secret).to_have_attribute("type", "password")
    expect(secret).to_have_accessible_description(re.compile("Each change needs it anew"))
    assert SECRET not in page.content()
    field(place, "Name that readers see").fill("The harbour")
    save(place)

    expect(secret).to_be_focused()
    expect(secret).to_have_accessible_description(re.compile("Fill this in"))
    assert [each["name"] for each in services(desk)] == ["Harbour accounts"]
    secret.fill(SECRET)
    save(place)

    expect(page.get_by_role("status")).to_have_text("The harbour is saved.")
    expect(place.get_by_role("listitem")).to_have_count(1)
    assert [(each["key"], each["name"]) for each in services(desk)] == [("members", "The harbour")]


@pytest.mark.parametrize("is_meant", [False, True])
def test_another_issuer_is_asked_about_since_it_makes_other_people(
    desk: Desk, *, is_meant: bool
) -> None:
    offer(desk)
    page = open_sign_in(desk)
    asked = answering(page, accepts=is_meant)
    place = section(page, SERVICES)
    place.get_by_role("button", name="Change Harbour accounts").click()
    field(place, "Issuer's address").fill("https://accounts.example")
    field(place, "Client secret").fill(SECRET)

    save(place)

    until(page, lambda: bool(asked))
    assert "is somebody new" in asked[0]
    if is_meant:
        expect(page.get_by_role("status")).to_contain_text("is saved")
    expected = "https://accounts.example" if is_meant else ISSUER
    assert [each["issuer"] for each in services(desk)] == [expected]


def test_a_name_that_is_taken_replaces_nothing(desk: Desk) -> None:
    page = open_sign_in(desk)
    place = section(page, ISSUERS)
    place.get_by_role("button", name="Add an issuer").click()
    # Another publisher is quicker.
    accept(desk, "accounts")
    key = field(place, KEY)
    key.fill("accounts")
    field(place, IDENTIFIER).fill("https://other.example")
    field(place, "Secret").fill("another-secret-of-the-harbours-accounts")

    save(place)

    expect(key).to_be_focused()
    expect(key).to_have_accessible_description(re.compile("This name is taken"))
    assert [each["iss"] for each in issuers(desk)] == [ISS]


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_change_replaces_nothing_that_another_publisher_has_changed_meanwhile(
    desk: Desk, *, is_removed: bool
) -> None:
    accept(desk, "accounts")
    page = open_sign_in(desk)
    place = section(page, ISSUERS)
    place.get_by_role("button", name="Change accounts").click()
    # Another publisher is quicker.
    path, other = f"{OWN}/issuers/accounts", "https://other.example"
    theirs = (
        desk.admin.delete(path) if is_removed else desk.admin.put(path, iss=other, secret=SECRET)
    )
    assert theirs.status in {200, 204}
    field(place, "Secret").fill("another-secret-of-the-harbours-accounts")

    save(place)

    told = "removed" if is_removed else "changed"
    expect(place.get_by_role("alert")).to_contain_text(f"Another publisher has {told} it meanwhile")
    assert [each["iss"] for each in issuers(desk)] == ([] if is_removed else [other])
    place.get_by_role("button", name="Cancel").press("Enter")
    expect(place.get_by_role("listitem")).to_have_count(0 if is_removed else 1)
    focused = ("heading", ISSUERS) if is_removed else ("button", "Change accounts")
    expect(place.get_by_role(focused[0], name=focused[1])).to_be_focused()  # type: ignore[arg-type]


@pytest.mark.parametrize("kept", [SERVICES, ISSUERS])
def test_what_was_just_saved_can_be_changed_again(desk: Desk, kept: str) -> None:
    offer(desk)
    accept(desk, "accounts")
    page = open_sign_in(desk)
    place = section(page, kept)

    for _ in range(2):
        place.get_by_role("button", name="Change").click()
        secret = "Client secret" if kept == SERVICES else "Secret"
        field(place, secret).fill(SECRET)
        save(place)

        expect(page.get_by_role("status")).to_contain_text("is saved.")


def test_an_issuer_with_published_keys_has_the_fault_of_an_address_at_its_field(
    desk: Desk,
) -> None:
    page = open_sign_in(desk, may_log="422")
    place = section(page, ISSUERS)
    place.get_by_role("button", name="Add an issuer").click()
    field(place, KEY).fill("Accounts!")
    field(place, IDENTIFIER).fill(ISS)
    field(place, "What verifies its tokens").select_option("Published keys (RS256, ES256)")
    expect(field(place, "Secret")).to_be_hidden()
    address = field(place, "Address of the published keys")
    address.fill("https://harbour.example@evil.example/jwks.json")
    save(place)
    key = field(place, KEY)
    expect(key).to_be_focused()
    expect(key).to_have_attribute("aria-invalid", "true")
    key.fill("accounts")

    for wrong, words in [
        (address.input_value(), "names no user and no password$"),
        ("http://harbour.example/jwks.json", "(A public https address.*){2}"),
    ]:
        address.fill(wrong)
        save(place)
        expect(address).to_have_accessible_description(re.compile(words))
        expect(address).to_be_focused()
        expect(address).to_have_attribute("aria-invalid", "true")
        expect(key).not_to_have_attribute("aria-invalid", "true")
        expect(place.get_by_role("alert")).to_be_empty()
    assert issuers(desk) == []
    address.fill(KEYS)
    field(place, "Its verified e-mail addresses are believed").press("Space")
    save(place)

    expect(page.get_by_role("status")).to_have_text("accounts is saved.")
    (stored,) = issuers(desk)
    assert (stored["jwks_url"], stored["has_secret"], stored["trust_email"]) == (KEYS, False, True)
    expect(field(place, "Audience (aud) of its tokens")).to_have_value("plaza:harbour")


def test_the_deployments_own_issuer_is_refused_at_its_field(desk: Desk, runtime: Runtime) -> None:
    object.__setattr__(runtime.settings, "jwt_issuer", "https://plaza.example/accounts")
    token = desk.client.token(
        "paula", roles=["publisher"], sites=["harbour"], iss=f"{PUBLIC_URL}/accounts"
    )
    page = handed_over(desk.open_page, token, may_log="422")
    page.get_by_role("link", name="Sign-in").click()
    place = section(page, ISSUERS)
    place.get_by_role("button", name="Add an issuer").click()
    field(place, KEY).fill("accounts")
    iss = field(place, IDENTIFIER)
    iss.fill("https://plaza.example/accounts")
    field(place, "Secret").fill(SECRET)

    save(place)

    expect(iss).to_be_focused()
    expect(iss).to_have_accessible_description(re.compile("the deployment's issuer"))


def two_services(desk: Desk) -> tuple[Page, list[Route]]:
    """Open the page of a site with two services; return the removals that are on their way, too."""
    offer(desk)
    offer(desk, "others", "Other accounts")
    page = open_sign_in(desk)
    answering(page, accepts=True)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(f"**{OWN}/providers/*", hold)
    return page, held


def test_a_form_that_opens_during_a_removal_stays(desk: Desk) -> None:
    page, held = two_services(desk)
    place = section(page, SERVICES)
    place.get_by_role("button", name="Remove Harbour accounts").press("Enter")
    until(page, lambda: bool(held))
    place.get_by_role("button", name="Change Other accounts").press("Enter")
    field(place, "Name that readers see").fill("Renamed")

    held[0].continue_()

    expect(page.get_by_role("status")).to_have_text("Harbour accounts is removed.")
    expect(field(place, "Name that readers see")).to_have_value("Renamed")
    place.get_by_role("button", name="Cancel").press("Enter")
    expect(place.get_by_role("listitem")).to_have_count(1)


def test_two_removals_at_once_both_leave_the_list(desk: Desk) -> None:
    page, held = two_services(desk)
    place = section(page, SERVICES)
    for number, name in enumerate(("Harbour accounts", "Other accounts"), 1):
        place.get_by_role("button", name=f"Remove {name}").press("Enter")
        until(page, lambda number=number: len(held) == number)  # type: ignore[misc]
    for each in held:
        each.continue_()

    expect(place.get_by_role("listitem")).to_have_count(0)


def test_a_fourth_issuer_is_refused_and_stays_in_the_form(desk: Desk) -> None:
    accept(desk, "first", "second", "third")
    page = open_sign_in(desk, may_log="409")
    place = section(page, ISSUERS)
    place.get_by_role("button", name="Add an issuer").click()
    field(place, KEY).fill("fourth")
    field(place, IDENTIFIER).fill(ISS)
    field(place, "Secret").fill(SECRET)

    save(place)

    expect(place.get_by_role("alert")).to_have_text("The site has three issuers; remove one first")
    expect(field(place, KEY)).to_have_value("fourth")
    expect(field(place, "Secret")).to_have_value(SECRET)
    place.get_by_role("button", name="Cancel").press("Enter")
    expect(place.get_by_role("button", name="Add an issuer")).to_be_focused()
    expect(place.get_by_role("listitem")).to_have_count(3)


@pytest.mark.parametrize("is_meant", [False, True])
@pytest.mark.parametrize(
    ("kept", "name", "words"),
    [
        (SERVICES, "Harbour accounts", "writes on until their token ends"),
        (ISSUERS, "accounts", "tokens end within five seconds"),
    ],
)
def test_a_removal_says_first_what_it_does(
    desk: Desk, kept: str, name: str, words: str, *, is_meant: bool
) -> None:
    offer(desk)
    accept(desk, "accounts")
    page = open_sign_in(desk)
    asked = answering(page, accepts=is_meant)
    place = section(page, kept)

    place.get_by_role("button", name=f"Remove {name}").press("Enter")

    until(page, lambda: bool(asked))
    assert words in asked[0]
    if is_meant:
        expect(page.get_by_role("status")).to_have_text(f"{name} is removed.")
        expect(place.get_by_role("heading", name=kept)).to_be_focused()
    expect(place.get_by_role("listitem")).to_have_count(0 if is_meant else 1)
    left = services(desk) if kept == SERVICES else issuers(desk)
    assert len(left) == (0 if is_meant else 1)
