"""The console's page of how readers sign in, as a site's publisher opens it."""

from typing import Any

from playwright.sync_api import Dialog, Locator, Page, expect

from tests.web.console.conftest import Desk, handed_over

OWN = "/sites/harbour"
SECRET = "the-secret-of-the-harbours-own-accounts"
ISS = "https://harbour.example"
ISSUER = "https://accounts.harbour.example"
SERVICES, ISSUERS, WHO = "Services to sign in by", "Accounts of your own", "Who writes"
KEY = "Its name in addresses"
IDENTIFIER = "Issuer (iss) of its tokens"


def paula(desk: Desk) -> str:
    """Return the token of the site's publisher."""
    claims = {"name": "Paula", "roles": ["publisher"], "sites": ["harbour"]}
    return desk.client.token("paula", **claims)


def open_sign_in(desk: Desk, query: str = "", **options: Any) -> Page:
    """Open the page as the site's publisher."""
    page = handed_over(desk.open_page, paula(desk), **options)
    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
    page.goto(f"{page.url.partition('#')[0]}{query}#sign-in")
    expect(page.get_by_role("heading", name="How readers sign in")).to_be_visible()
    return page


def section(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def field(place: Locator, name: str) -> Locator:
    return place.get_by_label(name, exact=True)


def save(place: Locator) -> None:
    place.get_by_role("button", name="Save").press("Enter")


def offer(desk: Desk, key: str = "members", name: str = "Harbour accounts") -> None:
    """Set a service of the site."""
    body = {"kind": "oidc", "issuer": ISSUER, "client_id": "plaza"}
    reply = desk.admin.put(f"{OWN}/providers/{key}", name=name, client_secret=SECRET, **body)
    assert reply.status == 200, reply.body


def accept(desk: Desk, *keys: str) -> None:
    """Set issuers of the site."""
    for key in keys:
        reply = desk.admin.put(f"{OWN}/issuers/{key}", iss=ISS, secret=SECRET)
        assert reply.status == 200, reply.body


def services(desk: Desk) -> list[dict[str, Any]]:
    return list(desk.admin.get(f"{OWN}/providers").json["providers"])


def issuers(desk: Desk) -> list[dict[str, Any]]:
    return list(desk.admin.get(f"{OWN}/issuers").json["issuers"])


def answering(page: Page, *, accepts: bool) -> list[str]:
    """Answer the page's questions; return what they ask, as it comes."""
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        if accepts:
            dialog.accept()
        else:
            dialog.dismiss()

    page.on("dialog", answer)
    return asked
