"""What moderators point out: pinned comments above the list, and featured ones in an order."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.two import POLL_MS, Discussion, discussing, look, with_clock

expect.set_options(timeout=PATIENCE_MS)
FAILED = "Failed to load resource"


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion with two comments."""
    with discussing(client, clock, address) as made:
        made.posted("The first.")
        made.posted("The second.")
        yield made


@pytest.fixture
def moderated(talk: Discussion, open_page: OpenPage) -> Page:
    """The page of a moderator."""
    return open_page(talk.site_of("mo", roles=["moderator"]), may_log=FAILED)


def offered(order: Locator) -> list[str]:
    """Return the orders that are offered."""
    found: list[str] = order.locator("option").evaluate_all("all => all.map((each) => each.value)")
    return found


def test_a_pin_stands_above_the_list_for_the_other_reader_and_is_taken_down(
    talk: Discussion, moderated: Page, open_page: OpenPage
) -> None:
    ben = open_page(talk.site_of("ben"), before=with_clock)
    pinned = ben.get_by_role("complementary", name="Pinned")
    expect(ben.get_by_role("article")).to_have_count(2)
    expect(ben.get_by_role("button", name="Pin")).to_have_count(0)

    second = moderated.get_by_role("listitem").filter(has_text="The second.")
    second.get_by_role("button", name="Pin").click()
    expect(moderated.get_by_role("status")).to_have_text("The comment is pinned.")
    expect(second).to_be_focused()
    expect(moderated.get_by_role("complementary", name="Pinned")).to_contain_text("The second.")
    ben.clock.run_for(POLL_MS)
    expect(pinned).to_contain_text("The second.")
    expect(ben.get_by_role("article")).to_have_count(2)
    expect(ben.get_by_role("article").last.locator(".badge")).to_have_text("Pinned")
    second.get_by_role("button", name="Unpin").click()
    expect(moderated.get_by_role("status")).to_have_text("The comment is no longer pinned.")
    ben.clock.run_for(2 * POLL_MS)

    expect(pinned).to_have_count(0)
    expect(ben.locator("article .badge")).to_have_count(0)


def test_a_look_leaves_a_pin_in_the_hand_of_its_reader(
    talk: Discussion, moderated: Page, open_page: OpenPage
) -> None:
    moderated.get_by_role("button", name="Pin", exact=True).first.click()
    expect(moderated.get_by_role("status")).to_have_text("The comment is pinned.")
    ben = open_page(talk.site_of("ben"), before=with_clock)
    link = ben.get_by_role("complementary", name="Pinned").get_by_role("link")
    link.focus()
    talk.posted("The third.")

    look(ben)

    expect(ben.get_by_role("button", name="1 new comment")).to_be_visible()
    expect(link).to_be_focused()


def test_a_fourth_pin_is_refused(talk: Discussion, open_page: OpenPage) -> None:
    for text in ("The third.", "The fourth."):
        talk.posted(text)
    page = open_page(talk.site_of("mo", roles=["moderator"]), may_log=FAILED)
    for pins in range(3):
        page.get_by_role("button", name="Pin", exact=True).first.click()
        expect(page.get_by_role("button", name="Unpin")).to_have_count(pins + 1)

    page.get_by_role("button", name="Pin", exact=True).click()

    expect(page.get_by_role("status")).to_contain_text("Three comments are pinned.")
    expect(page.get_by_role("complementary", name="Pinned").locator(".text")).to_have_count(3)


def test_what_is_featured_is_listed_by_itself(
    talk: Discussion, moderated: Page, open_page: OpenPage
) -> None:
    first = moderated.get_by_role("listitem").filter(has_text="The first.")
    first.get_by_role("button", name="Feature").click()
    expect(moderated.get_by_role("status")).to_have_text("The comment is featured.")
    ben = open_page(talk.site_of("ben"))

    ben.get_by_role("combobox", name="Order").hover()
    ben.get_by_role("combobox", name="Order").select_option("featured")

    expect(ben.get_by_role("article")).to_have_count(1)
    expect(ben.get_by_role("article")).to_contain_text("The first.")
    moderated.get_by_role("combobox", name="Order").select_option("featured")
    with moderated.expect_response("**/featured"):
        moderated.get_by_role("button", name="Feature no more").click()
    expect(moderated.get_by_role("status")).to_have_text("The comment is no longer featured.")
    assert talk.client.get("/nodes/harbour:moon/comments?order=featured").json["comments"] == []


def test_featured_is_no_order_where_nothing_is_featured(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of("ben"))
    order = page.get_by_role("combobox", name="Order")
    expect(page.get_by_role("article")).to_have_count(2)
    assert "featured" not in offered(order)

    with page.expect_response(lambda answer: "order=featured" in answer.url) as answered:
        order.hover()

    assert answered.value.json()["comments"] == []
    order.select_option("newest")
    expect(page.get_by_role("article").first).to_contain_text("The second.")
    assert "featured" not in offered(order)


def test_featured_is_an_order_for_who_comes_by_keyboard_once_something_is(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.feature(talk.posted("The third."))
    page = open_page(talk.site_of(""))
    expect(page.get_by_role("article")).to_have_count(3)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    assert "featured" not in offered(page.get_by_role("combobox", name="Order"))

    page.get_by_role("combobox", name="Order").focus()
    expect(page.locator("option[value=featured]")).to_have_count(1)
    page.keyboard.press("End")

    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("article")).to_contain_text("The third.")
    page.get_by_role("article").hover()
    assert len([each for each in asked if "limit=1&" in f"{each}&"]) == 1


def test_featured_is_an_order_where_the_page_has_chosen_it(
    talk: Discussion, open_page: OpenPage
) -> None:
    site = talk.site_of("ben")
    site.body = site.body.replace("<plaza-comments ", '<plaza-comments order="featured" ')
    page = open_page(site)

    expect(page.get_by_role("combobox", name="Order")).to_have_value("featured")
    expect(page.get_by_role("article")).to_have_count(0)


@pytest.mark.processes
def test_a_page_with_a_pin_breaks_no_rule(moderated: Page, axe: str) -> None:
    moderated.get_by_role("button", name="Pin", exact=True).first.click()
    expect(moderated.get_by_role("complementary", name="Pinned")).to_be_visible()

    assert in_both_schemes(moderated, axe) == []
