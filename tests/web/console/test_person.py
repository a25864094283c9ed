"""The console's page of a person: what is known, and what a moderator decides about them."""

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import OpenPage
from tests.web.console.conftest import PHONE, WIDER, Desk, handed_over
from tests.web.support.axe import in_both_schemes
from tests.web.support.browser import until

RIGHT = "element => element.getBoundingClientRect().right"
ANN = "/sites/harbour/people/ann"


def open_person(desk: Desk, user: str = "ann", **options: Any) -> Page:
    page = desk.open(**options)
    page.goto(f"{page.url.partition('#')[0]}?site=harbour&person={user}#person")
    expect(page.get_by_role("heading", name="A person at a site")).to_be_visible()
    return page


def save(page: Page) -> None:
    page.get_by_role("button", name="Save").click()


def test_what_is_known_of_a_person_is_shown(desk: Desk) -> None:
    desk.post()
    assert desk.moderator.patch(ANN, note="Is kind", badges=["Helper"]).status == 200

    page = open_person(desk)

    card = page.get_by_role("region", name="Ann")
    expect(card).to_contain_text("1 waiting")
    expect(page.get_by_label("Note")).to_have_value("Is kind")
    expect(page.get_by_label("Badges")).to_have_value("Helper")
    expect(page.get_by_label("Standing")).to_have_value("ok")
    expect(page.get_by_label("End of the suspension")).to_be_hidden()


def test_a_person_is_suspended_until_a_time_with_the_reason_in_the_log(desk: Desk) -> None:
    desk.post()
    page = open_person(desk, timezone_id="Asia/Kolkata")
    until = (desk.clock() + timedelta(days=7)).replace(second=0, microsecond=0)
    on_their_clock = until + timedelta(hours=5, minutes=30)

    page.get_by_label("Standing").select_option("suspended")
    page.get_by_label("End of the suspension").fill(on_their_clock.strftime("%Y-%m-%dT%H:%M"))
    page.get_by_label("Why").fill("Heated")
    save(page)

    expect(page.get_by_role("status")).to_have_text("Saved.")
    known = desk.moderator.get(ANN).json
    assert (known["status"], known["until"]) == ("suspended", until.strftime("%Y-%m-%dT%H:%M:%SZ"))
    page.get_by_role("link", name="Their log").click()
    expect(page.get_by_role("listitem").first).to_contain_text("Mo suspended Ann until")
    expect(page.get_by_role("listitem").first).to_contain_text("Heated")


def test_only_what_was_changed_is_sent(desk: Desk) -> None:
    desk.post()
    page = open_person(desk)
    expect(page.get_by_label("Note")).to_be_visible()
    # Another moderator is quicker.
    assert desk.moderator.patch(ANN, status="banned").status == 200

    save(page)
    expect(page.get_by_role("status")).to_have_text("Nothing was changed.")
    page.get_by_label("Badges").fill(" Helper, Baker ,")
    save(page)

    expect(page.get_by_role("status")).to_have_text("Saved.")
    known = desk.moderator.get(ANN).json
    assert (known["status"], known["badges"]) == ("banned", ["Helper", "Baker"])
    expect(page.get_by_label("Standing")).to_have_value("banned")


def test_two_presses_save_once(desk: Desk) -> None:
    desk.post()
    page = open_person(desk)
    page.get_by_label("Note").fill("Is kind")
    sent: list[Request] = []
    page.on("request", lambda each: sent.append(each) if each.method == "PATCH" else None)

    page.get_by_role("button", name="Save").evaluate(
        "button => { button.click(); button.click(); }"
    )

    expect(page.get_by_role("status")).to_have_text("Saved.")
    assert len(sent) == 1
    expect(page.get_by_label("End of the suspension")).to_have_attribute("max", "9999-12-31T23:59")


def test_a_save_is_one_call_and_leaves_the_focus_on_its_button(desk: Desk) -> None:
    desk.post()
    page = open_person(desk)
    page.get_by_label("Note").fill("Is kind")
    held: list[Route] = []
    # Playwright takes no method of a list.
    page.route("**/people/*", lambda each: held.append(each))  # noqa: PLW0108

    page.get_by_role("button", name="Save").press("Enter")
    until(page, lambda: bool(held))
    expect(page.get_by_label("Note")).not_to_be_editable()
    held[0].continue_()

    expect(page.get_by_role("status")).to_have_text("Saved.")
    expect(page.get_by_role("button", name="Save")).to_be_focused()
    expect(page.get_by_label("Note")).to_be_editable()
    expect(page.get_by_role("main")).to_contain_text("1 waiting")
    assert len(held) == 1


def test_what_is_refused_is_told_and_stays_in_the_form(desk: Desk) -> None:
    desk.post()
    page = open_person(desk, may_log="422")
    page.get_by_label("Badges").fill("a, b, c, d, e, f")

    save(page)

    expect(page.get_by_role("status")).to_contain_text("badges")
    expect(page.get_by_label("Badges")).to_have_value("a, b, c, d, e, f")
    assert desk.moderator.get(ANN).json["badges"] == []


def test_all_that_they_wrote_is_hidden(desk: Desk, workers: Workers) -> None:
    comments = [desk.post(f"Buy {number} moons") for number in range(2)]
    page = open_person(desk)
    page.once("dialog", lambda dialog: dialog.accept())

    page.get_by_role("button", name="Hide all they wrote").click()

    expect(page.get_by_role("status")).to_contain_text("is being hidden")
    workers.drain()
    assert [desk.state(each) for each in comments] == ["hidden", "hidden"]


def test_a_person_is_found_by_site_and_id(desk: Desk, client: Client, open_page: OpenPage) -> None:
    desk.post()
    token = client.token("mia", name="Mia", roles=["moderator"], sites=["abroad", "harbour"])
    page = handed_over(open_page, token)

    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_label("Site").select_option("harbour")
    page.get_by_label("Person").fill("ann")
    page.get_by_role("button", name="Show", exact=True).click()

    expect(page.get_by_role("region", name="Ann")).to_be_visible()


def test_the_queue_leads_to_the_person(desk: Desk) -> None:
    desk.post()
    page = desk.open()

    page.get_by_role("link", name="Their standing").click()

    expect(page.get_by_role("region", name="Ann")).to_be_visible()


def test_a_name_and_a_note_are_text(desk: Desk) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    desk.post()
    assert desk.moderator.patch(ANN, note=hostile).status == 200

    page = open_person(desk)

    expect(page.get_by_label("Note")).to_have_value(hostile)
    assert page.locator("main img").count() == 0


@pytest.mark.processes
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
def test_the_page_breaks_no_rule_of_axe_and_fits(
    desk: Desk, axe: str, options: dict[str, Any]
) -> None:
    desk.post()
    page = open_person(desk, **options)
    page.get_by_label("Standing").select_option("suspended")

    assert in_both_schemes(page, axe) == []
    assert page.evaluate(WIDER) == 0
    card, field = page.locator("form.card"), page.get_by_label("Standing")
    assert field.evaluate(RIGHT) < card.evaluate(RIGHT)
