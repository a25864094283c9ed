"""The console's frame: the page that the address names is the one shown."""

from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.web.conftest import OpenPage
from tests.web.console.conftest import Desk


def test_a_page_that_is_loaded_late_does_not_replace_the_one_chosen_since(
    desk: Desk, open_page: OpenPage
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = open_page(
        f"/console?site=harbour#token={desk.token()}",
        before=lambda page: page.route("**/console/queue.js", hold),
    )
    page.get_by_role("link", name="Log", exact=True).click()
    expect(page.get_by_role("heading", name="What moderators did")).to_be_visible()

    with page.expect_response("**/console/queue-context.js"):
        held[0].continue_()
    page.evaluate("url => import(url).then(() => {})", held[0].request.url)

    expect(page.get_by_role("heading", name="What moderators did")).to_be_visible()
    expect(page.get_by_role("heading", name="Waiting for you")).to_have_count(0)


def test_a_page_that_cannot_be_loaded_says_so_and_is_tried_again(
    desk: Desk, open_page: OpenPage
) -> None:
    def cut(page: Page) -> None:
        page.route("**/console/queue.js", lambda route: route.abort())

    options: dict[str, Any] = {"before": cut, "may_log": "net::ERR_FAILED"}
    page = open_page(f"/console#token={desk.token()}", **options)
    expect(page.get_by_role("heading", name="Plaza does not answer")).to_be_visible()
    page.unroute("**/console/queue.js")

    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
