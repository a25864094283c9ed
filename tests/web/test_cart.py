"""A cart on somebody else's page, under the strictest policy: filled, changed, held again."""

import re

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.shop.support.buying import OTHER, SKU, agreement, check_out, put_line, stocked
from tests.shop.support.factories import PRICE, SITE, book, put
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import WITHOUT_STORAGE, answer_read, count_answers, until
from tests.web.support.shop import CART, FAILED, answered_and_lost, available, buy
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(autouse=True)
def publisher(client: Client, site: Site) -> Client:
    """A shop with three units of two books, on a page with a cart and a button for each."""
    site.body = CART
    return stocked(client, 3)


@pytest.fixture
def page(site: Site, open_page: OpenPage) -> Page:
    """The page of somebody whose calls may fail."""
    return open_page(site, may_log=FAILED)


def test_an_empty_cart_says_so_and_stores_nothing(page: Page) -> None:
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()

    assert page.evaluate("localStorage.length + sessionStorage.length") == 0


def test_a_button_of_the_page_puts_something_in(page: Page, client: Client) -> None:
    buy(page, SKU)

    line = page.get_by_role("listitem").filter(has_text=SKU)
    expect(line).to_contain_text("Moby-Dick")
    expect(line).to_contain_text("€18.99")
    expect(line).to_contain_text(re.compile(r"Held for you until \d+:\d\d"))
    expect(page.get_by_role("status").first).to_have_text("Now in your cart: A whale")
    assert available(client, SKU) == 2


def test_a_second_press_adds_one_more(page: Page) -> None:
    buy(page, SKU)
    buy(page, SKU, 2)

    expect(page.locator("[part=total]")).to_have_text("€37.98")


def test_a_quantity_is_changed_and_a_line_removed(page: Page, client: Client) -> None:
    buy(page, SKU)
    buy(page, OTHER)
    line = page.get_by_role("listitem").filter(has_text=SKU)
    line.get_by_label("Quantity of Moby-Dick").fill("3")
    line.get_by_label("Quantity of Moby-Dick").press("Enter")
    expect(line).to_contain_text("€56.97")

    page.get_by_role("listitem").filter(has_text=OTHER).get_by_role("button", name="Remove").click()

    expect(page.get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_text("No longer in your cart: Moby-Dick")).to_be_visible()
    assert (available(client, SKU), available(client, OTHER)) == (0, 3)


def test_a_quantity_that_is_chosen_while_another_is_sent_stays(page: Page, client: Client) -> None:
    buy(page, SKU)
    units = page.get_by_label("Quantity of Moby-Dick")
    held: list[Route] = []
    # Playwright takes no method of a list.
    page.route("**/carts/*/lines/*", lambda each: held.append(each))  # noqa: PLW0108

    units.press("ArrowUp")
    until(page, lambda: len(held) == 1)
    units.press("ArrowUp")
    expect(units).to_have_value("3")
    held[0].continue_()
    until(page, lambda: len(held) == 2)
    expect(units).to_have_value("3")
    held[1].continue_()

    until(page, lambda: available(client, SKU) == 0)
    expect(units).to_have_value("3")


def test_too_many_are_refused_with_how_many_there_are(page: Page) -> None:
    buy(page, SKU)
    units = page.get_by_label("Quantity of Moby-Dick")
    units.fill("4")
    units.press("Enter")

    expect(page.get_by_text("Only 3 left: Moby-Dick")).to_be_visible()
    expect(units).to_have_value("1")


def test_what_is_no_quantity_changes_nothing(page: Page) -> None:
    buy(page, SKU)
    methods: list[str] = []
    page.on("request", lambda each: methods.append(each.method))
    units = page.get_by_label("Quantity of Moby-Dick")
    for wrong in ("", "0", "-1", "1.5", "1000"):
        units.fill(wrong)
        units.press("Tab")

        expect(units, wrong).to_have_value("1")
        # The shop would refuse it, too.
        assert "PUT" not in methods, wrong


def test_a_cart_outlives_its_page(page: Page) -> None:
    buy(page, SKU)
    page.reload()

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("1")


