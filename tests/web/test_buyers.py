"""Buyers of many kinds: in a race, by keyboard alone, signed in, and with a card of Stripe's."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from chalicelib.settings import Settings
from tests.shop.support.buying import OTHER, SKU, stocked
from tests.shop.support.factories import SITE
from tests.shop.support.stripe_stand_in import Stripe, running
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.browser import answer_read, count_answers, until
from tests.web.support.shop import (
    ADDRESS,
    CART,
    FAILED,
    THANKS,
    available,
    buy,
    cart_id,
    fill_in,
    order,
    orders,
)
from tests.web.support.site import Site

pytestmark = pytest.mark.usefixtures("workers")
expect.set_options(timeout=PATIENCE_MS)
WAITS = "Your order waits for its payment."
PHONE = {"viewport": {"width": 320, "height": 700}}


@pytest.fixture(autouse=True)
def publisher(client: Client, site: Site) -> Client:
    """A shop with three units of two books, on a page with a cart and a button for each."""
    site.body = CART
    site.css = "html { background: Canvas; color: CanvasText; color-scheme: light dark; }"
    return stocked(client, 3)


def test_two_browsers_race_for_the_last_piece(
    site: Site, open_page: OpenPage, client: Client, publisher: Client
) -> None:
    assert publisher.post(f"/shops/{SITE}/stock/{SKU}", counted=1, key="one").status == 200
    ann, ben = (open_page(site, may_log=FAILED) for _ in range(2))
    for each in (ann, ben):
        expect(each.get_by_text("Your cart is empty.")).to_be_visible()
    # Both presses are on their way before either is answered.
    for each in (ann, ben):
        each.evaluate(f"void document.querySelector('plaza-cart').add('{SKU}', 1, 'A whale')")

    for each in (ann, ben):
        expect(each.get_by_role("status").first).to_have_text("Now in your cart: A whale")
    for each in (ann, ben):
        fill_in(each)
    order(ann)
    expect(ann.get_by_role("heading", name=THANKS)).to_be_visible()
    order(ben)
    expect(ben.get_by_role("alert")).to_have_text("Sold out: Moby-Dick")
    assert sorted(each["state"] for each in orders(client)) == ["done", "void"]
    assert available(client, SKU) == 0


def test_who_wants_more_than_the_other_has_left_hears_how_many(
    site: Site, open_page: OpenPage
) -> None:
    ann, ben = (open_page(site, may_log=FAILED) for _ in range(2))
    buy(ann, SKU)
    fill_in(ann)
    order(ann)
    expect(ann.get_by_role("heading", name=THANKS)).to_be_visible()
    expect(ben.get_by_text("Your cart is empty.")).to_be_visible()

    ben.evaluate(f"void document.querySelector('plaza-cart').add('{SKU}', 3, 'A whale')")

    expect(ben.get_by_text("Only 2 left: A whale")).to_be_visible()


def test_it_is_bought_by_keyboard_alone(site: Site, open_page: OpenPage, client: Client) -> None:
    page = open_page(site)
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()
    press = page.keyboard.press

    def go_to(what: str) -> None:
        """Press Tab until this has the focus."""
        for _ in range(30):
            press("Tab")
            told = page.evaluate(
                """() => {
                    let each = document.activeElement;
                    while (each.shadowRoot?.activeElement) each = each.shadowRoot.activeElement;
                    return each.labels?.[0]?.textContent || each.ariaLabel || each.textContent;
                }"""
            )
            if what in told:
                return
        pytest.fail(f"Tab never came to {what}")

    go_to("Buy A whale")
    press("Enter")
    expect(page.get_by_label("Quantity of")).to_be_visible()
    go_to("Quantity of")
    press("ArrowUp")
    expect(page.locator("[part=total]")).to_have_text("€37.98")
    go_to("Check out")
    press("Enter")
    expect(page.get_by_label("E-mail")).to_be_focused()
    for text in ADDRESS.values():
        page.keyboard.type(text)
        press("Tab")
    press("Tab")
    page.keyboard.type("Netherlands")
    go_to("Order and pay")
    press("Enter")

    expect(page.get_by_role("heading", name=THANKS)).to_be_focused()
    assert [each["lines"][0]["qty"] for each in orders(client)] == [2]


def sign_in(page: Page, site: Site, client: Client, sub: str) -> None:
    """Sign somebody in on the site, or out by no name."""
    site.token = (lambda: client.token(sub, name=sub.title())) if sub else (lambda: None)
    page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")


def test_what_a_guest_put_in_is_theirs_who_signs_in(
    site: Site, open_page: OpenPage, client: Client, publisher: Client
) -> None:
    page = open_page(site)
    buy(page, SKU)
    sign_in(page, site, client, "ann")
    expect(page.get_by_text("Your orders")).to_be_visible()
    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("1")
    fill_in(page)
    order(page)
    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()

    page.get_by_text("Your orders").click()

    expect(page.get_by_role("listitem").filter(has_text="paid")).to_contain_text("Moby-Dick")
    (mine,) = client.as_("ann").get("/users/me/orders").json["orders"]
    assert mine["state"] == "done"
    publisher.post(f"/orders/{mine['id']}/refund", key="r1", restock=True)
    for _ in range(2):
        page.get_by_text("Your orders").click()
    expect(page.get_by_role("listitem").filter(has_text="paid")).to_contain_text("€18.99 refunded")


def test_past_orders_are_listed_once_however_often_they_are_opened(
    site: Site, open_page: OpenPage, client: Client
) -> None:
    site.token = lambda: client.token("ann", name="Ann")
    page = open_page(site, before=count_answers)
    buy(page, SKU)
    fill_in(page)
    order(page)
    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/users/me/orders*", hold)
    for opening in (1, 0, 2):
        page.get_by_text("Your orders").click()
        until(page, lambda opening=opening: len(held) >= opening)  # type: ignore[misc]

    for each in held:
        with answer_read(page):
            each.continue_()

    assert len(held) == 2
    expect(page.get_by_role("listitem").filter(has_text="paid")).to_have_count(1)


def test_spaces_around_the_countries_name_no_country(site: Site, open_page: OpenPage) -> None:
    site.body = CART.replace("<plaza-cart", '<plaza-cart countries=" NL, BE "')
    page = open_page(site)
    buy(page, SKU)
    page.get_by_role("button", name="Check out").click()

    codes = "select => [...select.options].map(({ value }) => value)"
    assert page.get_by_label("Country").evaluate(codes) == ["", "BE", "NL"]


def test_who_signs_out_takes_their_cart_along(
    site: Site, open_page: OpenPage, client: Client
) -> None:
    page = open_page(site)
    buy(page, SKU)
    sign_in(page, site, client, "ann")
    expect(page.get_by_text("Your orders")).to_be_visible()
    sign_in(page, site, client, "")
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()

    sign_in(page, site, client, "ann")

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("1")


def test_a_guests_cart_and_that_of_before_are_one_after_the_sign_in(
    site: Site, open_page: OpenPage, client: Client
) -> None:
    page = open_page(site)
    buy(page, SKU)
    sign_in(page, site, client, "ann")
    expect(page.get_by_text("Your orders")).to_be_visible()
    sign_in(page, site, client, "")
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()
    buy(page, OTHER)

    sign_in(page, site, client, "ann")

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_count(2)
    fill_in(page)
    order(page, "Order and pay")
    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    (mine,) = client.as_("ann").get("/users/me/orders").json["orders"]
    assert sorted(line["sku"] for line in mine["lines"]) == [SKU, OTHER]


@pytest.mark.parametrize("at", ["claim", "merge"])
def test_carts_that_could_not_be_joined_are_joined_by_the_next_look(
    site: Site, open_page: OpenPage, client: Client, at: str
) -> None:
    page = open_page(site, may_log="net::ERR")
    buy(page, SKU)
    sign_in(page, site, client, "ann")
    expect(page.get_by_text("Your orders")).to_be_visible()
    sign_in(page, site, client, "")
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()
    buy(page, OTHER)
    page.route(f"**/carts/*/{at}", lambda route: route.abort())
    sign_in(page, site, client, "ann")
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    page.unroute(f"**/carts/*/{at}")

    again.click()

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_count(2)


@pytest.mark.parametrize("then", ["", "ben"])
def test_carts_that_are_joined_while_the_reader_leaves_are_theirs(
    site: Site, open_page: OpenPage, client: Client, then: str
) -> None:
    page = open_page(site)
    buy(page, SKU)
    sign_in(page, site, client, "ann")
    expect(page.get_by_text("Your orders")).to_be_visible()
    sign_in(page, site, client, "")
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()
    buy(page, OTHER)
    held: list[Route] = []
    # Playwright takes no method of a list.
    page.route("**/carts/*/merge", lambda each: held.append(each))  # noqa: PLW0108
    sign_in(page, site, client, "ann")
    until(page, lambda: bool(held))

    sign_in(page, site, client, then)
    with page.expect_response("**/carts/*/merge"):
        held[0].continue_()
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()
    sign_in(page, site, client, "ann")

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_count(2)


def test_a_cart_that_another_has_claimed_is_left_to_them(
    site: Site, open_page: OpenPage, client: Client
) -> None:
    page = open_page(site, may_log=FAILED)
    buy(page, SKU)
    assert client.as_("ben").post(f"/carts/{cart_id(page)}/claim").status == 200

    sign_in(page, site, client, "ann")

    expect(page.get_by_text("Your orders")).to_be_visible()
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()


def test_who_has_a_token_that_is_refused_buys_as_a_guest(site: Site, open_page: OpenPage) -> None:
    site.token = lambda: "e30.eyJzdWIiOiJhbm4iLCJleHAiOjk5OTk5OTk5OTl9.x"
    page = open_page(site, may_log=FAILED)
    buy(page, SKU)
    fill_in(page)
    order(page)

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()


class TestStripe:
    """A shop that takes money by Stripe."""

    @pytest.fixture
    def stripe(self) -> Iterator[Stripe]:
        with running() as stand_in:
            yield stand_in

    @pytest.fixture
    def settings(self, settings: Settings, stripe: Stripe) -> Settings:
        return stripe.settings(settings)

    @pytest.fixture(autouse=True)
    def publisher(self, client: Client, site: Site) -> Client:
        site.body = CART
        return stocked(client, 3, payments="stripe")

    def test_the_page_confirms_the_payment_by_its_secret(
        self, site: Site, open_page: OpenPage, stripe: Stripe
    ) -> None:
        note = "document.addEventListener('plaza:payment', (event) => (window.told = event.detail))"
        page = open_page(site, before=lambda page: page.add_init_script(note))
        buy(page, SKU)
        fill_in(page)
        order(page)
        expect(page.get_by_role("heading", name=WAITS)).to_be_visible()
        told = page.evaluate("({ ...window.told, look: null })")
        assert (told["provider"], told["clientSecret"]) == ("stripe", "pi_1_secret")
        assert (told["totalMicros"], told["currency"]) == (18_990_000, "EUR")

        stripe.pay("pi_1")
        page.evaluate("window.told.look()")

        expect(page.get_by_role("heading", name=THANKS)).to_be_visible()

    def test_a_page_that_was_left_to_pay_is_handed_the_payment_again(
        self, site: Site, open_page: OpenPage, stripe: Stripe
    ) -> None:
        note = "document.addEventListener('plaza:payment', (event) => (window.told = event.detail))"
        page = open_page(site, before=lambda page: page.add_init_script(note))
        buy(page, SKU)
        fill_in(page)
        order(page)
        expect(page.get_by_role("heading", name=WAITS)).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name=WAITS)).to_be_visible()
        assert page.evaluate("window.told.clientSecret") == "pi_1_secret"

        # Its own look comes a few seconds later.
        stripe.pay("pi_1")

        expect(page.get_by_role("heading", name=THANKS)).to_be_visible()


@pytest.mark.processes
@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_no_state_of_a_cart_breaks_a_rule_of_accessibility(
    site: Site, open_page: OpenPage, client: Client, axe: str, language: str
) -> None:
    site.language = language
    site.token = lambda: client.token("ann", name="Ann")
    page = open_page(site, may_log=FAILED)
    page.route("**/orders/*/payment*", lambda route: route.abort())
    found = in_both_schemes(page, axe)
    buy(page, SKU)
    found += in_both_schemes(page, axe)
    # By their parts: the words are the language's.
    page.locator("plaza-cart .note button").click()
    for name, text in zip(
        ("email", "name", "street", "postal_code", "city"), ADDRESS.values(), strict=True
    ):
        page.locator(f"plaza-cart #{name}").fill(text)
    page.locator("plaza-cart #country").select_option("NL")
    page.locator("plaza-cart summary").click()
    found += in_both_schemes(page, axe)
    page.locator("plaza-cart .primary").click()
    page.locator("plaza-cart h3").wait_for()
    found += in_both_schemes(page, axe)

    assert found == []


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_cart_fits_on_a_narrow_phone(site: Site, open_page: OpenPage, language: str) -> None:
    site.language = language
    page = open_page(site, **PHONE)
    buy(page, SKU)
    page.locator("plaza-cart .note button").click()
    page.locator("plaza-cart #email").wait_for()

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
