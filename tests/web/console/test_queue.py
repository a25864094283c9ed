"""The queue of the console: cleared by keys alone, and nothing lost on the way."""

from typing import Any

import pytest
from playwright.sync_api import Dialog, Route, expect

from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import OpenPage
from tests.web.console.conftest import NODE, PHONE, WIDER, Desk, handed_over
from tests.web.support.axe import in_both_schemes
from tests.web.support.browser import until


def test_a_publisher_decides_at_their_site_as_a_moderator_does(
    desk: Desk, open_page: OpenPage
) -> None:
    comment = desk.post()
    token = desk.client.token("paula", name="Paula", roles=["publisher"], sites=["harbour"])

    page = handed_over(open_page, token)
    expect(page.get_by_role("article")).to_contain_text("The moon is up.")
    page.get_by_role("button", name="Approve").click()

    until(page, lambda: desk.state(comment) == "visible")


def test_a_moderator_clears_a_queue_of_twenty_by_keys_alone(desk: Desk) -> None:
    comments = [desk.post(f"Comment {number}", f"p{number}") for number in range(20)]
    page = desk.open()
    expect(page.get_by_role("article")).to_have_count(20)
    expect(page.get_by_role("article").first).to_be_focused()

    for number in range(20):
        page.keyboard.press("h" if number % 4 == 3 else "a")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()

    until(page, lambda: "pending" not in {desk.state(each) for each in comments})
    assert [desk.state(each) for each in comments] == [
        "visible",
        "visible",
        "visible",
        "hidden",
    ] * 5


def test_keys_alone_reach_the_comments_of_the_next_page(desk: Desk) -> None:
    comments = [desk.post(f"Comment {number}", f"p{number}") for number in range(52)]
    page = desk.open()
    expect(page.get_by_role("article")).to_have_count(50)
    expect(page.get_by_role("article").first).to_be_focused()

    for _ in range(50):
        page.keyboard.press("a")
    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.get_by_role("article").first).to_be_focused()
    for _ in range(2):
        page.keyboard.press("a")

    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    until(page, lambda: {desk.state(each) for each in comments} == {"visible"})


def test_comments_that_come_in_beyond_a_page_are_reached_too(desk: Desk) -> None:
    late = f"/nodes/{NODE}/comments/{desk.post('Flagged late', 'late')}"
    assert desk.admin.post(f"{late}/state", state="visible").status == 200
    desk.post("Comment 0", "p0")
    page = desk.open(before=lambda page: page.clock.install())
    expect(page.get_by_role("article")).to_have_count(1)
    for number in range(51):
        desk.post(f"Comment {number + 1}", f"p{number + 1}")

    page.clock.fast_forward(30_000)

    expect(page.get_by_role("article")).to_have_count(50)
    expect(page.get_by_role("heading", name="Waiting for you")).to_contain_text("(50+)")
    page.get_by_role("button", name="Show more").press("Enter")
    expect(page.get_by_role("article")).to_have_count(52)
    expect(page.get_by_role("article").nth(50)).to_be_focused()
    desk.post("Comment 52", "p52")
    page.clock.fast_forward(30_000)
    expect(page.get_by_role("article")).to_have_count(53)
    expect(page.get_by_role("heading", name="Waiting for you")).to_contain_text("(53)")
    # It waits since its post, before all others.
    assert desk.client.as_("ben").put(f"{late}/flag", reason="abuse").status == 204
    page.clock.fast_forward(30_000)
    expect(page.get_by_text("Flagged late")).to_be_visible()
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()


def test_the_token_leaves_the_address_and_stays_in_the_tab(desk: Desk) -> None:
    page = desk.open()

    assert "token" not in page.url
    page.reload()
    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("textbox", name="Token")).to_be_visible()


def test_a_comment_is_shown_with_what_a_decision_needs(desk: Desk) -> None:
    first = desk.post("Is the moon up?", "ben")
    desk.admin.post(f"/nodes/{NODE}/comments/{first}/state", state="visible")
    desk.post("It is, " + "and " * 200 + "it shines.", parent=first)

    article = desk.open().get_by_role("article")

    expect(article).to_contain_text("In reply to Ben")
    expect(article).to_contain_text("Is the moon up?")
    expect(article).to_contain_text("it shines.")
    expect(article).to_contain_text("On Moon")
    expect(article).to_contain_text("0 visible, 1 waiting, 0 hidden")