def test_two_tabs_share_a_cart(page: Page, site: Site) -> None:
    buy(page, SKU)
    other = page.context.new_page()
    other.goto(f"{site.address}/")
    expect(other.get_by_label("Quantity of Moby-Dick")).to_have_value("1")
    buy(other, SKU, 2)

    buy(page, SKU, 3)

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("3")


def test_a_line_that_is_held_no_more_says_so_and_is_held_again(
    page: Page, clock: Clock, client: Client
) -> None:
    buy(page, SKU)
    clock.advance(minutes=16)
    page.reload()
    expect(page.get_by_text("Not held for you")).to_be_visible()

    page.get_by_role("button", name="Hold again").click()

    expect(page.get_by_text("Everything is held for you again.")).to_be_visible()
    expect(page.get_by_text("Not held for you")).to_have_count(0)
    expect(page.get_by_role("button", name="Hold again")).to_have_count(0)
    assert available(client, SKU) == 2


def test_a_line_that_others_bought_meanwhile_cannot_be_held_again(
    page: Page, clock: Clock, client: Client
) -> None:
    buy(page, SKU)
    clock.advance(minutes=16)
    other = client.post("/carts", site=SITE).json["id"]
    assert put_line(client, other, SKU, 3).status == 200
    assert check_out(client, other, agreement(3)).status == 201
    page.reload()
    page.get_by_role("button", name="Hold again").click()

    expect(page.get_by_text("Sold out: Moby-Dick")).to_be_visible()
    expect(page.get_by_role("button", name="Hold again")).to_be_visible()


def test_a_cart_says_what_it_cannot_hold_while_others_of_its_address_hold_their_share(
    page: Page, client: Client, publisher: Client
) -> None:
    assert publisher.put(f"/shops/{SITE}", currency="EUR", hold_percent=34).status == 200
    other = client.post("/carts", site=SITE).json["id"]
    assert put_line(client, other, SKU, 1).json["lines"][0]["lapsed"] is False

    buy(page, SKU)
    expect(page.get_by_text("Not held for you")).to_be_visible()
    page.get_by_role("button", name="Hold again").click()

    expect(page.get_by_text("Not everything can be held now. You can still order.")).to_be_visible()
    expect(page.get_by_text("Not held for you")).to_be_visible()


def test_what_is_no_longer_sold_cannot_be_put_in(page: Page, publisher: Client) -> None:
    archived = book(SKU, state="archived")
    assert put(publisher, "moby-dick", archived, version=1).status == 200

    buy(page, SKU, 0)

    expect(page.get_by_text("This is no longer sold.")).to_be_visible()


def test_a_cart_that_is_no_longer_there_is_begun_anew(page: Page) -> None:
    buy(page, SKU)
    unknown = """localStorage.setItem(Object.keys(localStorage)[0], '"AAAAAAAAAAAAAAAAAAAAAA"')"""
    page.evaluate(unknown)
    page.reload()
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()

    buy(page, SKU)

    expect(page.get_by_role("listitem")).to_have_count(1)


@pytest.mark.parametrize("storage", WITHOUT_STORAGE)
def test_a_browser_that_keeps_nothing_has_a_cart_for_the_page(
    site: Site, open_page: OpenPage, storage: str
) -> None:
    page = open_page(site, before=lambda page: page.add_init_script(WITHOUT_STORAGE[storage]))

    buy(page, SKU)
    buy(page, SKU, 2)

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("2")


def test_the_page_is_told_what_is_in_the_cart(page: Page) -> None:
    page.evaluate("document.addEventListener('plaza:cart', ({ detail }) => (window.told = detail))")
    buy(page, SKU)

    told = page.evaluate("window.told")
    assert told == {"units": 1, "linesMicros": PRICE, "currency": "EUR"}


def test_a_script_of_the_page_puts_something_in(page: Page) -> None:
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()
    page.evaluate(f"document.querySelector('plaza-cart').add('{SKU}', 2)")

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("2")


def test_two_presses_before_an_answer_add_two(page: Page) -> None:
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()
    page.get_by_role("button", name="Buy A whale").evaluate("each => (each.click(), each.click())")

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("2")


