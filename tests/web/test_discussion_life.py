"""A discussion that goes on while it is read: new comments, moderators, pages before, time."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import answer_read, count_answers
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
FAILED = "Failed to load resource"
POLL_MS = 31_000


@pytest.fixture(autouse=True)
def node(client: Client, site: Site) -> Client:
    """A node with nothing in it; its page is the site's."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    site.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
    return client


@pytest.fixture
def moderator(site: Site, token: Callable[..., str]) -> None:
    """A moderator of all sites reads the page."""
    site.token = lambda: token("mo", name="Mo", roles=["moderator"])


def posted(client: Client, text: str, parent: str | None = None) -> str:
    """Post a comment by the API; return its id."""
    body = {"text": text, **({"parent": parent} if parent else {})}
    reply = client.as_("ann").post(f"/nodes/{NODE}/comments", **body)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def comments(client: Client) -> list[str]:
    return [each["text"] for each in client.get(f"/nodes/{NODE}/comments").json["comments"]]


@pytest.mark.usefixtures("moderator")
def test_a_moderator_hides_and_approves(node: Client, site: Site, open_page: OpenPage) -> None:
    posted(node, "Nice moon.")
    page = open_page(site)
    expect(page.get_by_role("heading", name="1 comment")).to_be_visible()

    page.get_by_role("button", name="Hide").click()

    expect(page.locator(".badge")).to_have_text("hidden by a moderator")
    expect(page.get_by_role("heading", name="Nobody has said anything yet.")).to_be_visible()
    assert comments(node) == []
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="1 comment")).to_be_visible()
    expect(page.locator(".badge")).to_have_count(0)
    assert comments(node) == ["Nice moon."]