def test_a_decision_is_taken_back(desk: Desk) -> None:
    comment = desk.post()
    page = desk.open()
    expect(page.get_by_role("article")).to_be_focused()
    page.keyboard.press("h")
    until(page, lambda: desk.state(comment) == "hidden")

    page.keyboard.press("u")

    expect(page.get_by_role("article")).to_be_focused()
    assert desk.state(comment) == "pending"


def test_spam_is_filed_by_a_key_and_found_in_a_queue_of_its_own(desk: Desk) -> None:
    desk.post("Cheap watches", "eve")
    spam = desk.post("Cheaper watches", "eve")
    page = desk.open()
    expect(page.get_by_role("article").first).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("s")
    expect(page.get_by_role("status")).to_have_text("Filed as spam. 1 left.")
    assert desk.state(spam) == "spam"

    page.get_by_label("Which").select_option("Spam")

    filed = page.get_by_role("article", name="Eve")
    expect(filed).to_contain_text("Cheaper watches")
    expect(filed.get_by_role("button", name="Spam", exact=True)).to_have_count(0)
    filed.get_by_role("button", name="Not spam").click()
    until(page, lambda: desk.state(spam) == "visible")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()


def test_a_click_on_a_button_of_any_card_decides(desk: Desk) -> None:
    """What a card shows once it is current does not move the button from under the pointer."""
    comments = [desk.post(f"Comment {number}", f"p{number}") for number in range(3)]
    page = desk.open()
    expect(page.get_by_role("article").first).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.get_by_role("article").last).to_be_focused()
    page.wait_for_load_state("networkidle")

    page.get_by_role("article").first.get_by_role("button", name="Approve").click()

    until(page, lambda: "visible" in {desk.state(each) for each in comments})


def test_typing_the_name_of_a_queue_decides_on_nothing(desk: Desk) -> None:
    """WCAG 2.2, 3.2.2: a choice does not move the focus to where its next letter is a decision."""
    comments = [desk.post(f"Comment {number}", f"p{number}") for number in range(3)]
    for each in comments:
        path = f"/nodes/{NODE}/comments/{each}/state"
        assert desk.admin.post(path, state="spam").status == 200
    page = desk.open()
    choice = page.get_by_role("combobox", name="Which")
    choice.focus()

    page.keyboard.press("s")
    expect(page.get_by_role("article")).to_have_count(3)
    page.keyboard.type("pam", delay=50)

    expect(choice).to_be_focused()
    expect(choice).to_have_value("spam")
    assert {desk.state(each) for each in comments} == {"spam"}


def test_what_is_taken_back_from_the_spam_is_spam_again(desk: Desk) -> None:
    spam = desk.post("Cheap watches", "eve")
    there = f"/nodes/{NODE}/comments/{spam}/state"
    assert desk.admin.post(there, state="spam").status == 200
    page = desk.open()
    page.get_by_label("Which").select_option("Spam")
    expect(page.get_by_role("article")).to_be_visible()
    page.get_by_label("Which").press("Tab")
    expect(page.get_by_role("article")).to_be_focused()
    page.keyboard.press("a")
    until(page, lambda: desk.state(spam) == "visible")

    page.keyboard.press("u")

    expect(page.get_by_role("article")).to_be_focused()
    assert desk.state(spam) == "spam"


@pytest.mark.parametrize("key", ["a", "h"])
def test_a_flagged_comment_whose_decision_is_taken_back_is_decided_again(
    desk: Desk, key: str
) -> None:
    comment = desk.post()
    there = f"/nodes/{NODE}/comments/{comment}"
    assert desk.admin.post(f"{there}/state", state="visible").status == 200
    assert desk.client.as_("ben").put(f"{there}/flag", reason="abuse").status == 204
    page = desk.open()
    expect(page.get_by_role("article")).to_be_focused()
    page.keyboard.press(key)
    expect(page.get_by_text("Nothing waits.")).to_be_visible()

    page.keyboard.press("u")

    expect(page.get_by_role("article")).to_be_focused()
    assert desk.state(comment) == "pending"
    page.keyboard.press("s")
    expect(page.get_by_role("status")).to_have_text("Filed as spam. 0 left.")
    assert desk.state(comment) == "spam"