def test_a_cart_that_was_read_before_a_press_is_not_shown_after_it(
    site: Site, open_page: OpenPage
) -> None:
    page = open_page(site, before=count_answers)
    buy(page, SKU)
    held: list[tuple[Route, APIResponse]] = []

    def hold_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))

    page.route(re.compile(r"/carts/[\w-]+$"), hold_first)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    until(page, lambda: bool(held))
    buy(page, SKU, 2)
    route, answer = held[0]

    with answer_read(page):
        route.fulfill(response=answer)

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("2")


def test_a_lost_answer_to_adding_adds_one(page: Page, client: Client) -> None:
    page.route("**/lines/*", answered_and_lost, times=1)
    buy(page, SKU)

    expect(page.get_by_text("Now in your cart: A whale")).to_be_visible()
    assert available(client, SKU) == 2


def test_an_outage_is_told_and_tried_again(site: Site, open_page: OpenPage) -> None:
    page = open_page(site, may_log=FAILED)
    buy(page, SKU)
    page.route("**/carts/**", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("alert")).to_have_text("Plaza cannot be reached.")
    page.unroute_all()

    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("listitem")).to_have_count(1)


def test_a_language_and_its_currency_are_the_readers(site: Site, open_page: OpenPage) -> None:
    site.language = "de"
    page = open_page(site)
    buy(page, SKU)

    expect(page.get_by_text("Jetzt im Warenkorb: A whale")).to_be_visible()
    expect(page.locator("[part=total]")).to_have_text("18,99 €")


@pytest.mark.parametrize(
    ("currency", "micros", "shown"),
    [
        ("HUF", 990_400_000, "HUF\xa0990.40"),
        ("HUF", 990_000_000, "HUF\xa0990"),
        ("IQD", 1_255_000, "IQD\xa01.255"),
        ("KWD", 1_500_000, "KWD\xa01.500"),
        ("JPY", 990_000_000, "¥990"),
        ("EUR", 990_400_000, "€990.40"),
    ],
)
def test_an_amount_is_shown_as_it_is_charged(
    site: Site, open_page: OpenPage, currency: str, micros: int, shown: str
) -> None:
    """Browsers round amounts of some currencies whose smaller units are out of use."""

    def answer(route: Route) -> None:
        answered = route.fetch()
        text = answered.text().replace(str(PRICE), str(micros)).replace("EUR", currency)
        route.fulfill(response=answered, body=text)

    page = open_page(site, before=lambda page: page.route("**/carts/*/lines/*", answer))
    buy(page, SKU)

    expect(page.locator("[part=total]")).to_have_text(shown)


def test_no_page_knows_the_cart_of_another_shop(site: Site, open_page: OpenPage) -> None:
    site.body += '<plaza-cart site="elsewhere" loading="eager"></plaza-cart>'
    page = open_page(site, may_log=FAILED)
    buy(page, SKU)

    expect(page.get_by_role("listitem")).to_have_count(1)


def test_two_carts_of_a_shop_show_the_same_and_a_press_adds_one(
    site: Site, open_page: OpenPage, client: Client
) -> None:
    site.body = (
        f'<button data-plaza-buy="{SKU}">Buy A whale</button>'
        f'<plaza-cart site="{SITE}"></plaza-cart><plaza-cart site="another"></plaza-cart>'
        f'<plaza-cart site="{SITE}"></plaza-cart>'
    )
    page = open_page(site, may_log=FAILED)
    expect(page.get_by_text("Your cart is empty.")).to_have_count(3)

    page.get_by_role("button", name="Buy A whale").click()

    told = page.locator("plaza-cart").first.get_by_role("status").first
    expect(told).to_have_text("Now in your cart: MOBY-HARD")
    units = page.get_by_label("Quantity of Moby-Dick")
    expect(units).to_have_count(2)
    expect(page.get_by_text("Your cart is empty.")).to_have_count(1)
    units.nth(1).fill("2")
    units.nth(1).press("Enter")
    expect(units.nth(0)).to_have_value("2")
    assert available(client, SKU) == 1

    # The first one by its place takes a press, whichever was there first.
    page.evaluate("const [one, , last] = document.querySelectorAll('plaza-cart'); one.before(last)")
    page.get_by_role("button", name="Buy A whale").click()
    expect(told).to_have_text(re.compile("^Now in your cart"))


