"""Votes, reactions and orders in a discussion, with two people's browsers at once."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.browser import until
from tests.web.support.two import POLL_MS, REACTIONS, Discussion, discussing, with_clock

expect.set_options(timeout=PATIENCE_MS)
MARKING = re.compile("/(vote|reactions/[a-z]+)$")
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FAILED = "Failed to load resource"
HEART, FIRE, LAUGH = (each["emoji"] for each in REACTIONS)


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion in which people vote for and against, and react."""
    with discussing(client, clock, address) as made:
        yield made


def up(page: Page) -> Locator:
    return page.get_by_role("button", name="Vote for this comment")


def down(page: Page) -> Locator:
    return page.get_by_role("button", name="Vote against this comment")


def click(button: Locator) -> None:
    """Press a button, and wait until the API has answered: what is shown is there before."""
    with button.page.expect_response(MARKING):
        button.click()


def pressed(button: Locator) -> str | None:
    return button.get_attribute("aria-pressed")


def hold(held: list[Route], route: Route) -> None:
    """Let the first call of a page wait, and the others go on."""
    if held:
        route.continue_()
    else:
        held.append(route)


def test_a_vote_is_given_changed_and_taken_back_and_the_other_reader_sees_it(
    talk: Discussion, open_page: OpenPage
) -> None:
    comment = talk.posted()
    ben = open_page(talk.site_of("ben"), before=with_clock)
    cleo = open_page(talk.site_of("cleo"), before=with_clock)
    expect(up(cleo)).to_have_attribute("aria-pressed", "false")

    click(up(ben))
    expect(up(ben)).to_have_text("▲Vote for this comment 1")
    expect(up(ben)).to_have_attribute("aria-pressed", "true")
    cleo.clock.run_for(POLL_MS)
    expect(up(cleo)).to_have_text("▲Vote for this comment 1")
    assert pressed(up(cleo)) == "false"
    click(up(cleo))
    click(down(ben))
    expect(down(ben)).to_have_attribute("aria-pressed", "true")
    ben.clock.run_for(POLL_MS)
    expect(up(ben)).to_have_text("▲Vote for this comment 1")
    expect(down(ben)).to_have_text("▼Vote against this comment 1")
    assert talk.marks(comment)["votes"] == {"up": 1, "down": 1}
    click(down(ben))

    expect(down(ben)).to_have_attribute("aria-pressed", "false")
    expect(down(ben)).to_have_text("▼Vote against this comment")
    assert talk.marks(comment, "ben")["mine"]["vote"] == 0
    assert talk.marks(comment, "cleo")["mine"]["vote"] == 1


def test_comments_and_the_page_are_reacted_to_and_the_other_reader_sees_it(
    talk: Discussion, open_page: OpenPage
) -> None:
    comment = talk.posted()
    ben = open_page(talk.site_of("ben"))
    cleo = open_page(talk.site_of("cleo"), before=with_clock)
    article, page_group = ben.get_by_role("article"), "What do you say to this page?"
    expect(up(cleo)).to_be_visible()
    expect(article.get_by_role("button", name=FIRE)).to_have_count(0)

    article.get_by_role("button", name="Add a reaction").click()
    click(article.get_by_role("group", name="Add a reaction").get_by_role("button", name=FIRE))
    expect(article.get_by_role("button", name=f"{FIRE} 1")).to_be_visible()
    click(ben.get_by_role("group", name=page_group).get_by_role("button", name=HEART))
    expect(ben.get_by_role("button", name=f"{HEART} 1")).to_be_visible()
    cleo.clock.run_for(POLL_MS)
    fire = cleo.get_by_role("article").get_by_role("button", name=f"{FIRE} 1")
    expect(fire).to_have_attribute("aria-pressed", "false")
    expect(cleo.get_by_role("group", name=page_group)).to_contain_text("1")
    click(fire)
    expect(cleo.get_by_role("article").get_by_role("button", name=f"{FIRE} 2")).to_be_visible()
    assert talk.marks(comment, "cleo")["reactions"] == {"fire": 2}
    assert talk.page_reactions() == {"heart": 1}
    click(article.get_by_role("button", name=FIRE).first)

    assert talk.marks(comment, "ben")["mine"]["reactions"] == []