def test_a_decision_that_another_has_changed_since_is_not_taken_back(desk: Desk) -> None:
    comment = desk.post()
    page = desk.open(may_log="Failed to load resource")
    expect(page.get_by_role("article")).to_be_focused()
    page.keyboard.press("h")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    until(page, lambda: desk.state(comment) == "hidden")
    there = f"/nodes/{NODE}/comments/{comment}/state"
    assert desk.admin.post(there, state="spam").status == 200

    page.keyboard.press("u")

    expect(page.get_by_role("status")).to_have_text("It was changed since, and stays as it is.")
    assert desk.state(comment) == "spam"


def test_a_comment_is_hidden_for_a_reason_that_the_log_keeps(desk: Desk) -> None:
    comment = desk.post()
    page = desk.open()
    answers = ["moon" * 200, "Off topic"]
    page.on("dialog", lambda dialog: dialog.accept(answers.pop(0)))
    expect(page.get_by_role("article")).to_be_focused()

    page.keyboard.press("Shift+H")

    expect(page.get_by_role("status")).to_contain_text("Hidden.")
    acts = desk.moderator.get("/moderation/log?site=harbour").json["acts"]
    assert [(each["comment_id"], each["reason"]) for each in acts] == [(comment, "Off topic")]
    assert answers == []


def test_a_comment_stays_if_nobody_says_why_it_is_hidden(desk: Desk) -> None:
    comment = desk.post()
    page = desk.open()
    page.on("dialog", lambda dialog: dialog.dismiss())
    expect(page.get_by_role("article")).to_be_focused()

    page.keyboard.press("Shift+H")

    expect(page.get_by_role("article")).to_have_count(1)
    assert desk.state(comment) == "pending"


def test_an_old_queue_replaces_no_decision_of_another_moderator(desk: Desk) -> None:
    comment = desk.post()
    page = desk.open(may_log="409")
    expect(page.get_by_role("article")).to_be_focused()
    bea = desk.client.as_("bea", name="Bea", roles=["moderator"])
    hidden = bea.post(f"/nodes/{NODE}/comments/{comment}/state", state="hidden")
    assert hidden.status == 200, hidden.body

    page.keyboard.press("a")

    expect(page.get_by_role("status")).to_have_text("Bea has already decided: Hidden.")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    assert desk.state(comment) == "hidden"


def test_what_was_edited_meanwhile_comes_back_with_its_new_text(desk: Desk) -> None:
    comment = desk.post()
    page = desk.open(may_log="409")
    expect(page.get_by_role("article")).to_be_focused()
    edited = desk.client.as_("ann", name="Ann").patch(
        f"/nodes/{NODE}/comments/{comment}", text="Buy my moons."
    )
    assert edited.status == 200, edited.body

    page.keyboard.press("a")

    expect(page.get_by_role("article")).to_contain_text("Buy my moons.")
    expect(page.get_by_role("status")).to_contain_text("edited while you read it")
    assert desk.state(comment) == "pending"


def test_a_token_that_ends_costs_no_decision(desk: Desk) -> None:
    comment = desk.post()
    page = desk.open_and_read(may_log="401")
    desk.clock.advance(days=366)
    page.keyboard.press("a")

    desk.sign_in_again(page)

    expect(page.get_by_role("status")).to_contain_text("Approved")
    assert desk.state(comment) == "visible"


def test_the_keyboard_goes_on_where_it_was_after_a_new_token(desk: Desk) -> None:
    desk.post()
    desk.post("The moon is down.", "ben")
    page = desk.open_and_read(may_log="401")
    desk.clock.advance(days=366)
    page.keyboard.press("a")

    desk.sign_in_again(page)

    expect(page.get_by_role("status")).to_contain_text("Approved")
    expect(page.get_by_role("article")).to_be_focused()


def test_the_question_for_a_new_token_cannot_be_closed(desk: Desk) -> None:
    """The decisions that wait for it would be lost without a word."""
    comment = desk.post()
    page = desk.open_and_read(may_log="401")
    desk.clock.advance(days=366)
    page.keyboard.press("a")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()

    for _ in range(3):
        page.keyboard.press("Escape")

    desk.sign_in_again(page)
    expect(page.get_by_role("status")).to_contain_text("Approved")
    assert desk.state(comment) == "visible"


