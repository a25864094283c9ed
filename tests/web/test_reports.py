"""Reports of comments: a form that is loaded on demand, and told to moderators alone."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from chalicelib.runtime import Runtime
from tests.comments.support.flagging import know
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.two import NODE, POLL_MS, Discussion, discussing, with_clock

expect.set_options(timeout=PATIENCE_MS)
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    with discussing(client, clock, address) as made:
        made.decide(votes="off", reactions=[], flags_hold=1)
        yield made


def flags(talk: Discussion, comment: str) -> list[dict[str, Any]]:
    """Return what the moderators read."""
    found: list[dict[str, Any]] = talk.admin.get(f"/nodes/{NODE}/comments/{comment}/flags").json[
        "flags"
    ]
    return found


def reasons(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Why should moderators see it?")


def report(page: Page, name: str = "Report") -> Locator:
    """Open the form of a report; return its reasons."""
    page.get_by_role("button", name=name, exact=True).click()
    expect(reasons(page)).to_be_focused()
    return reasons(page)


def test_a_report_reaches_the_moderators_with_its_reason_and_note(
    talk: Discussion, open_page: OpenPage
) -> None:
    comment = talk.posted()
    page = open_page(talk.site_of("ben"))

    report(page).select_option("off_topic")
    page.get_by_role("textbox", name="A note for the moderators").fill("About <b>the sun</b>")
    page.get_by_role("button", name="Send the report").click()

    told = page.get_by_role("article").get_by_role("status")
    expect(told).to_contain_text("Thank you. A moderator will look at it.")
    expect(told.get_by_role("button", name="Take the report back")).to_be_visible()
    expect(page.get_by_role("button", name="Reported")).to_be_focused()
    (flag,) = flags(talk, comment)
    assert (flag["reason"], flag["note"]) == ("off_topic", "About <b>the sun</b>")


def test_a_report_is_changed_and_taken_back(talk: Discussion, open_page: OpenPage) -> None:
    comment = talk.posted()
    page = open_page(talk.site_of("ben"))
    report(page)
    expect(page.get_by_role("button", name="Take the report back")).to_have_count(0)
    page.get_by_role("button", name="Send the report").click()
    expect(page.get_by_role("status")).to_contain_text("Thank you")

    report(page, "Reported").select_option("abuse")
    page.get_by_role("button", name="Send the report").click()
    expect(reasons(page)).to_have_count(0)
    assert [each["reason"] for each in flags(talk, comment)] == ["abuse"]
    page.get_by_role("button", name="Take the report back").click()

    expect(page.get_by_role("status")).to_have_text("Your report is taken back.")
    expect(page.get_by_role("button", name="Report", exact=True)).to_be_focused()
    assert flags(talk, comment) == []


def test_another_reader_of_the_same_browser_has_no_report_to_take_back(
    talk: Discussion, open_page: OpenPage
) -> None:
    comment = talk.posted()
    site = talk.site_of("ben")
    page = open_page(site)
    report(page)
    page.get_by_role("button", name="Send the report").click()
    expect(page.get_by_role("status")).to_contain_text("Thank you")
    site.token = lambda: talk.client.token("cleo", name="Cleo")
    with page.expect_response("**/comments?limit=50*"):
        page.evaluate("document.dispatchEvent(new CustomEvent('plaza:identity'))")
    expect(page.get_by_role("status")).to_have_text("")

    report(page)

    expect(page.get_by_role("button", name="Take the report back")).to_have_count(0)
    assert [each["by"] for each in flags(talk, comment)] == ["ben"]


def test_a_report_changes_nothing_for_the_other_reader(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.decide(flags_hold=100)
    talk.posted()
    ben = open_page(talk.site_of("ben"))
    cleo = open_page(talk.site_of("cleo"), before=with_clock)
    # Its votes and reactions come with a file of their own.
    for name in ("Vote for this comment", "Add a reaction"):
        expect(cleo.get_by_role("article").get_by_role("button", name=name)).to_be_visible()
    before = cleo.get_by_role("article").inner_text()
    report(ben)
    ben.get_by_role("button", name="Send the report").click()
    expect(ben.get_by_role("status")).to_contain_text("Thank you")

    with cleo.expect_response("**/comments?limit=50*"):
        cleo.clock.run_for(POLL_MS)

    expect(cleo.get_by_role("article")).to_have_text(before, use_inner_text=True)
    report(cleo)
    expect(cleo.get_by_role("button", name="Take the report back")).to_have_count(0)


def test_escape_leaves_the_form_and_nothing_is_sent(talk: Discussion, open_page: OpenPage) -> None:
    comment = talk.posted()
    page = open_page(talk.site_of("ben"))

    report(page).press("Escape")

    expect(reasons(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Report", exact=True)).to_be_focused()
    assert flags(talk, comment) == []


def test_a_refused_report_keeps_what_was_written(talk: Discussion, open_page: OpenPage) -> None:
    talk.posted()
    page = open_page(talk.site_of("ben"), may_log="422")
    report(page)
    note = page.get_by_role("textbox", name="A note for the moderators")
    # A paste of any length stays whole: the API refuses it, and the reader may shorten it.
    note.fill("Look at this" * 50)
    page.get_by_role("button", name="Send the report").click()

    expect(page.get_by_role("alert")).to_be_visible()
    expect(note).to_have_value("Look at this" * 50)


def test_a_form_that_cannot_be_loaded_says_so_and_comes_at_the_next_press(
    talk: Discussion, open_page: OpenPage
) -> None:
    talk.posted()
    page = open_page(talk.site_of("ben"), may_log="Failed to load")
    page.route("**/flag.js", lambda route: route.abort())

    page.get_by_role("button", name="Report", exact=True).click()

    expect(page.get_by_role("status")).to_contain_text("reach")
    page.unroute_all()
    report(page)


@pytest.mark.parametrize("reader", ["ann", "", "admin"], ids=["author", "guest", "moderator"])
def test_who_cannot_report_is_not_offered_to(
    talk: Discussion, open_page: OpenPage, reader: str
) -> None:
    talk.posted()
    roles = {"roles": ["admin"]} if reader == "admin" else {}
    page = open_page(talk.site_of(reader, **roles))

    expect(page.get_by_text("The moon is up.")).to_be_visible()
    expect(page.get_by_role("button", name="Report", exact=True)).to_have_count(0)


def test_what_enough_people_report_waits_for_a_moderator(
    talk: Discussion, open_page: OpenPage, runtime: Runtime
) -> None:
    talk.decide(flags_hold=2)
    comment = talk.posted()
    for reader in ("ben", "cleo"):
        know(runtime, reader, "harbour", visible=3)
    pages = [open_page(talk.site_of(each)) for each in ("ben", "cleo")]
    for page in pages:
        report(page)
        page.get_by_role("button", name="Send the report").click()
        expect(page.get_by_role("status")).to_contain_text("Thank you")

    queue = talk.admin.get("/moderation/comments?queue=flagged").json["comments"]
    assert [each["id"] for each in queue] == [comment]
    for page in pages:
        page.reload()
        expect(page.get_by_text("Nobody has said anything yet.")).to_be_visible()


@pytest.mark.processes
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
def test_the_form_breaks_no_rule_of_axe_and_fits(
    talk: Discussion, open_page: OpenPage, axe: str, options: dict[str, Any]
) -> None:
    talk.posted()
    page = open_page(talk.site_of("ben"), **options)
    report(page)

    assert in_both_schemes(page, axe) == []
    assert page.evaluate(WIDER) == 0
