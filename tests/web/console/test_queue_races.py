"""The queue of the console while calls are on their way: nothing is lost or comes back."""

from playwright.sync_api import APIResponse, Route, expect

from tests.web.console.conftest import NODE, Desk
from tests.web.support.browser import until


def test_a_decision_that_is_on_its_way_is_taken_back_after_it(desk: Desk) -> None:
    """Of two calls at once, the decision could come last."""
    comment = desk.post()
    page = desk.open()
    expect(page.get_by_role("article")).to_be_focused()
    held: list[Route] = []
    # Playwright takes no method of a list.
    page.route("**/state", lambda each: held.append(each))  # noqa: PLW0108
    page.keyboard.press("a")
    page.keyboard.press("u")
    until(page, lambda: bool(held))
    page.evaluate("new Promise((done) => setTimeout(done))")
    assert len(held) == 1

    for number in range(2):
        until(page, lambda: len(held) > number)  # noqa: B023 - called at once
        held[number].continue_()

    expect(page.get_by_role("status")).to_have_text("Back in the queue")
    expect(page.get_by_role("article")).to_be_focused()
    assert desk.state(comment) == "pending"


def test_a_comment_that_was_decided_and_waits_again_is_shown_again(desk: Desk) -> None:
    comment = desk.post()
    page = desk.open(before=lambda page: page.clock.install())
    expect(page.get_by_role("article")).to_be_focused()
    page.keyboard.press("a")
    expect(page.get_by_role("status")).to_have_text("Approved. 0 left.")
    again = desk.admin.post(f"/nodes/{NODE}/comments/{comment}/state", state="pending")
    assert again.status == 200, again.body

    page.clock.run_for(31_000)

    expect(page.get_by_role("article")).to_contain_text("The moon is up.")


def test_a_list_that_was_asked_for_before_a_decision_does_not_bring_it_back(desk: Desk) -> None:
    desk.post()
    page = desk.open(before=lambda page: page.clock.install())
    expect(page.get_by_role("article")).to_be_focused()
    held: list[tuple[Route, APIResponse]] = []
    page.route("**/moderation/comments?*", lambda each: held.append((each, each.fetch())))
    page.clock.run_for(31_000)
    until(page, lambda: bool(held))
    page.keyboard.press("a")
    expect(page.get_by_role("status")).to_have_text("Approved. 0 left.")
    route, answer = held[0]

    with page.expect_response("**/moderation/comments?*"):
        route.fulfill(response=answer)

    page.evaluate("new Promise((done) => setTimeout(done))")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(0)
