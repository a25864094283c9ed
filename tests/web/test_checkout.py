"""Buying on somebody else's page: one order, whatever is lost, refused or pressed twice."""

import pytest
from playwright.sync_api import Page, expect

from chalicelib.shop import pricing
from tests.shop.support.buying import SKU, agreement, check_out, put_line, stocked
from tests.shop.support.factories import PRICE, SITE, book, put
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.shop import (
    ADDRESS,
    CART,
    FAILED,
    ORDER,
    THANKS,
    answered_and_lost,
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


@pytest.fixture(autouse=True)
def publisher(client: Client, site: Site) -> Client:
    """A shop with three units of two books, on a page with a cart and a button for each."""
    site.body = CART
    return stocked(client, 3)


@pytest.fixture
def page(site: Site, open_page: OpenPage) -> Page:
    """The page of somebody who has one book in the cart, and whose calls may fail."""
    page = open_page(site, may_log=FAILED)
    buy(page, SKU)
    return page


def test_something_is_bought(page: Page, client: Client) -> None:
    page.evaluate(
        "document.addEventListener('plaza:ordered', (event) => (window.told = event.detail))"
    )
    fill_in(page)
    order(page)

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    expect(page.get_by_role("heading", name=THANKS)).to_be_focused()
    (bought,) = orders(client)
    assert (bought["state"], bought["total_micros"]) == ("done", PRICE)
    assert (bought["email"], bought["address"]["country"]) == (ADDRESS["E-mail"], "NL")
    assert page.evaluate("window.told") == {"order": bought["id"]}
    assert available(client, SKU) == 2


def test_what_was_bought_is_told_after_a_reload_and_another_cart_begun(
    page: Page, client: Client
) -> None:
    fill_in(page)
    order(page)
    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    page.reload()
    expect(page.get_by_text("It goes to Ann Harbour, Quay 1, 1011 AB Amsterdam")).to_be_visible()

    page.get_by_role("button", name="Start a new cart").click()
    expect(page.get_by_text("Your cart is empty.")).to_be_visible()
    buy(page, SKU)

    fill_in(page)
    order(page)
    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert [each["state"] for each in orders(client)] == ["done", "done"]


def test_the_address_is_forgotten_once_the_order_is_paid(page: Page) -> None:
    fill_in(page)
    assert page.evaluate("sessionStorage.length") == 1
    order(page)
    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()

    assert page.evaluate("sessionStorage.length") == 0


def test_a_form_outlives_a_reload(page: Page) -> None:
    fill_in(page)
    page.reload()
    page.get_by_role("button", name="Check out").click()

    for label, text in ADDRESS.items():
        expect(page.get_by_label(label, exact=True)).to_have_value(text)
    expect(page.get_by_label("Country")).to_have_value("NL")


def test_a_declined_card_leaves_the_cart_and_the_address(page: Page, client: Client) -> None:
    fill_in(page, email="declines@example.org")
    order(page)
    expect(page.get_by_text("The payment was declined, and nothing was charged.")).to_be_visible()
    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("1")

    page.get_by_role("button", name="Check out").click()
    expect(page.get_by_label("Street and number")).to_have_value("Quay 1")
    page.get_by_label("E-mail").fill("ann@example.org")
    order(page)

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert {each["state"] for each in orders(client)} == {"done", "void"}
    assert available(client, SKU) == 2


def test_a_slow_payment_is_looked_at_until_it_is_made(page: Page) -> None:
    fill_in(page, email="slow@example.org")
    order(page)

    expect(page.get_by_role("heading", name="Your order waits for its payment.")).to_be_visible()
    expect(page.get_by_text("It can be paid until")).to_be_visible()
    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()


def test_an_order_that_waits_is_cancelled(page: Page, client: Client) -> None:
    page.route("**/orders/*/payment*", lambda route: route.abort())
    fill_in(page, email="slow@example.org")
    order(page)
    page.get_by_role("button", name="Cancel the order").click()

    expect(page.get_by_label("Quantity of Moby-Dick")).to_have_value("1")
    expect(page.get_by_text("The order was cancelled, and nothing was charged.")).to_be_visible()
    assert [each["state"] for each in orders(client)] == ["void"]


def test_an_order_that_waits_goes_on_after_a_reload(page: Page, client: Client) -> None:
    page.route("**/orders/*/payment*", lambda route: route.abort())
    fill_in(page)
    order(page)
    expect(page.get_by_role("heading", name="Your order waits for its payment.")).to_be_visible()
    page.unroute_all()
    page.reload()

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert [each["state"] for each in orders(client)] == ["done"]


def test_an_order_that_was_paid_on_another_page_is_told_and_its_address_forgotten(
    page: Page, client: Client
) -> None:
    """The buyer comes back from a bank, and the shop has heard of the payment before."""
    page.add_init_script(
        "window.told = [];"
        "document.addEventListener('plaza:ordered', ({ detail }) => window.told.push(detail.order))"
    )
    page.route("**/orders/*/payment*", lambda route: route.abort())
    fill_in(page)
    order(page)
    expect(page.get_by_role("heading", name="Your order waits for its payment.")).to_be_visible()
    (bought,) = orders(client)
    paid = client.post(f"/orders/{bought['id']}/payment?cart={cart_id(page)}")
    assert paid.json["order"]["state"] == "done", paid.body

    page.reload()

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert page.evaluate("window.told") == [bought["id"]]
    assert page.evaluate("sessionStorage.length") == 0
    page.reload()
    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert page.evaluate("window.told") == []


def test_a_second_click_makes_no_second_order(page: Page, client: Client) -> None:
    fill_in(page)
    page.get_by_role("button", name=ORDER).dblclick()

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert len(orders(client)) == 1


def test_an_answer_that_is_lost_makes_one_order(page: Page, client: Client) -> None:
    page.route("**/checkout", answered_and_lost, times=1)
    fill_in(page)
    order(page)

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert len(orders(client)) == 1


def test_an_order_whose_every_answer_was_lost_is_found_by_its_cart(
    page: Page, client: Client
) -> None:
    page.route("**/checkout", answered_and_lost)
    fill_in(page)
    order(page)

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert len(orders(client)) == 1


def test_a_form_that_could_not_be_sent_is_sent_again_under_its_key(
    page: Page, client: Client
) -> None:
    keys: list[str | None] = []
    page.on("request", lambda each: keys.append(each.headers.get("idempotency-key")))
    page.route("**/checkout", lambda route: route.abort())
    fill_in(page)
    order(page)
    alert = page.get_by_role("alert")
    expect(alert).to_have_text("Plaza cannot be reached. What you wrote is kept.")
    expect(page.get_by_label("Street and number")).to_have_value("Quay 1")

    page.unroute_all()
    order(page)

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert len({key for key in keys if key}) == 1
    assert len(orders(client)) == 1


def test_a_key_outlives_a_reload(page: Page, client: Client) -> None:
    keys: list[str | None] = []
    page.on("request", lambda each: keys.append(each.headers.get("idempotency-key")))
    page.route("**/checkout", lambda route: route.abort())
    fill_in(page)
    order(page)
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute_all()
    page.reload()
    page.get_by_role("button", name="Check out").click()
    order(page)

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert len({key for key in keys if key}) == 1
    assert len(orders(client)) == 1


def test_a_provider_that_lost_its_answer_is_asked_again(page: Page, client: Client) -> None:
    fill_in(page, email="lost-answer@example.org")
    order(page)

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert len(orders(client)) == 1


def test_a_price_that_has_changed_is_shown_and_agreed_to(
    page: Page, publisher: Client, client: Client
) -> None:
    fill_in(page)
    dearer = book(SKU, skus=[{"sku": SKU, "price_micros": PRICE + 1_000_000}])
    assert put(publisher, "moby-dick", dearer, version=1).status == 200
    order(page)
    expect(page.get_by_role("alert")).to_have_text(
        "The price has changed to €19.99. Look at it, and order again."
    )
    expect(page.locator("[part=total]")).to_have_text("€19.99")

    order(page, "Order and pay €19.99")

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert [each["total_micros"] for each in orders(client)] == [PRICE + 1_000_000]


def test_what_is_added_to_the_lines_is_shown_before_it_is_agreed_to(
    page: Page, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipping = {"kind": "shipping", "label": "By ferry", "amount_micros": 5_000_000}
    monkeypatch.setattr(pricing, "_registered", [lambda _lines, _place, _shop: [shipping]])
    fill_in(page)
    order(page)
    expect(page.get_by_text("By ferry")).to_be_visible()

    order(page, "Order and pay €23.99")

    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()
    assert orders(client)[0]["adjustments"] == [shipping]


def test_what_others_bought_while_the_form_was_filled_in_is_told(
    page: Page, client: Client, clock: Clock
) -> None:
    fill_in(page)
    clock.advance(minutes=16)
    other = client.post("/carts", site=SITE).json["id"]
    assert put_line(client, other, SKU, 3).status == 200
    made = check_out(client, other, agreement(3, "slow@example.org"))
    assert made.status == 201
    order(page)

    expect(page.get_by_role("alert")).to_have_text("Sold out: Moby-Dick")
    expect(page.get_by_text("Not held for you")).to_be_visible()
    expect(page.get_by_label("Street and number")).to_have_value("Quay 1")
    bought = made.json["order"]["id"]
    assert client.post(f"/orders/{bought}/cancel?cart={other}").status == 200
    order(page)
    expect(page.get_by_role("heading", name=THANKS)).to_be_visible()


def test_a_field_that_the_shop_refuses_is_named(page: Page) -> None:
    fill_in(page, email="ann@example.org")
    # What the browser itself lets through.
    page.get_by_label("E-mail").evaluate("each => (each.type = 'text')")
    page.get_by_label("E-mail").fill("ann at example")
    order(page)

    expect(page.get_by_role("alert")).to_have_text("Please check: E-mail")
    expect(page.get_by_label("E-mail")).to_be_focused()
    expect(page.get_by_label("E-mail")).to_have_attribute("aria-invalid", "true")


def test_two_tabs_make_one_order(page: Page, site: Site, client: Client) -> None:
    other = page.context.new_page()
    other.goto(f"{site.address}/")
    for each in (page, other):
        fill_in(each)
    page.route("**/orders/*/payment*", lambda route: route.abort())
    order(page)
    expect(page.get_by_role("heading", name="Your order waits for its payment.")).to_be_visible()

    order(other)

    expect(other.get_by_role("heading", name=THANKS)).to_be_visible()
    assert len(orders(client)) == 1
