"""The card of who wrote a comment, and blocking them: at once, after a reload, in another tab."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.browser import answer_read, count_answers, until
from tests.web.support.two import NODE, POLL_MS, Discussion, discussing, with_clock

expect.set_options(timeout=PATIENCE_MS)
PHONE = {"viewport": {"width": 320, "height": 640}, "has_touch": True}
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
HOSTILE = "{n}<img src=x onerror=alert(1)>" + "W" * 60
BLOCKED = "/sites/harbour/blocked"


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion of Ann's, with a reply of Cleo's."""
    with discussing(client, clock, address) as made:
        made.decide(votes="off", reactions=[])
        made.posted("A reply.", by="cleo", parent=made.posted("The moon is up."))
        yield made


def card(page: Page, name: str = "Ann") -> Locator:
    return page.get_by_role("group", name=name, exact=True)


def opened(page: Page, name: str = "Ann") -> Locator:
    """Press the first name; return the card."""
    page.get_by_role("button", name=name, exact=True).first.click()
    expect(card(page, name)).to_be_focused()
    return card(page, name)


def block(page: Page) -> None:
    opened(page).get_by_role("button", name="Block", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("You blocked Ann.")


def blocked(talk: Discussion, by: str = "ben") -> list[str]:
    people: list[dict[str, str]] = talk.client.as_(by).get(BLOCKED).json["people"]
    return [each["id"] for each in people]


def shown(page: Page) -> Locator:
    return page.get_by_text("The moon is up.")


def folded(page: Page) -> Locator:
    return page.get_by_role("article", name="You blocked Ann.")


def test_a_card_tells_what_else_somebody_wrote(talk: Discussion, open_page: OpenPage) -> None:
    talk.posted("It is <b>full</b>.")
    page = open_page(talk.site_of("ben"))

    of_ann = opened(page)

    expect(of_ann.get_by_role("listitem")).to_have_count(1)
    expect(of_ann.get_by_role("listitem")).to_contain_text("It is <b>full</b>.")
    expect(of_ann.get_by_role("link", name="Moon")).to_have_attribute(
        "href", r"https://a.example/#plaza-" + newest(talk)
    )
    expect(of_ann).not_to_contain_text("Visible")


def newest(talk: Discussion) -> str:
    found = talk.client.get(f"/nodes/{NODE}/comments?order=newest").json["comments"]
    return str(found[0]["id"])


def test_a_moderator_is_told_since_when_and_the_counts_and_blocks_nobody(
    talk: Discussion, open_page: OpenPage
) -> None:
    assert talk.admin.patch("/sites/harbour/people/ann", badges=["Captain"]).status == 200
    page = open_page(talk.site_of("mo", roles=["moderator"]))

    of_ann = opened(page)

    expect(of_ann).to_contain_text("First comment: ")
    expect(of_ann).to_contain_text("Captain")
    expect(of_ann).to_contain_text("Visible: 1. Waiting: 0. Rejected: 0. Spam: 0.")
    expect(of_ann.get_by_role("button", name="Block")).to_have_count(0)


@pytest.mark.parametrize("reader", ["ann", ""], ids=["author", "guest"])
def test_who_cannot_block_is_not_offered_to(
    talk: Discussion, open_page: OpenPage, reader: str
) -> None:
    page = open_page(talk.site_of(reader))

    of_ann = opened(page)

    expect(of_ann.get_by_role("button", name="Close")).to_be_visible()
    expect(of_ann.get_by_role("button", name="Block", exact=True)).to_have_count(0)


def test_what_a_blocked_person_wrote_is_folded_at_once_and_shown_if_wanted(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.posted("The sun is down.")
    page = open_page(talk.site_of("ben"))
    expect(page.get_by_role("article")).to_have_count(3)

    block(page)

    expect(folded(page)).to_have_count(2)
    expect(shown(page)).to_have_count(0)
    expect(page.get_by_text("A reply.")).to_be_visible()
    assert blocked(talk) == ["ann"]
    folded(page).first.get_by_role("button", name="Show").click()
    expect(shown(page)).to_be_visible()
    expect(folded(page)).to_have_count(1)
    expect(page.get_by_role("button", name="Ann", exact=True)).to_be_focused()


def test_a_block_is_taken_back_where_it_is_told(talk: Discussion, open_page: OpenPage) -> None:
    page = open_page(talk.site_of("ben"))
    block(page)

    folded(page).get_by_role("button", name="Unblock").click()

    expect(page.get_by_role("status")).to_have_text("Ann is no longer blocked.")
    expect(shown(page)).to_be_visible()
    expect(page.get_by_role("listitem").filter(has=shown(page)).first).to_be_focused()
    assert blocked(talk) == []


def test_after_a_reload_a_blocked_person_is_found_on_the_readers_own_card(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.posted("I read.", by="ben")
    page = open_page(talk.site_of("ben"))
    block(page)
    page.reload()
    # Cleo's reply keeps its place below a placeholder.
    expect(page.get_by_role("article")).to_have_count(3)
    expect(page.get_by_role("article", name="This comment is not shown.")).to_be_visible()
    expect(shown(page)).to_have_count(0)

    opened(page, "Ben").get_by_text("People you have blocked").click()
    card(page, "Ben").get_by_role("button", name="Unblock: Ann").click()

    expect(page.get_by_role("status")).to_have_text("Ann is no longer blocked.")
    expect(shown(page)).to_be_visible()
    assert blocked(talk) == []


def test_another_tab_folds_and_shows_again_with_its_next_look(
    talk: Discussion, open_page: OpenPage
) -> None:
    site = talk.site_of("ben")
    first, second = open_page(site), open_page(site, before=with_clock)
    expect(shown(second)).to_be_visible()

    block(first)
    second.clock.run_for(POLL_MS)
    expect(folded(second)).to_have_count(1)
    expect(second.get_by_text("A reply.")).to_be_visible()

    folded(first).get_by_role("button", name="Unblock").click()
    expect(shown(first)).to_be_visible()
    second.clock.run_for(2 * POLL_MS)
    expect(shown(second)).to_be_visible()
    expect(folded(second)).to_have_count(0)


def test_a_block_is_not_that_of_who_reads_next(talk: Discussion, open_page: OpenPage) -> None:
    site = talk.site_of("ben")
    page = open_page(site)
    block(page)
    expect(folded(page)).to_have_count(1)
    site.token = lambda: talk.client.token("dora", name="Dora")

    page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")

    expect(shown(page)).to_be_visible()
    opened(page).get_by_role("button", name="Block", exact=True).wait_for()
    assert blocked(talk, "dora") == []


def test_a_look_that_began_before_another_reader_came_draws_nothing_anew(
    talk: Discussion, open_page: OpenPage
) -> None:
    """The look asks as the new reader, whose list has come meanwhile: a press on it was lost."""
    held: dict[str, list[Route]] = {"changes": [], "list": [], "card": []}

    def hold(page: Page, kind: str, pattern: str) -> None:
        page.route(pattern, lambda each: held[kind].append(each))  # noqa: PLW0108 - it takes no method

    def before(page: Page) -> None:
        count_answers(page)
        hold(page, "changes", "**/changes*.js*")

    site = talk.site_of("ben")
    page = open_page(site, before=before)
    block(page)
    until(page, lambda: bool(held["changes"]))
    site.token = lambda: talk.client.token("dora", name="Dora")
    hold(page, "list", "**/comments?*limit=50*")
    page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    until(page, lambda: len(held["list"]) == 1)
    held["changes"].pop().continue_()
    until(page, lambda: len(held["list"]) == 2)
    held["list"][0].continue_()
    expect(shown(page)).to_be_visible()
    hold(page, "card", "**/people/ann/comments?*")
    page.get_by_role("button", name="Ann", exact=True).first.click()
    until(page, lambda: bool(held["card"]))

    # The list has come meanwhile, so that the look asks once more.
    held["list"][1].continue_()
    until(page, lambda: len(held["list"]) == 3)
    with answer_read(page):
        held["list"][2].continue_()
    held["card"].pop().continue_()

    expect(card(page)).to_be_focused()
    assert len(held["list"]) == 3


def test_an_answer_that_is_being_written_stays_when_its_author_is_blocked(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of("ben"))
    page.get_by_role("button", name="Reply", exact=True).first.click()
    answer = page.get_by_role("textbox", name="Reply to Ann")
    answer.fill("I do not think so.")

    block(page)

    expect(folded(page)).to_have_count(1)
    expect(answer).to_have_value("I do not think so.")


def test_what_is_pinned_of_a_blocked_person_goes(talk: Discussion, open_page: OpenPage) -> None:
    path = f"/nodes/{NODE}/comments/{talk.posted('Be kind.')}/pin"
    assert talk.admin.put(path).status < 300
    page = open_page(talk.site_of("ben"))
    pins = page.get_by_role("complementary", name="Pinned")
    expect(pins).to_contain_text("Be kind.")

    block(page)

    expect(pins).to_have_count(0)
    expect(folded(page)).to_have_count(2)


def test_keys_alone_open_a_card_block_and_leave(talk: Discussion, open_page: OpenPage) -> None:
    page = open_page(talk.site_of("ben"))
    name = page.get_by_role("button", name="Ann", exact=True)
    name.focus()
    page.keyboard.press("Enter")
    expect(card(page)).to_be_focused()
    expect(name).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(card(page)).to_have_count(0)
    expect(name).to_be_focused()

    page.keyboard.press("Enter")
    expect(card(page)).to_be_focused()
    page.keyboard.press("Tab")
    expect(card(page).get_by_role("button", name="Block", exact=True)).to_be_focused()
    page.keyboard.press("Enter")

    expect(folded(page)).to_have_count(1)
    expect(page.get_by_role("listitem").filter(has=folded(page))).to_be_focused()


def test_the_card_of_the_last_press_is_shown_whichever_answer_comes_first(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.posted("The sun is up.", by="cleo")
    page = open_page(talk.site_of("ben"))
    opened(page).get_by_role("button", name="Close").click()
    held: dict[str, Route] = {}
    page.route(
        re.compile(r"/people/(ann|cleo)/comments"),
        lambda route: held.update({"ann" if "/ann/" in route.request.url else "cleo": route}),
    )
    page.get_by_role("button", name="Cleo", exact=True).first.click()
    until(page, lambda: "cleo" in held)
    page.get_by_role("button", name="Ann", exact=True).click()
    until(page, lambda: "ann" in held)
    for name in ("cleo", "ann"):
        with page.expect_response(f"**/people/{name}/comments*"):
            held[name].continue_()
        page.evaluate("new Promise((done) => setTimeout(done))")

    expect(card(page)).to_have_attribute("aria-label", "Ann")
    expect(card(page)).to_have_count(1)


def test_the_list_of_blocked_people_is_read_again_after_a_failure(
    talk: Discussion, open_page: OpenPage
) -> None:
    assert talk.client.as_("ben").put(f"{BLOCKED}/ann").status < 300
    talk.posted("Mine.", by="ben")
    page = open_page(talk.site_of("ben"), may_log="Failed to load")
    page.get_by_role("button", name="Ben", exact=True).click()
    own = page.get_by_role("group", name="Ben", exact=True)
    page.route("**/people/ann/comments*", lambda route: route.abort())
    summary = own.get_by_text("People you have blocked")
    summary.click()
    expect(page.get_by_role("status")).to_contain_text("reach")
    page.unroute_all()
    summary.click()

    summary.click()

    expect(own.get_by_role("button", name="Unblock")).to_be_visible()


def test_a_card_that_cannot_be_loaded_says_so_and_comes_at_the_next_press(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = open_page(talk.site_of("ben"), may_log="Failed to load")
    page.route("**/person.js", lambda route: route.abort())

    page.get_by_role("button", name="Ann", exact=True).click()

    expect(page.get_by_role("status")).to_contain_text("reach")
    expect(card(page)).to_have_count(0)
    page.unroute_all()
    opened(page)


def test_a_block_that_is_refused_folds_nothing(talk: Discussion, open_page: OpenPage) -> None:
    page = open_page(talk.site_of("ben"), may_log="Failed to load")
    button = opened(page).get_by_role("button", name="Block", exact=True)
    page.route(f"**{BLOCKED}/ann", lambda route: route.abort())

    button.click()

    expect(page.get_by_role("status")).to_contain_text("reach")
    expect(shown(page)).to_be_visible()
    expect(button).to_be_visible()


@pytest.mark.processes
@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
def test_a_card_and_a_fold_break_no_rule_of_axe_and_fit(
    talk: Discussion, open_page: OpenPage, axe: str, options: dict[str, Any], language: str
) -> None:
    hostile = talk.client.as_("eve", name=HOSTILE)
    for text in ("One.", "W" * 200):
        assert hostile.post(f"/nodes/{NODE}/comments", text=text).status == 201
    assert talk.client.as_("ben").put(f"{BLOCKED}/cleo").status == 204
    talk.clock.advance(seconds=6)
    site = talk.site_of("ben")
    site.language = language
    page = open_page(site, **options)
    page.get_by_role("button", name=HOSTILE, exact=True).first.click()
    expect(card(page, HOSTILE)).to_be_focused()

    assert in_both_schemes(page, axe) == []
    assert page.evaluate(WIDER) == 0
    card(page, HOSTILE).get_by_role("button").first.click()
    expect(page.locator(".folded")).to_have_count(2)
    expect(page.locator(".folded").first).to_contain_text(HOSTILE)
    assert in_both_schemes(page, axe) == []
    assert page.evaluate(WIDER) == 0
