"""The console's log of moderation: read in words, and taken back by a button."""

import re
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import OpenPage
from tests.web.console.conftest import NODE, PHONE, WIDER, Desk, handed_over
from tests.web.support.axe import in_both_schemes


def decide(desk: Desk, comment: str, state: str, **said: str) -> None:
    path = f"/nodes/{NODE}/comments/{comment}/state"
    assert desk.moderator.post(path, state=state, **said).status == 200


def rows(page: Page) -> Any:
    return page.get_by_role("list", name="What moderators did").get_by_role("listitem")


def test_what_moderators_did_is_told_in_words(desk: Desk) -> None:
    comment = desk.post()
    decide(desk, comment, "hidden", reason="Off topic")
    until = "2027-01-01T00:00:00Z"
    person = desk.moderator.patch(
        "/sites/harbour/people/ann", status="suspended", until=until, note="Heated"
    )
    assert person.status == 200

    later = desk.clock.time + timedelta(minutes=5)

    page = desk.open_log(before=lambda page: page.clock.set_fixed_time(later))

    expect(rows(page)).to_have_count(2)
    suspended, hid = rows(page).all_inner_texts()
    assert "5 minutes ago" in hid
    assert re.search(r"(?s)ok → suspended.*until: none → .*2027.*note: none → Heated", suspended)
    assert re.search(r"Mo suspended Ann until .*2027.*; noted of Ann: Heated", suspended)
    assert "Mo hid a comment of Ann" in hid
    assert "Off topic" in hid
    assert "pending → hidden" in hid


def test_what_was_so_already_is_said_and_cannot_be_taken_back(desk: Desk) -> None:
    desk.post()
    for _ in range(2):
        noted = desk.moderator.patch("/sites/harbour/people/ann", note="Heated")
        assert noted.status == 200

    page = desk.open_log()

    expect(rows(page)).to_have_count(2)
    expect(rows(page).first).to_contain_text("it was so already")
    expect(rows(page).first.get_by_role("button")).to_have_count(0)
    expect(rows(page).nth(1)).to_contain_text("note: none → Heated")


def test_a_decision_is_taken_back_and_the_other_way_round(desk: Desk) -> None:
    comment = desk.post()
    decide(desk, comment, "hidden")
    page = desk.open_log()

    rows(page).get_by_role("button", name="Take back").press("Enter")

    expect(page.get_by_role("status")).to_have_text("Taken back.")
    expect(rows(page).first).to_be_focused()
    expect(rows(page).first).to_contain_text("Mo took back what was done, and held back a comment")
    expect(rows(page).nth(1)).to_contain_text("Taken back.")
    expect(rows(page).nth(1).get_by_role("button")).to_have_count(0)
    assert desk.state(comment) == "pending"
    rows(page).first.get_by_role("button", name="Take back").click()
    expect(rows(page)).to_have_count(3)
    assert desk.state(comment) == "hidden"
    expect(rows(page).nth(2).get_by_role("button", name="Take back")).to_have_count(1)


def test_what_was_changed_since_is_said_and_stays(desk: Desk) -> None:
    comment = desk.post()
    decide(desk, comment, "hidden")
    page = desk.open_log(may_log="409")
    expect(rows(page)).to_have_count(1)
    decide(desk, comment, "visible")

    rows(page).get_by_role("button", name="Take back").click()

    expect(page.get_by_role("status")).to_contain_text("changed since: nothing was taken back")
    expect(rows(page)).to_have_count(1)
    assert desk.state(comment) == "visible"


def test_the_log_of_one_comment_and_of_one_person_is_a_link_away(desk: Desk) -> None:
    first, other = desk.post(), desk.post(by="ben")
    for comment in (first, other):
        decide(desk, comment, "hidden")
    decide(desk, first, "visible")
    page = desk.open_log()
    expect(rows(page)).to_have_count(3)

    rows(page).first.get_by_role("link", name="All about this comment").click()
    expect(rows(page)).to_have_count(2)
    page.get_by_role("link", name="Show all of it").click()
    expect(rows(page)).to_have_count(3)
    page.get_by_role("link", name="All about Ben").click()
    expect(rows(page)).to_have_count(1)
    page.go_back()
    expect(rows(page)).to_have_count(3)


def test_a_long_log_is_read_page_by_page(desk: Desk) -> None:
    comment = desk.post()
    for number in range(51):
        decide(desk, comment, ("hidden", "visible")[number % 2], reason=f"The {number}.")
    page = desk.open_log()
    expect(rows(page)).to_have_count(50)
    asked: list[str] = []
    page.on("request", lambda each: asked.append(each.url))

    # Pressed twice before anything is answered, it asks for the next page once.
    page.get_by_role("button", name="Show more").evaluate("it => { it.click(); it.click(); }")

    expect(rows(page)).to_have_count(51)
    expect(rows(page).last).to_be_focused()
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    assert len(set(rows(page).all_inner_texts())) == 51
    assert len([url for url in asked if "cursor=" in url]) == 1