def test_a_vote_that_is_refused_goes_back_to_what_was_and_says_why(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.vote(talk.posted(), by="cleo")
    held: list[Route] = []
    page = open_page(talk.site_of("ben"), may_log=FAILED)
    page.route("**/vote", lambda route: hold(held, route))
    up(page).click()
    expect(up(page)).to_have_text("▲Vote for this comment 2")
    until(page, lambda: bool(held))
    talk.decide(votes="off")

    held[0].continue_()

    expect(page.get_by_role("status")).to_have_text("This is switched off here.")
    expect(up(page)).to_have_text("▲Vote for this comment 1")
    assert pressed(up(page)) == "false"


def test_a_click_without_a_connection_is_sent_when_there_is_one(
    talk: Discussion, open_page: OpenPage
) -> None:
    comment = talk.posted()
    page = open_page(talk.site_of("ben"), may_log=FAILED)
    expect(up(page)).to_be_visible()
    page.context.set_offline(True)
    up(page).click()
    expect(page.get_by_role("status")).to_contain_text("There is no connection.")
    assert pressed(up(page)) == "true"
    assert talk.marks(comment)["votes"] == {"up": 0, "down": 0}

    with page.expect_response(lambda each: "/vote" in each.url and each.status == 200):
        page.context.set_offline(False)

    expect(page.locator("plaza-comments .status")).to_be_empty()
    assert pressed(up(page)) == "true"
    assert talk.marks(comment)["votes"] == {"up": 1, "down": 0}


def test_of_many_clicks_while_one_is_on_its_way_the_last_one_holds(
    talk: Discussion, open_page: OpenPage
) -> None:
    comment = talk.posted()
    held: list[Route] = []
    page = open_page(talk.site_of("ben"))
    page.route("**/vote", lambda route: hold(held, route))
    for button in (up(page), down(page), up(page), down(page)):
        button.click()
    expect(down(page)).to_have_text("▼Vote against this comment 1")
    expect(up(page)).to_have_text("▲Vote for this comment")
    until(page, lambda: bool(held))

    with page.expect_response(lambda each: each.request.post_data == '{"value":-1}'):
        held[0].continue_()

    expect(down(page)).to_have_text("▼Vote against this comment 1")
    assert talk.marks(comment)["votes"] == {"up": 0, "down": 1}


def test_a_guest_who_votes_is_asked_to_sign_in(talk: Discussion, open_page: OpenPage) -> None:
    talk.vote(talk.posted(), by="cleo")
    page = open_page(talk.site_of(""))
    page.evaluate("addEventListener('plaza:sign-in', () => { window.asked = true; })")

    up(page).click()

    question = page.get_by_role("button", name="Sign in to vote and react")
    expect(question).to_be_focused()
    expect(up(page)).to_have_text("▲Vote for this comment 1")
    question.click()
    assert page.evaluate("window.asked")


def test_a_guest_who_reacts_by_the_keyboard_comes_to_the_question(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.posted()
    page = open_page(talk.site_of(""))
    page.get_by_role("button", name="Add a reaction").press("Enter")
    choices = page.get_by_role("group", name="Add a reaction")
    expect(choices.get_by_role("button").first).to_be_focused()

    page.keyboard.press("Enter")

    expect(page.get_by_role("button", name="Sign in to vote and react")).to_be_focused()
    expect(choices).to_be_hidden()


def test_nobody_votes_on_a_comment_of_their_own_and_everybody_reacts(
    talk: Discussion, open_page: OpenPage
) -> None:
    comment = talk.posted(by="ann")
    talk.vote(comment, by="ben")
    page = open_page(talk.site_of("ann"))

    expect(up(page)).to_be_disabled()
    expect(up(page)).to_have_attribute("title", "You cannot vote on your own comment.")
    expect(up(page)).to_have_text("▲Vote for this comment 1")
    page.get_by_role("button", name="Add a reaction").click()
    click(page.get_by_role("group", name="Add a reaction").get_by_role("button", name=LAUGH))
    assert talk.marks(comment)["reactions"] == {"laugh": 1}


def test_a_site_may_have_votes_for_alone_and_tell_the_counts_after_ones_own(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.decide(votes="up", votes_shown="after_vote", reactions=[])
    talk.vote(talk.posted(), by="cleo")
    page = open_page(talk.site_of("ben"))

    expect(up(page)).to_have_text("▲Vote for this comment")
    expect(down(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Add a reaction")).to_have_count(0)
    up(page).click()
    expect(up(page)).to_have_text("▲Vote for this comment 2")


def test_where_nobody_votes_or_reacts_nothing_of_it_is_loaded(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.decide(votes="off", reactions=[])
    talk.posted()
    asked: list[str] = []
    page = open_page(
        talk.site_of("ben"),
        before=lambda page: page.on("request", lambda each: asked.append(each.url)),
    )

    expect(page.get_by_role("button", name="Reply")).to_be_visible()
    expect(page.locator(".marks")).to_have_count(0)
    assert [each for each in asked if "marks" in each] == []


def test_a_locked_discussion_shows_what_was_said_and_takes_nothing(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.vote(talk.posted(), by="cleo")
    talk.admin.put("/nodes/harbour:moon", title="Moon", url="https://a.example/", locked=True)
    page = open_page(talk.site_of("ben"))

    expect(up(page)).to_have_text("▲Vote for this comment 1")
    expect(up(page)).to_be_disabled()
    expect(page.get_by_role("button", name="Add a reaction")).to_have_count(0)


def test_orders_are_those_that_the_node_has_and_begin_with_the_sites(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.decide(order="best")
    for text in ("The first.", "The second.", "The third."):
        last = talk.posted(text)
    talk.vote(last, by="cleo")
    page = open_page(talk.site_of("ben"))
    order = page.get_by_role("combobox", name="Order")
    expect(order).to_have_value("best")
    expect(page.get_by_role("article").first).to_contain_text("The third.")
    names = ["Oldest first", "Newest first", "Best first"]
    names += ["Most votes first", "Controversial first"]
    expect(order.get_by_role("option")).to_have_text(names)

    order.select_option("oldest")

    expect(page.get_by_role("article").first).to_contain_text("The first.")
    talk.decide(votes="off", order="oldest")
    page.reload()
    expect(order.get_by_role("option")).to_have_text(names[:2])


def test_ones_own_comment_that_waits_is_shown_beside_a_rank(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.posted("Visible.", by="cleo")
    talk.decide(order="best", moderation="before")
    talk.posted("May I?", by="ben")
    page = open_page(talk.site_of("ben"))

    expect(page.get_by_role("article").first).to_contain_text("May I?")
    expect(page.locator(".badge")).to_have_text("waits for a moderator")
    expect(page.get_by_role("article")).to_have_count(2)


def test_the_link_to_a_comment_finds_it_in_an_order_by_votes(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.decide(order="best")
    ids = [talk.posted(f"Comment {number}") for number in range(55)]
    page = open_page(talk.site_of(""))
    expect(page.get_by_role("article")).to_have_count(50)

    page.evaluate(f"location.hash = '#plaza-{ids[-1]}'")

    expect(page.locator(f"#c-{ids[-1]}")).to_be_in_viewport()
    expect(page.get_by_role("combobox", name="Order")).to_have_value("oldest")


def test_what_still_waits_is_not_sent_as_the_next_reader(
    talk: Discussion, open_page: OpenPage
) -> None:
    comment = talk.posted()
    site = talk.site_of("ben")
    page = open_page(site)
    held: list[Route] = []
    sent: list[str] = []
    page.route(MARKING, lambda route: hold(held, route))
    up(page).click()
    until(page, lambda: bool(held))
    down(page).click()
    site.token = lambda: talk.client.token("cleo", name="Cleo")
    page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    expect(down(page)).to_have_attribute("aria-pressed", "false")
    page.on("request", lambda each: sent.append(each.url))

    with page.expect_response(MARKING):
        held[0].continue_()

    page.evaluate("new Promise((done) => setTimeout(done, 100))")
    assert [each for each in sent if MARKING.search(each)] == []
    assert talk.marks(comment)["votes"] == {"up": 1, "down": 0}
    assert talk.marks(comment, "ben")["mine"]["vote"] == 1


def test_the_keyboard_alone_votes_and_reacts(talk: Discussion, open_page: OpenPage) -> None:
    comment = talk.posted()
    page = open_page(talk.site_of("ben"))
    up(page).focus()

    page.keyboard.press("Space")
    expect(up(page)).to_have_attribute("aria-pressed", "true")
    expect(up(page)).to_be_focused()
    page.keyboard.press("Tab")
    expect(down(page)).to_be_focused()
    page.keyboard.press("Tab")
    opener = page.get_by_role("button", name="Add a reaction")
    expect(opener).to_be_focused()
    page.keyboard.press("Enter")
    expect(opener).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
    expect(opener).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    with page.expect_response("**/reactions/laugh"):
        page.keyboard.press("Enter")

    expect(opener).to_be_focused()
    said = talk.marks(comment, "ben")["mine"]
    assert said == {"vote": 1, "reactions": ["laugh"]}


def test_a_press_of_a_mouse_takes_no_focus_from_the_choice_of_emoji(
    talk: Discussion, open_page: OpenPage
) -> None:
    """In Safari no button takes it, and the choice would close before the click."""
    comment = talk.posted()
    page = open_page(talk.site_of("ben"))
    page.get_by_role("button", name="Add a reaction").click()
    emoji = page.get_by_role("group", name="Add a reaction").get_by_role("button").last
    kept = emoji.evaluate(
        "(each) => !each.dispatchEvent(new MouseEvent('mousedown', "
        "{bubbles: true, cancelable: true}))"
    )
    assert kept

    with page.expect_response("**/reactions/*"):
        emoji.click()

    assert len(talk.marks(comment, "ben")["mine"]["reactions"]) == 1


def test_what_is_not_loaded_leaves_a_discussion_that_can_be_read_and_goes_on(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.posted()

    def without_marks(page: Page) -> None:
        with_clock(page)
        page.route("**/marks.js", lambda route: route.abort())

    page = open_page(talk.site_of("ben"), may_log=FAILED, before=without_marks)

    expect(page.get_by_text("The moon is up.")).to_be_visible()
    expect(page.get_by_role("button", name="Reply")).to_be_visible()
    expect(page.locator(".marks")).to_have_count(0)
    talk.posted("So it is.")
    page.clock.run_for(POLL_MS)
    expect(page.get_by_role("button", name="1 new comment")).to_be_visible()


@pytest.mark.processes
@pytest.mark.parametrize("language", ["en", "ar"])
def test_votes_and_reactions_fit_a_phone_and_break_no_rule(
    talk: Discussion, open_page: OpenPage, axe: str, language: str
) -> None:
    parent = None
    for _ in range(6):
        parent = talk.posted(**({"parent": parent} if parent else {}))
    site = talk.site_of("ben")
    site.language = language
    page = open_page(site, viewport={"width": 320, "height": 700})
    expect(page.locator("article .marks button:visible")).to_have_count(3 * 6)
    page.locator("article .marks button").first.click()
    for opener in (page.locator(".opener").first, page.locator(".opener").last):
        opener.click()
        expect(page.locator(".choices:visible")).to_have_count(1)
        assert page.evaluate(WIDER) == 0
        box = page.locator(".choices:visible").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320

    small = "each => each.filter(one => one.offsetHeight < 24 || one.offsetWidth < 24).length"
    assert page.locator(".marks button:visible").evaluate_all(small) == 0
    assert in_both_schemes(page, axe) == []
