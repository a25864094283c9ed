"""The demo newspaper's shop in a browser: found, narrowed down, searched, ordered, and bought."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from chalice.app import Chalice
from playwright.sync_api import Page, Route, expect

from chalicelib.runtime import Runtime
from local import demo, demo_shop
from local.gateway import Gateway, wsgi_application
from local.site import Site, with_site
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.serving import served_application
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.browser import until
from tests.web.support.shop import FAILED, THANKS, fill_in

pytestmark = pytest.mark.usefixtures("workers")
expect.set_options(timeout=PATIENCE_MS)
SOLD_OUT = {
    "en": "Sold out",
    "ar": "نفد",
    "de": "Ausverkauft",
    "es": "Agotado",
    "fr": "Épuisé",
    "it": "Esaurito",
    "ja": "売り切れ",
    "nl": "Uitverkocht",
    "pl": "Wyprzedane",
    "pt-BR": "Esgotado",
    "ru": "Распродано",
    "uk": "Розпродано",
    "zh-CN": "已售罄",
}
PAGES = ["/shop", "/shop?category=wheels", "/shop/leather-saddle"]


@pytest.fixture
def address(app: Chalice, runtime: Runtime) -> Iterator[str]:
    """The address of the test's app, with the newspaper before it."""
    site = Site(runtime.settings, runtime.now)
    with served_application(with_site(site, wsgi_application(Gateway(app)))) as started:
        yield started


@pytest.fixture(autouse=True)
def shop(client: Client, clock: Clock) -> None:
    """The demo's shop, as its shopkeeper writes it."""
    claims = next(each for each in demo.DATA["readers"] if each["sub"] == "shopkeeper")["claims"]
    shopkeeper = client.as_("shopkeeper", **claims)

    def call(method: str, path: str, body: dict[str, Any]) -> None:
        clock.advance(minutes=1)
        assert getattr(shopkeeper, method.lower())(path, **body).status < 300

    demo_shop.load(call, demo.DATA["site"])
    # Each page of the newspaper reports that it was opened.
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/sites/{demo.DATA['site']}/analytics", public=True).status == 200


def titles(page: Page) -> list[str]:
    return page.locator("#products h2").all_inner_texts()


def test_the_newspaper_leads_to_its_shop(open_page: OpenPage) -> None:
    # The one whose posts stand beside it is not in this town.
    page = open_page("/in-town", may_log=FAILED)
    page.get_by_role("navigation", name="Articles").get_by_role("link", name="Shop").click()

    expect(page.get_by_text("8 products")).to_be_visible()
    expect(page.locator("#products li")).to_have_count(6)


def test_more_products_are_shown_behind_the_first(open_page: OpenPage) -> None:
    page = open_page("/shop")
    page.get_by_role("button", name="Show more").click()

    expect(page.locator("#products li")).to_have_count(8)
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    assert len({*titles(page)}) == 8
    expect(page.locator("#products h2 a").nth(6)).to_be_focused()


def test_a_category_has_what_is_below_it_and_says_where_it_is(open_page: OpenPage) -> None:
    page = open_page("/shop")
    page.get_by_role("navigation", name="Categories").get_by_role("link", name="Wheels").click()

    expect(page.get_by_role("heading", name="Wheels", level=1)).to_be_visible()
    crumbs = page.get_by_role("navigation", name="Breadcrumb")
    expect(crumbs.get_by_role("listitem")).to_have_text(["Shop", "Bicycle parts", "Wheels"])
    assert sorted(titles(page)) == ["Hub dynamo wheel", "Quayside front wheel"]
    crumbs.get_by_role("link", name="Bicycle parts").click()
    expect(page.get_by_text("4 products")).to_be_visible()


def test_facets_narrow_the_list_and_say_how_many_there_are(open_page: OpenPage) -> None:
    page = open_page("/shop?category=bicycle-parts")
    material = page.get_by_role("group", name="Material")
    expect(material.get_by_role("checkbox")).to_have_count(3)
    material.get_by_label("aluminium 2").check()
    expect(page.get_by_text("2 products")).to_be_visible()

    material.get_by_label("steel 1").check()

    expect(page.get_by_text("3 products")).to_be_visible()
    expect(material.get_by_label("steel 1")).to_be_focused()
    assert "f.material=aluminium&f.material=steel" in page.url
    page.go_back()
    expect(page.get_by_text("2 products")).to_be_visible()
    expect(material.get_by_label("steel 1")).not_to_be_checked()


def test_words_of_any_script_are_found(open_page: OpenPage) -> None:
    page = open_page("/shop")
    page.get_by_label("Search the shop").fill("灯塔")
    page.get_by_role("button", name="Search").click()

    expect(page.get_by_text("1 product", exact=True)).to_be_visible()
    assert titles(page) == ["海边的灯塔"]