def test_a_press_adds_one_where_the_first_of_two_carts_is_not_loaded_yet(
    site: Site, open_page: OpenPage, client: Client
) -> None:
    cart = f'<plaza-cart site="{SITE}"'
    site.body = f'<button data-plaza-buy="{SKU}">Buy A whale</button>'
    site.body += f'<div>{cart}></plaza-cart></div>{cart} loading="eager"></plaza-cart>'
    site.css = "div { position: absolute; inset-block-start: 9000px; }"
    page = open_page(site, may_log=FAILED)
    expect(page.get_by_text("Your cart is empty.")).to_have_count(1)

    page.get_by_role("button", name="Buy A whale").click()

    units = page.get_by_label("Quantity of Moby-Dick")
    expect(units).to_have_count(2)
    expect(units.first).to_have_value("1")
    assert available(client, SKU) == 2


def test_a_press_before_the_cart_is_there_is_kept(
    site: Site, open_page: OpenPage, client: Client
) -> None:
    """A script of the page need not wait either."""
    held: list[Route] = []
    page = open_page(
        site,
        may_log=FAILED,
        before=lambda page: page.route(
            "**/cart.js", lambda each: each.fallback() if held else held.append(each)
        ),
    )
    until(page, lambda: bool(held))
    page.get_by_role("button", name="Buy A whale").click()
    page.evaluate(f"void document.querySelector('plaza-cart').add('{OTHER}', 2)")
    expect(page.get_by_text("A cart")).to_be_visible()

    for each in held:
        each.continue_()

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_count(2)
    assert (available(client, SKU), available(client, OTHER)) == (2, 1)


def test_a_press_that_is_refused_before_the_cart_is_there_says_why(
    site: Site, open_page: OpenPage, publisher: Client
) -> None:
    archived = book(SKU, state="archived")
    assert put(publisher, "moby-dick", archived, version=1).status == 200
    held: list[Route] = []
    page = open_page(
        site,
        may_log=FAILED,
        before=lambda page: page.route(
            "**/cart.js", lambda each: each.fallback() if held else held.append(each)
        ),
    )
    until(page, lambda: bool(held))
    page.get_by_role("button", name="Buy A whale").click()

    for each in held:
        each.continue_()

    expect(page.get_by_text("Your cart is empty.")).to_be_visible()
    expect(page.get_by_role("status").first).to_have_text("This is no longer sold.")


def test_a_press_that_is_refused_after_a_failure_says_why(site: Site, open_page: OpenPage) -> None:
    page = open_page(site, may_log=FAILED)
    buy(page, SKU)
    page.route("**/carts/**", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("alert")).to_have_text("Plaza cannot be reached.")

    page.get_by_role("button", name="Buy A whale").click()

    expect(page.get_by_role("status")).to_have_text("Plaza cannot be reached.")


def test_a_press_asks_a_page_again_that_could_not_say_who_reads(
    site: Site, open_page: OpenPage, client: Client
) -> None:
    site.token = lambda: client.token("ann", name="Ann")
    page = open_page(
        site,
        may_log=(FAILED, "The page's token"),
        before=lambda page: page.route("**/token", lambda each: each.fulfill(status=500)),
    )
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    page.unroute_all()

    page.get_by_role("button", name="Buy A whale").click()

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("1")
    assert available(client, SKU) == 2


def test_a_page_that_comes_back_shows_the_cart_of_now(site: Site, open_page: OpenPage) -> None:
    """While it is in the browser's memory, it hears of no other tab."""
    deaf = "addEventListener('storage', (event) => event.stopImmediatePropagation(), true)"
    page = open_page(site, may_log=FAILED, before=lambda page: page.add_init_script(deaf))
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()
    other = page.context.new_page()
    other.goto(f"{site.address}/")
    buy(other, SKU)
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()

    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("1")