def test_a_batch_is_told_and_taken_back_whole(desk: Desk, workers: Workers) -> None:
    comments = [desk.post(f"Buy {number} moons") for number in range(3)]
    wanted = {"site": "harbour", "state": "hidden", "person": "ann", "reason": "Forty times"}
    assert desk.moderator.post("/moderation/batches", **wanted).status == 202
    workers.drain()
    page = desk.open_log()

    rows(page).first.get_by_role("link", name="The whole batch").click()
    expect(page.get_by_text("3 of 3 comments changed")).to_be_visible()
    page.get_by_role("button", name="Take the batch back").click()
    expect(page.get_by_text("This batch is running")).to_be_visible()
    workers.drain()
    page.reload()

    expect(page.get_by_text("This batch is over: 3 of 3 comments changed")).to_be_visible()
    assert [desk.state(each) for each in comments] == ["pending"] * 3


def test_names_and_reasons_are_text(desk: Desk) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    author = desk.client.as_("eve", name=hostile)
    posted = author.post(f"/nodes/{NODE}/comments", text="The moon is up.")
    assert posted.status == 201, posted.body
    decide(desk, posted.json["id"], "hidden", reason=hostile)
    noted = desk.moderator.patch("/sites/harbour/people/eve", note=hostile, badges=["<b>B</b>"])
    assert noted.status == 200

    page = desk.open_log()

    expect(rows(page)).to_have_count(2)
    expect(rows(page).first).to_contain_text(f"note: none → {hostile}")
    expect(rows(page).first).to_contain_text("badges: none → <b>B</b>")
    expect(rows(page).nth(1)).to_contain_text(f"Mo hid a comment of {hostile}")
    expect(rows(page).nth(1).get_by_role("blockquote")).to_have_text(hostile)
    assert page.locator("main img").count() == 0


def test_who_may_read_all_logs_is_asked_for_a_site_and_a_person(desk: Desk) -> None:
    for author in ("ann", "ben"):
        decide(desk, desk.post(by=author), "hidden")
    desk.post("It waits, and so its site is known.")
    page = desk.open()

    page.get_by_role("link", name="Log", exact=True).click()
    expect(page.get_by_label("Site")).to_have_value("harbour")
    expect(rows(page)).to_have_count(2)
    page.get_by_label("Person").fill("ben")
    page.get_by_label("Person").press("Enter")

    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("Mo hid a comment of Ben")
    expect(page.get_by_label("Person")).to_have_value("ben")
    assert "person=ben" in page.url


def test_the_same_asked_again_is_read_anew(desk: Desk) -> None:
    comment = desk.post()
    page = desk.open_log()
    expect(page.get_by_text("Nothing was done here.")).to_be_visible()
    decide(desk, comment, "hidden")

    page.get_by_role("button", name="Show", exact=True).click()

    expect(rows(page)).to_have_count(1)


def test_who_has_no_role_finds_no_log(desk: Desk, client: Client, open_page: OpenPage) -> None:
    decide(desk, desk.post(), "hidden")
    page = handed_over(open_page, client.token("ann", name="Ann"), "?site=harbour")
    expect(page.get_by_role("heading", name="Nothing to do here")).to_be_visible()

    page.goto(f"{page.url.partition('#')[0]}#log")
    page.reload()

    expect(page.get_by_role("heading", name="Nothing to do here")).to_be_visible()
    expect(page.get_by_role("link", name="Log", exact=True)).to_have_count(0)


def test_the_caller_chooses_among_their_sites(
    desk: Desk, client: Client, open_page: OpenPage
) -> None:
    comment = desk.post()
    decide(desk, comment, "hidden")
    token = client.token("mia", name="Mia", roles=["moderator"], sites=["abroad", "harbour"])
    page = handed_over(open_page, token)

    page.get_by_role("link", name="Log", exact=True).click()
    expect(page.get_by_text("Nothing was done here.")).to_be_visible()
    page.get_by_label("Site").select_option("harbour")
    page.get_by_role("button", name="Show", exact=True).click()

    expect(rows(page)).to_have_count(1)
    expect(page.get_by_label("Site")).to_have_value("harbour")


def test_a_site_that_the_caller_does_not_moderate_is_refused(
    desk: Desk, client: Client, open_page: OpenPage
) -> None:
    desk.post()
    token = client.token("mia", name="Mia", roles=["moderator"], sites=["abroad"])
    page = handed_over(open_page, token, "?site=harbour", may_log="403")

    page.get_by_role("link", name="Log", exact=True).click()

    expect(page.get_by_role("status")).not_to_be_empty()
    expect(rows(page)).to_have_count(0)


@pytest.mark.processes
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
def test_the_log_breaks_no_rule_of_axe_and_fits(
    desk: Desk, axe: str, options: dict[str, Any]
) -> None:
    comment = desk.post()
    decide(desk, comment, "hidden", reason="moon" * 100)
    noted = desk.moderator.patch("/sites/harbour/people/ann", note="moon" * 100)
    assert noted.status == 200
    page = desk.open_log(**options)
    expect(rows(page)).to_have_count(2)

    assert in_both_schemes(page, axe) == []
    assert page.evaluate(WIDER) == 0
