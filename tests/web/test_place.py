"""The place of a reader with a keyboard or a screen reader: no answer or look takes it away."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.two import NODE, Discussion, discussing, look, with_clock
from tests.web.test_late_answers import Late

expect.set_options(timeout=PATIENCE_MS)
FAILED = "Failed to load resource"
ACTIVE = "document.querySelector('plaza-comments').shadowRoot.activeElement"
CONTRAST = """([property, pseudo]) => {
    const root = document.querySelector('plaza-comments').shadowRoot;
    const field = root.querySelector('textarea');
    const light = ([r, g, b]) => [r, g, b].map((each) => each / 255)
        .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
        .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0.05);
    const channels = (text) => text.match(/[0-9.]+/g).map(Number);
    const [one, other] = [
        channels(getComputedStyle(field, pseudo)[property]),
        channels(getComputedStyle(field).backgroundColor),
    ].map(light);
    return Math.max(one, other) / Math.min(one, other);
}"""


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    with discussing(client, clock, address) as made:
        yield made


def long_talk(talk: Discussion, by: str, number: int = 30) -> list[str]:
    return [talk.posted(f"{each}\n\nmore\n\nmore", by=by) for each in range(number)]


def is_in_view(page: Page, place: Locator) -> bool:
    box = place.bounding_box()
    assert box is not None and page.viewport_size is not None  # noqa: PT018
    return 0 <= box["y"] <= page.viewport_size["height"]


def field(page: Page, name: str) -> Locator:
    return page.get_by_role("textbox", name=name)


def test_an_answer_leaves_a_reader_who_writes_elsewhere_by_now(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.posted("Is the moon up?", by="ben")
    page = open_page(talk.site_of("ann"))
    late = Late(page, "POST")
    field(page, "Write a comment").fill("On top")
    page.keyboard.press("Control+Enter")
    late.wait()
    page.get_by_role("button", name="Reply").click()
    page.keyboard.type("A reply that is")

    late.let_go()
    expect(page.get_by_text("On top")).to_be_visible()
    page.keyboard.type(" quite long")

    expect(field(page, "Reply to Ben")).to_have_value("A reply that is quite long")


def test_after_a_deletion_the_next_comment_has_the_focus_and_the_outcome(
    talk: Discussion, open_page: OpenPage
) -> None:
    long_talk(talk, "ann")
    page = open_page(talk.site_of("ann"))
    expect(page.get_by_role("article")).to_have_count(30)

    page.get_by_role("button", name="Delete").nth(20).press("Enter")
    page.keyboard.press("Enter")

    expect(page.get_by_role("article")).to_have_count(29)
    status = page.get_by_text("This comment was deleted.")
    until(page, lambda: is_in_view(page, status))
    assert page.evaluate(f"{ACTIVE}.localName") == "li"


def test_the_end_of_the_time_to_edit_leaves_the_focus_at_the_comment(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.posted("Mine", by="ann")
    page = open_page(talk.site_of("ann"), before=lambda page: page.clock.install(time=talk.clock()))
    edit = page.get_by_role("button", name="Edit")
    edit.focus()

    page.clock.run_for(16 * 60 * 1_000)

    expect(edit).to_have_count(0)
    assert page.evaluate(f"{ACTIVE}.localName") == "li"


def test_a_look_that_draws_a_comment_again_leaves_the_focus_on_its_button(
    talk: Discussion, open_page: OpenPage
) -> None:
    first = talk.posted("The first.", by="ben")
    long_talk(talk, "cleo", 5)
    page = open_page(talk.site_of("ann"), before=with_clock)
    article = page.get_by_role("article").filter(has_text="The first.")
    article.get_by_role("button", name="Reply").focus()
    ben = talk.client.as_("ben", name="Ben")
    path = f"/nodes/{NODE}/comments/{first}"
    assert ben.patch(path, text="The first, again.").status == 200

    look(page)

    again = page.get_by_role("article").filter(has_text="The first, again.")
    expect(again.get_by_role("button", name="Reply")).to_be_focused()


def test_a_second_press_on_a_decision_is_no_decision_of_another(
    talk: Discussion, open_page: OpenPage
) -> None:
    comment = talk.posted("Bad", by="ben")
    page = open_page(talk.site_of("mo", roles=["moderator"]))
    late = Late(page, "POST", re.compile("/state$"))
    hide = page.get_by_role("button", name="Hide")
    hide.click()
    late.wait()
    hide.click()

    late.let_go()

    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    expect(page.get_by_text("already decided")).to_have_count(0)
    found = talk.admin.get(f"/nodes/{NODE}/comments/{comment}").json
    assert found["state"] == "hidden"


def test_the_failure_of_a_vote_is_told_where_it_was_pressed(
    talk: Discussion, open_page: OpenPage
) -> None:
    long_talk(talk, "ben")
    page = open_page(talk.site_of("ann"), may_log=FAILED)
    expect(page.get_by_role("article")).to_have_count(30)
    page.route("**/vote", lambda route: route.abort())

    page.get_by_role("button", name="Vote for").nth(20).click()

    told = page.get_by_text("Plaza cannot be reached")
    expect(told).to_be_visible()
    until(page, lambda: is_in_view(page, told))
    page.unroute_all()


@pytest.mark.parametrize(("sub", "may"), [("ann", False), ("", False), ("mo", True)])
def test_who_may_not_write_in_a_closed_discussion_cannot_press_its_marks(
    talk: Discussion, open_page: OpenPage, sub: str, *, may: bool
) -> None:
    talk.posted("The moon is up.", by="ben")
    closed: dict[str, Any] = {"closes_at": (talk.clock() - timedelta(hours=1)).isoformat()}
    put = talk.admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/", **closed)
    assert put.status == 200
    roles = {"roles": ["moderator"]} if sub == "mo" else {}

    page = open_page(talk.site_of(sub, **roles))

    vote = page.get_by_role("button", name="Vote for")
    expect(vote).to_be_enabled(enabled=may)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fields_have_an_edge_and_a_hint_that_can_be_seen(
    talk: Discussion, open_page: OpenPage, scheme: Any
) -> None:
    """WCAG 2.2, 1.4.11 and 1.4.3."""
    page = open_page(talk.site_of("ann"), color_scheme=scheme)
    expect(field(page, "Write a comment")).to_be_visible()

    assert page.evaluate(CONTRAST, ["borderTopColor", None]) >= 3
    assert page.evaluate(CONTRAST, ["color", "::placeholder"]) >= 4.5


def test_the_status_is_there_before_it_has_something_to_say(
    talk: Discussion, open_page: OpenPage
) -> None:
    """Screen readers announce a change of what they have met (WCAG 2.2, 4.1.3)."""
    talk.posted("The moon is up.", by="ben")
    page = open_page(talk.site_of("ann"))
    expect(page.get_by_role("article")).to_have_count(1)

    expect(page.get_by_role("status")).to_have_count(1)