def test_the_list_is_ordered_by_price(open_page: OpenPage) -> None:
    page = open_page("/shop?category=bicycle-parts")
    expect(page.get_by_text("4 products")).to_be_visible()
    page.get_by_label("Order").select_option("price")

    expect(page.locator("#products h2").first).to_have_text("Fog lamp")
    page.get_by_label("Order").select_option("-price")
    expect(page.locator("#products h2").first).to_have_text("Hub dynamo wheel")


def test_a_product_is_shown_and_its_last_piece_bought(open_page: OpenPage) -> None:
    page = open_page("/shop?category=saddles", may_log=FAILED)
    page.get_by_role("link", name="Leather saddle").click()
    expect(page.get_by_text("It takes a summer to break in")).to_be_visible()
    expect(page.get_by_text("1 left")).to_be_visible()
    button = page.get_by_role("button", name="Put into the cart: Leather saddle, brown")
    button.click()
    expect(page.get_by_role("link", name="Cart (1)")).to_be_visible()
    # A cart keeps it from nobody who checks out first.
    expect(page.get_by_text("1 left")).to_be_visible()

    fill_in(page)
    page.get_by_role("button", name="Order and pay €95.00").click()

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    expect(page.get_by_role("link", name="Cart", exact=True)).to_be_visible()
    page.get_by_role("button", name="Start a new cart").click()
    expect(page.get_by_text("sold out", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Sold out: Leather saddle, brown")).to_be_disabled()


def test_what_is_sold_out_says_so_in_every_language_until_it_is_there_again(
    open_page: OpenPage,
) -> None:
    def read_nothing(page: Page) -> None:
        """Keep the page's own answers, whenever they come, from taking back what is told here."""
        page.route("**/stock?*", lambda route: route.fulfill(json={"available": {}}))

    page = open_page("/shop/leather-saddle", before=read_nothing)
    sku = "SADDLE-BROWN"
    button = page.locator(f"[data-plaza-buy={sku}]")
    expect(button).to_be_enabled()
    # It is shown once the cart listens.
    expect(page.locator("plaza-cart")).to_contain_text("Your cart is empty.")
    tell = "detail => document.dispatchEvent(new CustomEvent('plaza:stock', { detail }))"

    page.evaluate(tell, {sku: 0})
    for language, word in SOLD_OUT.items():
        page.locator("plaza-cart").evaluate("(cart, lang) => { cart.lang = lang }", language)
        expect(button).to_have_text(word)
        expect(button).to_be_disabled()
    page.evaluate(tell, {sku: 1})

    expect(button).to_be_enabled()
    expect(button).to_have_text("Put into the cart")
    expect(button).to_have_accessible_name("Put into the cart: Leather saddle, brown")


def test_a_cart_that_comes_late_hears_what_is_sold_out(open_page: OpenPage) -> None:
    held: list[Route] = []

    def prepare(page: Page) -> None:
        page.route(
            "**/stock?*", lambda route: route.fulfill(json={"available": {"SADDLE-BROWN": 0}})
        )
        # Playwright takes no method of a list.
        page.route("**/cart.js", lambda each: held.append(each))  # noqa: PLW0108

    page = open_page("/shop/leather-saddle", before=prepare)
    expect(page.get_by_text("sold out", exact=True)).to_be_visible()
    until(page, lambda: bool(held))
    page.unroute("**/cart.js")
    for each in held:
        each.continue_()

    expect(page.get_by_role("button", name="Sold out: Leather saddle, brown")).to_be_disabled()


def test_a_category_that_is_not_there_is_told(open_page: OpenPage) -> None:
    page = open_page("/shop?category=boats", may_log=FAILED)

    expect(page.locator("#told")).to_have_text("Category not found")


@pytest.mark.processes
@pytest.mark.parametrize("path", PAGES)
def test_a_page_breaks_no_rule_of_accessibility(open_page: OpenPage, axe: str, path: str) -> None:
    page = open_page(path)
    page.get_by_label("Read as").select_option("tobias")
    page.get_by_role("button", name=re.compile("^Put into the cart")).first.click()
    page.get_by_role("button", name="Check out").click()
    expect(page.get_by_label("E-mail")).to_be_focused()

    assert in_both_schemes(page, axe) == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_on_a_narrow_phone(open_page: OpenPage, path: str) -> None:
    page = open_page(path, viewport={"width": 320, "height": 700})
    page.get_by_role("button", name=re.compile("^Put into the cart")).first.click()
    page.get_by_role("button", name="Check out").click()
    expect(page.get_by_label("E-mail")).to_be_focused()

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
