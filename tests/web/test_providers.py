"""Readers sign in by the providers of a site, from its page and back."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from chalicelib.runtime import Runtime, utc_now
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.openid import register, running_provider
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.site import Site
from tests.web.support.two import Discussion, discussing

expect.set_options(timeout=PATIENCE_MS)
pytestmark = pytest.mark.processes
SIGN_IN = "Sign in with Harbour accounts"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with running_provider() as made:
        yield made


@pytest.fixture
def talk(client: Client, clock: Clock, address: str, runtime: Runtime) -> Iterator[Discussion]:
    """A discussion, whose clock is that of the machine and of the provider."""
    object.__setattr__(runtime.settings, "public_url", address)
    clock.time = utc_now()
    with discussing(client, clock, address) as made:
        made.posted("The first.", by="ben")
        yield made


def offer(talk: Discussion, issuer: str, guests: str = "accounts") -> Site:
    """Offer the provider at the site of the discussion, whose page is returned."""
    path = "/sites/harbour/providers/members"
    client_id, secret = register(issuer, f"{talk.address}{path}/callback", "client_secret_post")
    body = {"kind": "oidc", "issuer": issuer, "client_id": client_id, "client_secret": secret}
    assert talk.admin.put(path, name="Harbour accounts", **body).status == 200
    site = talk.site_of("")
    talk.decide(guests=guests, origins=[site.address])
    return site


def sign_in(page: Page, name: str) -> None:
    """Sign in at the provider, and agree."""
    page.get_by_role("link", name=SIGN_IN).click()
    page.locator("[name=login]").fill(name)
    page.locator("[name=password]").fill("any")
    page.locator("button[type=submit]").click()
    page.wait_for_selector("[name=login]", state="detached")
    page.locator("button[type=submit]").click()


def test_a_reader_signs_in_and_writes_and_is_known_afterwards(
    talk: Discussion, open_page: OpenPage, issuer: str
) -> None:
    site = offer(talk, issuer)
    page = open_page(site, may_log=(issuer, "fonts.googleapis.com", "ERR_NAME_NOT_RESOLVED"))
    expect(page.get_by_role("link", name=SIGN_IN)).to_be_visible()
    expect(page.get_by_role("button", name="Write without an account")).to_have_count(0)

    sign_in(page, "ann")
    expect(page.get_by_text("Write as Ann?")).to_be_visible()
    assert page.url == f"{site.address}/"
    # The question has the only copy of what the sign-in has brought.
    with page.expect_response("**/comments?*order=oldest*"):
        page.get_by_role("combobox").first.select_option(value="oldest")
    page.get_by_role("button", name="Yes").click()
    page.get_by_role("textbox", name="Write a comment").fill("What a view!")
    page.get_by_role("button", name="Post", exact=True).click()

    own = page.get_by_role("article", name="Ann")
    expect(own).to_contain_text("What a view!")
    expect(own.locator(".chip")).to_have_count(0)
    page.reload()
    expect(page.get_by_text("You write as Ann.")).to_be_visible()
    page.get_by_role("button", name="Write under another name").click()
    expect(page.get_by_role("link", name=SIGN_IN)).to_be_visible()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("access_denied", "You have not signed in."),
        ("provider_failed", "This sign-in did not work. Try again in a moment."),
    ],
)
def test_who_comes_back_without_is_told_why(
    talk: Discussion, open_page: OpenPage, issuer: str, code: str, told: str
) -> None:
    site = offer(talk, issuer, guests="name")

    page = open_page(site, at=f"/#plaza-sign-in={code}")

    expect(page.get_by_role("alert")).to_have_text(told)
    expect(page.get_by_role("button", name="Write without an account")).to_be_visible()
    assert page.url == f"{site.address}/"


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_offer_fits_a_phone_and_breaks_no_rule(
    talk: Discussion, open_page: OpenPage, axe: str, issuer: str, language: str
) -> None:
    site = offer(talk, issuer, guests="name")
    site.language = language
    page = open_page(site, viewport={"width": 320, "height": 700})

    expect(page.locator("plaza-comments a[part~=provider]")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert in_both_schemes(page, axe) == []
