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


def test_a_comment_comes_back_beside_the_one_that_is_read(desk: Desk) -> None:
    """The key that follows a refused decision is meant for the comment that is read then."""
    edited = desk.post()
    read = desk.post("The moon is down.", "ben")
    page = desk.open(may_log="409")
    expect(page.get_by_role("article").first).to_be_focused()
    changed = desk.client.as_("ann", name="Ann").patch(
        f"/nodes/{NODE}/comments/{edited}", text="Buy my moons."
    )
    assert changed.status == 200, changed.body

    page.keyboard.press("a")
    expect(page.get_by_role("article").first).to_contain_text("Buy my moons.")
    expect(page.get_by_role("article").nth(1)).to_be_focused()
    page.keyboard.press("a")

    expect(page.get_by_role("status")).to_have_text("Approved. 1 left.")
    expect(page.get_by_role("article")).to_be_focused()
    assert (desk.state(edited), desk.state(read)) == ("pending", "visible")


def test_a_key_that_is_held_down_decides_once(desk: Desk) -> None:
    comments = [desk.post(f"Moon {number}", f"reader{number}") for number in range(3)]
    page = desk.open()
    expect(page.get_by_role("article").first).to_be_focused()

    for _ in range(3):
        # Without a release between them, the later ones are repeats.
        page.keyboard.down("a")
    page.keyboard.up("a")
    for _ in range(2):
        page.keyboard.down("j")

    expect(page.get_by_role("article").nth(1)).to_be_focused()
    expect(page.get_by_role("status")).to_have_text("Approved. 2 left.")
    assert [desk.state(each) for each in comments] == ["visible", "pending", "pending"]


def test_all_of_one_person_leave_and_the_comment_that_is_being_read_stays(desk: Desk) -> None:
    """A moderator goes on while the call is on its way: the next key is meant for what they see."""
    texts = (("Buy a moon", "bad"), ("One", "ann"), ("Buy a sun", "bad"), ("Two", "ann"))
    comments = [desk.post(text, by) for text, by in texts]
    page = desk.open()
    expect(page.get_by_role("article").first).to_be_focused()
    page.on("dialog", lambda dialog: dialog.accept())
    held: list[Route] = []
    # Playwright takes no method of a list.
    page.route("**/moderation/batches", lambda each: held.append(each))  # noqa: PLW0108
    page.keyboard.press("x")
    until(page, lambda: bool(held))
    page.keyboard.press("j")
    read = page.get_by_role("article").filter(has_text="One")
    expect(read).to_be_focused()

    held[0].continue_()

    expect(page.get_by_role("article")).to_have_count(2)
    expect(read).to_be_focused()
    page.keyboard.press("a")
    expect(page.get_by_role("status")).to_have_text("Approved. 1 left.")
    assert [desk.state(comments[at]) for at in (1, 3)] == ["visible", "pending"]


def test_comments_that_a_worker_is_hiding_do_not_come_back(desk: Desk) -> None:
    desk.post("Buy a moon", "bad")
    desk.post()
    page = desk.open(before=lambda page: page.clock.install())
    expect(page.get_by_role("article").first).to_be_focused()
    page.on("dialog", lambda dialog: dialog.accept())
    page.keyboard.press("x")
    expect(page.get_by_role("status")).to_contain_text("All by Bad is being hidden")

    with page.expect_response("**/moderation/comments?*"):
        page.clock.run_for(31_000)
    page.evaluate("new Promise((done) => setTimeout(done))")
    expect(page.get_by_role("article")).to_have_count(1)
    # The batch does not reach what is written after it.
    desk.post("Buy a sun", "bad")
    page.clock.run_for(31_000)
    expect(page.get_by_role("article")).to_have_count(2)

    # The worker is stopped for longer than its comments are left out.
    page.clock.run_for(600_000)
    expect(page.get_by_role("article")).to_have_count(3)


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
