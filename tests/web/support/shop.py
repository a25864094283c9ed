"""What a buyer does in a page with a cart, and what a shop has afterwards."""

from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.shop.support.buying import OTHER, SKU
from tests.shop.support.factories import SITE
from tests.support.http_client import Client

CART = (
    "".join(
        f'<button data-plaza-buy="{sku}" data-plaza-site="{SITE}" data-plaza-title="{title}">'
        f"Buy {title}</button>"
        for sku, title in ((SKU, "A whale"), (OTHER, "A ship"))
    )
    + f'<plaza-cart site="{SITE}" loading="eager">A cart</plaza-cart>'
)
TITLES = {SKU: "A whale", OTHER: "A ship"}
# What Chromium logs of an answer that is no success.
FAILED = "Failed to load resource"
HOLDS = f"/shops/{SITE}/holds"
ORDER = "Order and pay €18.99"
THANKS = "Thank you for your order."
ADDRESS = {
    "E-mail": "ann@example.org",
    "Name": "Ann Harbour",
    "Street and number": "Quay 1",
    "Postal code": "1011 AB",
    "Town": "Amsterdam",
}


def buy(page: Page, sku: str, units: int = 1) -> None:
    """Press the button of a SKU, and wait until the cart has so many of it."""
    expect(page.get_by_role("heading", name="cart").or_(page.locator("h2"))).not_to_have_count(0)
    page.get_by_role("button", name=f"Buy {TITLES[sku]}").click()
    if units:
        line = page.get_by_role("listitem").filter(has_text=sku)
        expect(line.get_by_role("spinbutton")).to_have_value(str(units))


def fill_in(page: Page, **others: str) -> None:
    """Go to the checkout and say where the order goes; `email` may be another."""
    page.get_by_role("button", name="Check out").click()
    for label, text in ADDRESS.items():
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_label("Country").select_option("NL")
    if "email" in others:
        page.get_by_label("E-mail").fill(others["email"])


def order(page: Page, button: str = ORDER) -> None:
    """Agree to what it costs."""
    page.get_by_role("button", name=button).click()


def available(client: Client, sku: str) -> int:
    """Return how many units of a SKU neither carts nor orders hold."""
    paula = client.as_("paula", roles=["publisher"], sites=[SITE])
    in_carts = {each["sku"]: each["in_carts"] for each in paula.get(HOLDS).json["holds"]}
    buyable = client.get(f"/shops/{SITE}/stock?skus={sku}").json["available"][sku]
    return int(buyable) - int(in_carts.get(sku, 0))


def cart_id(page: Page) -> str:
    """Return the id of the cart that the browser keeps."""
    kept: str = page.evaluate("JSON.parse(Object.values(localStorage)[0])")
    return kept


def answered_and_lost(route: Route) -> None:
    """Let a call reach the shop, and lose its answer."""
    route.fetch()
    route.abort()


def orders(client: Client) -> list[Any]:
    """Return a shop's orders, as its publisher sees them."""
    paula = client.as_("paula", roles=["publisher"], sites=[SITE])
    found: list[Any] = paula.get(f"/shops/{SITE}/orders").json["orders"]
    return found