def test_a_late_answer_of_another_queue_is_left_out(desk: Desk) -> None:
    desk.post()
    held: list[Route] = []
    page = desk.open()
    expect(page.get_by_role("article")).to_have_count(1)
    # Playwright takes no method of a list.
    page.route("**/comments?queue=pending", lambda each: held.append(each))  # noqa: PLW0108

    page.get_by_label("Which").select_option("Held back")
    until(page, lambda: bool(held))
    page.get_by_label("Which").select_option("Spam")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    with page.expect_response("**/comments?queue=pending"):
        held[0].continue_()

    page.evaluate("new Promise(requestAnimationFrame)")
    expect(page.get_by_role("article")).to_have_count(0)
    expect(page.get_by_text("Nothing waits.")).to_be_visible()


def test_nothing_is_read_as_a_guest_once_a_token_has_ended(desk: Desk) -> None:
    desk.post()
    desk.post("The moon is down.", "ben")
    page = desk.open_and_read(may_log="401")
    second = page.get_by_role("article").nth(1)
    desk.clock.advance(days=366)
    page.keyboard.press("j")

    desk.sign_in_again(page)

    expect(second).to_contain_text("On Moon")
    expect(second).not_to_contain_text("could not be read")


def test_another_moderator_sees_who_reads_a_comment(desk: Desk) -> None:
    desk.post()
    desk.open_and_read()

    second = desk.open("max", may_log="409")

    expect(second.get_by_role("article")).to_contain_text("read by Mo")


def test_a_moderator_whose_id_is_hashed_reads_no_claim_of_their_own(desk: Desk) -> None:
    desk.post()
    desk.open_and_read(sub="auth0|mo")
    again = desk.open("auth0|mo")

    article = again.get_by_role("article")
    expect(article).to_be_visible()
    expect(article).not_to_contain_text("read by")


def test_all_of_one_person_is_hidden_once_it_is_confirmed(desk: Desk, workers: Workers) -> None:
    theirs = [desk.post(f"Buy {number} moons", "bad") for number in range(2)]
    other = desk.post()
    page = desk.open()
    expect(page.get_by_role("article").first).to_be_focused()
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.accept() if asked[1:] else dialog.dismiss()

    page.on("dialog", answer)
    page.keyboard.press("x")
    page.keyboard.press("x")

    expect(page.get_by_role("status")).to_contain_text("All by Bad is being hidden")
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("article")).to_be_focused()
    assert asked == ["Hide everything that Bad wrote at harbour?"] * 2
    workers.drain()
    assert [desk.state(each) for each in (*theirs, other)] == ["hidden", "hidden", "pending"]


def test_a_token_without_a_role_opens_no_page(client: Client, open_page: OpenPage) -> None:
    page = handed_over(open_page, client.token("ann", name="Ann"))

    expect(page.get_by_role("heading", name="Nothing to do here")).to_be_visible()


def test_a_token_that_is_none_is_refused(open_page: OpenPage) -> None:
    page = open_page("/console", may_log=("401", "The page's token"))
    page.get_by_label("Token").fill("nonsense")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("alert")).to_contain_text("not valid")


@pytest.mark.processes
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
def test_the_queue_breaks_no_rule_of_axe_and_fits(
    desk: Desk, axe: str, options: dict[str, Any]
) -> None:
    desk.post("A long word: " + "moon" * 100)
    page = desk.open(**options)
    expect(page.get_by_role("article")).to_contain_text("On Moon")

    assert in_both_schemes(page, axe) == []
    assert page.evaluate(WIDER) == 0


def test_the_links_and_buttons_of_the_comment_in_hand_are_reached_by_keys(desk: Desk) -> None:
    for number in range(2):
        desk.post(f"Comment {number}")
    page = desk.open_and_read()
    reached: list[str] = []
    for _ in range(20):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "document.activeElement.closest('article') && document.activeElement.textContent"
        )
        if focused is None:
            break
        reached.append(focused)

    first = ["Moon", "Their log", "Their standing"]
    assert reached == [*first, "Approve", "Hide", "Spam", "Hide all by Ann"]
    # Only then comes the end of the list: the other comment has J and K.
    expect(page.get_by_role("article")).to_have_count(2)


def test_the_links_of_a_card_are_reached_by_the_keyboard(desk: Desk) -> None:
    desk.post()
    page = desk.open_and_read()
    expect(page.get_by_role("article").get_by_role("link", name="Their standing")).to_be_visible()
    reached = set()
    # Three links and four buttons.
    for _ in range(8):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent"))

    assert {"Moon", "Their log", "Their standing", "Approve"} <= reached