@pytest.mark.usefixtures("moderator")
def test_what_waits_is_approved_only_as_it_was_read(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    admin = node.as_("admin", roles=["admin"])
    admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/", moderation="before")
    comment = posted(node, "Harmless.")
    page = open_page(site, may_log=FAILED)
    expect(page.locator(".badge")).to_have_text("waits for a moderator")
    edited = node.as_("ann").patch(f"/nodes/{NODE}/comments/{comment}", text="Harmful.")
    assert edited.status == 200

    page.get_by_role("button", name="Approve").click()

    expect(page.get_by_role("status").get_by_text("has changed in the meantime")).to_be_visible()
    assert comments(node) == []


@pytest.mark.usefixtures("moderator")
def test_the_first_decision_stands_and_the_second_moderator_is_told(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    comment = posted(node, "Nice moon.")
    page = open_page(site, may_log=FAILED)
    hide = page.get_by_role("button", name="Hide")
    expect(hide).to_be_visible()
    other = node.as_("bea", name="Bea", roles=["moderator"])
    states = f"/nodes/{NODE}/comments/{comment}/state"
    assert other.post(states, state="spam").status == 200

    hide.click()

    told = page.get_by_role("article").get_by_role("status")
    expect(told).to_have_text("Bea has already decided on this comment.")
    expect(page.locator(".badge")).to_have_text("spam")
    assert other.get(f"/nodes/{NODE}/comments/{comment}").json["state"] == "spam"


def test_an_open_form_brings_nothing_back_that_a_moderator_has_removed(
    node: Client, site: Site, token: Callable[..., str], open_page: OpenPage
) -> None:
    comment = posted(node, "Nice moon.")
    site.token = lambda: token("ann", name="Ann")
    page = open_page(site, may_log=FAILED)
    page.get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Edit").fill("Nice moon, indeed.")
    states = f"/nodes/{NODE}/comments/{comment}/state"
    assert node.as_("mo", roles=["moderator"]).post(states, state="pending").status == 200

    page.get_by_role("button", name="Save").click()

    expect(page.get_by_role("alert")).to_contain_text("changed in the meantime")
    expect(page.get_by_role("textbox", name="Edit")).to_have_value("Nice moon, indeed.")
    stored = node.as_("ann").get(f"/nodes/{NODE}/comments/{comment}").json
    assert (stored["text"], stored["state"]) == ("Nice moon.", "pending")


def test_who_is_no_moderator_has_no_such_buttons(
    node: Client, site: Site, token: Callable[..., str], open_page: OpenPage
) -> None:
    posted(node, "Nice moon.")
    site.token = lambda: token("ben", name="Ben")

    page = open_page(site)

    expect(page.get_by_role("button", name="Reply")).to_be_visible()
    for name in ("Hide", "Approve", "Edit", "Delete"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


def test_a_comment_of_the_reader_stays_behind_the_older_comments_of_later_pages(
    node: Client, site: Site, token: Callable[..., str], clock: Clock, open_page: OpenPage
) -> None:
    first = posted(node, "Comment 0")
    for number in range(1, 52):
        clock.advance(seconds=1)
        posted(node, f"Comment {number}")
    posted(node, "An early reply.", parent=first)
    site.token = lambda: token("ben", name="Ben")
    page = open_page(site)
    clock.advance(seconds=1)

    page.get_by_role("textbox", name="Write a comment").fill("The latest.")
    page.get_by_role("button", name="Post").click()
    expect(page.get_by_text("The latest.")).to_be_visible()
    page.get_by_role("button", name="More").click()

    expect(page.locator("article .text").last).to_have_text("The latest.")
    expect(page.get_by_role("article")).to_have_count(54)


def test_the_pages_before_a_permalink_come_above_it_and_move_nothing(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    first = posted(node, "The first.")
    for number in range(55):
        posted(node, f"Reply {number}", parent=first)
    last = [posted(node, f"Comment {number}") for number in range(55)][-1]
    page = open_page(site)
    page.evaluate(f"location.hash = '#plaza-{last}'")
    target = page.locator(f"#c-{last}")
    expect(target).to_have_class("target")
    earlier = page.get_by_role("button", name="Show earlier")
    expect(earlier).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(25)
    top = page.get_by_role("article").first
    name = top.get_attribute("aria-labelledby")
    earlier.scroll_into_view_if_needed()
    before = top.bounding_box()

    earlier.click()
    expect(page.get_by_role("article")).to_have_count(75)
    after = page.locator(f"article[aria-labelledby={name}]").bounding_box()
    earlier.click()

    expect(page.get_by_role("article")).to_have_count(111)
    expect(earlier).to_be_hidden()
    assert before is not None
    assert after is not None
    assert abs(before["y"] - after["y"]) < 2
    # Also those that came before what they reply to.
    expect(page.locator(f"#c-{first} > .thread > li")).to_have_count(55)
    order = page.locator(f"#c-{first} > .thread > li .text").all_inner_texts()
    assert order == [f"Reply {number}" for number in range(55)]


def test_new_comments_are_told_and_changed_ones_renewed_where_nobody_writes(
    node: Client, site: Site, token: Callable[..., str], open_page: OpenPage
) -> None:
    first, second = posted(node, "The first."), posted(node, "The second.")
    site.token = lambda: token("ann", name="Ann")
    page = open_page(site, before=lambda page: page.clock.install(), caches=True)
    expect(page.get_by_role("article")).to_have_count(2)
    page.locator(f"#c-{second} [data-does=reply]").click()
    with page.expect_response("**/comments?limit=50*") as answered:
        page.clock.run_for(POLL_MS)
    assert answered.value.request.all_headers()["if-none-match"]
    for comment in (first, second):
        node.as_("ann").patch(f"/nodes/{NODE}/comments/{comment}", text=f"Changed {comment}.")
    posted(node, "The third.")
    page.clock.run_for(2 * POLL_MS)

    # The button covers no line that somebody is writing.
    expect(page.locator(".fresh button")).to_be_hidden()
    page.get_by_role("textbox", name="Reply to Ann").blur()
    button = page.get_by_role("button", name="1 new comment")
    expect(button).to_be_visible()
    expect(page.locator(f"#c-{first}")).to_contain_text("Changed")
    expect(page.locator(f"#c-{second} > article")).to_contain_text("The second.")
    expect(page.get_by_role("article")).to_have_count(2)
    button.click()
    expect(page.get_by_role("article")).to_have_count(3)
    expect(page.get_by_role("textbox", name="Reply to Ann")).to_be_visible()


def test_new_comments_are_shown_where_they_stand_and_marked(
    node: Client, site: Site, token: Callable[..., str], clock: Clock, open_page: OpenPage
) -> None:
    first = posted(node, "Comment 0")
    for number in range(1, 120):
        clock.advance(seconds=1)
        posted(node, f"Comment {number}")
    site.token = lambda: token("ben", name="Ben")
    page = open_page(site, before=lambda page: page.clock.install(time=clock()))
    area = page.get_by_role("textbox", name="Write a comment")
    pill = page.get_by_role("button", name="2 new comments")
    expect(page.get_by_role("article")).to_have_count(50)
    clock.advance(seconds=1)
    reply = posted(node, "A late reply.", parent=first)
    last = posted(node, "The last.")

    area.focus()
    page.clock.run_for(POLL_MS)
    expect(page.locator(".fresh button")).to_have_count(1)
    expect(pill).to_be_hidden()
    area.blur()
    pill.click()

    expect(page.get_by_role("article")).to_have_count(122)
    marked = page.locator("li.new")
    assert [each.get_attribute("id") for each in marked.all()] == [f"c-{reply}", f"c-{last}"]
    expect(marked.first).to_be_focused()
    expect(marked.first).to_be_in_viewport()
    expect(page.get_by_role("heading", name="122 comments")).to_be_visible()
    expect(page.locator(".fresh button")).to_have_count(0)


@pytest.mark.usefixtures("moderator")
def test_a_held_comment_keeps_its_place_above_replies(
    node: Client, site: Site, token: Callable[..., str], open_page: OpenPage
) -> None:
    held = posted(node, "To be judged.")
    posted(node, "A reply.", parent=held)
    states = f"/nodes/{NODE}/comments/{held}/state"
    decided = node.as_("mo", roles=["moderator"]).post(states, state="hidden")
    assert decided.status == 200
    site.token = lambda: token("ben", name="Ben")

    page = open_page(site)

    placeholder = page.get_by_role("article", name="This comment is not shown.")
    expect(placeholder).to_be_visible()
    expect(page.locator(".thread .thread article .text")).to_have_text("A reply.")


def test_a_reply_at_the_greatest_depth_says_whom_it_answers(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    admin = node.as_("admin", roles=["admin"])
    admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/", max_depth=1)
    root = posted(node, "The first.")
    reply = posted(node, "A reply.", parent=root)
    answer = posted(node, "An answer to the reply.", parent=reply)

    page = open_page(site)

    link = page.locator(f"#c-{answer}").get_by_role("link", name="in reply to")
    expect(link).to_have_text("in reply to \u2068Ann\u2069")
    expect(page.locator(f"#c-{reply}").get_by_role("link", name="in reply to")).to_have_count(0)
    link.click()
    expect(page.locator(f"#c-{reply}")).to_have_class("target")


def test_the_edit_button_ends_with_the_time_for_it(
    node: Client, site: Site, token: Callable[..., str], clock: Clock, open_page: OpenPage
) -> None:
    posted(node, "Mine.")
    site.token = lambda: token("ann", name="Ann")
    page = open_page(site, before=lambda page: page.clock.install(time=clock()))
    expect(page.get_by_role("button", name="Edit")).to_be_visible()

    page.clock.run_for(15 * 60_000)

    expect(page.get_by_role("button", name="Edit")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete")).to_be_visible()


def test_a_page_says_in_which_order_it_begins(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    for text in ("The first.", "The second."):
        posted(node, text)
    site.body = f'<plaza-comments node="{NODE}" order="newest"></plaza-comments>'

    page = open_page(site)

    expect(page.get_by_role("article").first).to_contain_text("The second.")
    expect(page.get_by_role("combobox", name="Order")).to_have_value("newest")
    page.get_by_role("combobox", name="Order").select_option("oldest")
    expect(page.get_by_role("article").first).to_contain_text("The first.")


def test_a_chosen_order_stays_in_its_tab_until_the_page_names_another(
    node: Client, site: Site, open_page: OpenPage
) -> None:
    for text in ("The first.", "The second."):
        posted(node, text)
    site.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
    page = open_page(site)
    order = page.get_by_role("combobox", name="Order")
    first = page.get_by_role("article").first
    order.select_option("newest")
    expect(first).to_contain_text("The second.")

    page.reload()

    expect(first).to_contain_text("The second.")
    expect(order).to_have_value("newest")
    element = page.locator("plaza-comments")
    element.evaluate("(element) => element.setAttribute('order', 'oldest')")
    expect(first).to_contain_text("The first.")
    page.reload()
    expect(first).to_contain_text("The first.")
    expect(order).to_have_value("oldest")
    # Another tab begins as the site has it.
    expect(open_page(site).get_by_role("article").first).to_contain_text("The first.")


def test_another_reader_of_the_same_browser_gets_no_draft_of_the_first(
    site: Site, token: Callable[..., str], open_page: OpenPage
) -> None:
    site.token = lambda: token("ann", name="Ann")
    page = open_page(site)
    page.get_by_role("textbox", name="Write a comment").fill("Ann's secret")
    site.token = lambda: token("ben", name="Ben")
    with page.expect_response("**/comments?limit=50*"):
        page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")

    expect(page.get_by_role("textbox", name="Write a comment")).to_have_value("")


def test_an_answer_for_the_last_reader_is_not_shown_to_the_next(
    node: Client, site: Site, token: Callable[..., str], open_page: OpenPage
) -> None:
    """A moderator's list, with what is hidden, that comes after the moderator has signed out."""
    comment = posted(node, "Hidden.")
    admin = node.as_("admin", roles=["admin"])
    admin.post(f"/nodes/{NODE}/comments/{comment}/state", state="hidden")
    page: Page = open_page(site, before=count_answers)
    expect(page.get_by_role("heading", name="Nobody has said anything yet.")).to_be_visible()
    held: list[Route] = []
    page.route(
        "**/comments?limit=50*", lambda route: route.continue_() if held else held.append(route)
    )
    site.token = lambda: token("mo", name="Mo", roles=["moderator"])
    with page.expect_request("**/comments?limit=50*"):
        page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    site.token = lambda: None
    with page.expect_response("**/comments?limit=50*"):
        page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")

    with answer_read(page):
        held[0].continue_()

    expect(page.get_by_role("button", name="Sign in to comment")).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(0)


def test_times_go_on_while_the_page_is_open(
    node: Client, site: Site, clock: Clock, open_page: OpenPage
) -> None:
    posted(node, "Nice moon.")
    # The reader's clock is slow.
    begin = clock() - timedelta(minutes=18)
    page = open_page(site, before=lambda page: page.clock.install(time=begin))
    time = page.locator("article time")
    expect(time).to_have_text("now")

    for passed in ("00:01:00", "00:20:00", "00:01:00"):
        page.clock.fast_forward(passed)
    expect(time).to_have_text("4 min. ago")
    page.clock.fast_forward("30:00:00")
    expect(time).to_have_text("yesterday")
