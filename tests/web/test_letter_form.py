"""The form of letters beside a bell's list: by pointer and keys, with refusals and late answers."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from chalicelib.runtime import Runtime
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.bell import (
    IDENTITY,
    PHONE,
    WIDER,
    bell,
    held_first,
    host,
    panel,
    replied,
    rows,
    talk,
)
from tests.web.support.browser import answer_read, count_answers, until
from tests.web.support.letters import (
    BEN,
    CHOICE,
    address,
    open_form,
    said,
    save,
    state_of,
    when,
)
from tests.web.support.site import Site
from tests.web.support.two import Discussion

__all__ = ["address", "host", "replied", "talk"]  # fixtures

expect.set_options(timeout=PATIENCE_MS)
FAILED = ("Failed to load resource", "net::ERR")


def test_hour_and_day_are_of_the_readers_clock_and_letters_of_the_pages_language(
    talk: Discussion, host: Site, open_page: OpenPage
) -> None:
    host.language = "de"
    host.token = lambda: talk.client.token("ben", name="Ben", email=BEN, email_verified=True)
    page = open_page(host, timezone_id="America/Sao_Paulo")
    page.locator("plaza-bell").get_by_role("button").first.click()
    page.get_by_role("button", name="Per E-Mail").click()
    form = page.get_by_role("dialog")
    expect(form.get_by_role("combobox", name="Wann")).to_be_focused()
    expect(form.get_by_role("combobox", name="Tag")).to_be_hidden()
    expect(form.get_by_label("E-Mail-Adresse")).to_be_hidden()
    form.get_by_role("combobox", name="Wann").select_option("Jede Woche")
    expect(form).to_contain_text("Nach der Uhr von America/Sao_Paulo.")
    form.get_by_role("combobox", name="Tag").select_option("Sonntag")
    form.get_by_role("combobox", name="Uhrzeit").select_option("23:00")

    form.get_by_role("button", name="Speichern").click()

    expect(form.get_by_role("status")).to_contain_text("Gespeichert. Briefe gehen an")
    expect(form.get_by_label("E-Mail-Adresse")).to_have_value(BEN)
    assert talk.client.as_("ben").get("/notifications/mail").json == {
        "every": "weekly",
        "weekday": 7,
        "hour": 23,
        "time_zone": "America/Sao_Paulo",
        "language": "de",
        "email": BEN,
        "state": "on",
    }
    form.get_by_role("button", name="Zurück").click()
    form.get_by_role("button", name="Per E-Mail").click()
    expect(form.get_by_role("combobox", name="Tag")).to_have_value("7")
    expect(form.get_by_role("combobox", name="Uhrzeit")).to_have_value("23")


def test_a_stored_hour_is_shown_and_saved_with_its_own_time_zone(
    talk: Discussion, host: Site, open_page: OpenPage
) -> None:
    ben = talk.client.as_("ben")
    chosen = {"every": "daily", "weekday": 1, "hour": 8, "language": "en", "email": BEN}
    put = ben.put("/notifications/mail", **chosen, time_zone="Europe/Berlin")
    assert put.status == 200, put.body
    page = open_page(host, timezone_id="America/New_York")
    open_form(page)
    expect(panel(page)).to_contain_text("Europe/Berlin")
    save(page)
    expect(said(page)).to_contain_text("Saved")
    stored = ben.get("/notifications/mail").json
    assert (stored["hour"], stored["time_zone"]) == (8, "Europe/Berlin")

    panel(page).get_by_role("combobox", name="Time").select_option("7")
    expect(panel(page)).to_contain_text("America/New_York")
    save(page)
    expect(said(page)).to_contain_text("Saved")
    assert ben.get("/notifications/mail").json["time_zone"] == "America/New_York"


def test_a_refusal_is_said_and_the_choice_stays_to_be_changed(
    host: Site, open_page: OpenPage
) -> None:
    page = open_page(host, may_log=FAILED)
    open_form(page)
    refusal = panel(page).get_by_role("alert")
    when(page).select_option("At once")
    save(page)
    expect(refusal).to_have_text("Name an e-mail address.")

    panel(page).get_by_label("E-mail address").fill("ben@localhost")
    save(page)
    expect(refusal).to_have_text("No letter can go to this address. Choose another.")

    panel(page).get_by_label("E-mail address").fill(BEN)
    expect(refusal).to_be_hidden()
    page.route(CHOICE, lambda route: route.abort())
    save(page)
    expect(refusal).to_have_text("Plaza cannot be reached.")
    page.unroute_all()
    save(page)
    expect(said(page)).to_contain_text("Saved. A letter is on its way")
    expect(refusal).to_be_hidden()
    expect(when(page)).to_have_value("at_once")


@pytest.mark.parametrize("wrong", ["ben@", "ben@localhost"])
def test_letters_are_switched_off_whatever_the_address_is(
    talk: Discussion, host: Site, open_page: OpenPage, wrong: str
) -> None:
    """Neither the browser nor the API takes these."""
    host.token = lambda: talk.client.token("ben", name="Ben", email=BEN, email_verified=True)
    page = open_page(host, may_log=FAILED)
    open_form(page)
    when(page).select_option("At once")
    save(page)
    expect(said(page)).to_contain_text("Saved.")
    assert state_of(talk) == "on"

    panel(page).get_by_label("E-mail address").fill(wrong)
    when(page).select_option("Never")
    save(page)

    expect(said(page)).to_contain_text("Saved.")
    assert state_of(talk) == "off"


def test_a_deployment_without_mail_says_so(
    host: Site, open_page: OpenPage, runtime: Runtime
) -> None:
    object.__setattr__(runtime.settings, "mail_folder", "")
    page = open_page(host, may_log=FAILED)
    open_form(page)
    when(page).select_option("Every hour")
    panel(page).get_by_label("E-mail address").fill(BEN)

    save(page)

    expect(panel(page).get_by_role("alert")).to_have_text("No letters are sent from here.")


def test_two_presses_send_one_choice(host: Site, open_page: OpenPage) -> None:
    page = open_page(host)
    open_form(page)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(CHOICE, hold)
    button = panel(page).get_by_role("button", name="Save")
    button.click()
    button.press("Enter")
    until(page, lambda: bool(held))

    for each in held:
        each.continue_()

    expect(said(page)).to_have_text("Saved. You get no letters.")
    assert len(held) == 1


@pytest.mark.parametrize("file", ["the form", "the choice"])
def test_a_form_that_cannot_be_loaded_is_tried_again_by_another_press(
    host: Site, open_page: OpenPage, file: str
) -> None:
    path = re.compile(r"/letters\.js") if file == "the form" else CHOICE
    page = open_page(
        host, before=lambda page: page.route(path, lambda route: route.abort()), may_log=FAILED
    )
    bell(page).click()
    button = panel(page).get_by_role("button", name="By e-mail")
    button.click()
    expect(panel(page).get_by_role("status")).to_contain_text("Plaza cannot be reached.")

    page.unroute_all()
    button.click()

    expect(when(page)).to_be_focused()


def test_the_form_of_an_earlier_reader_is_not_shown(
    talk: Discussion, host: Site, open_page: OpenPage
) -> None:
    ben = talk.client.as_("ben", email=BEN, email_verified=True)
    assert ben.put("/notifications/mail", every="daily").status == 200
    page = open_page(host, before=count_answers)
    bell(page).click()
    expect(panel(page).get_by_role("status")).to_contain_text("Nothing yet")
    held = held_first(page, CHOICE)
    panel(page).get_by_role("button", name="By e-mail").click()
    until(page, lambda: bool(held and held[0][1]))

    host.token = lambda: talk.client.token("cleo", name="Cleo")
    page.evaluate(IDENTITY)
    expect(panel(page)).to_be_hidden()
    with answer_read(page):
        for route, answer in held:
            route.fulfill(response=answer)
    bell(page).click()

    expect(panel(page).get_by_role("status")).to_contain_text("Nothing yet")
    expect(when(page)).to_have_count(0)
    expect(panel(page)).not_to_contain_text(BEN)


def test_a_list_that_is_opened_anew_stays_a_list(host: Site, open_page: OpenPage) -> None:
    page = open_page(host, before=count_answers)
    bell(page).click()
    held = held_first(page, CHOICE)
    panel(page).get_by_role("button", name="By e-mail").click()
    until(page, lambda: bool(held and held[0][1]))
    page.keyboard.press("Escape")
    with answer_read(page):
        bell(page).click()
    with answer_read(page):
        for route, answer in held:
            route.fulfill(response=answer)

    expect(when(page)).to_have_count(0)
    expect(panel(page).get_by_role("status")).to_contain_text("Nothing yet")


def test_the_form_is_used_by_keys_and_the_list_comes_back(
    talk: Discussion, host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    replied()
    host.token = lambda: talk.client.token("ben", name="Ben", email=BEN, email_verified=True)
    page = open_page(host)
    bell(page).press("Enter")
    button = panel(page).get_by_role("button", name="By e-mail")
    button.press("Enter")
    expect(when(page)).to_be_focused()
    when(page).press("a")
    page.keyboard.press("Tab")
    expect(panel(page).get_by_label("E-mail address")).to_be_focused()
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("Saved. Letters go to")
    assert state_of(talk) == "on"

    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    expect(panel(page).get_by_role("button", name="Back")).to_be_focused()
    page.keyboard.press("Enter")
    expect(button).to_be_focused()
    expect(rows(page)).to_have_count(1)

    page.keyboard.press("Enter")
    expect(when(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel(page)).to_be_hidden()
    expect(bell(page)).to_be_focused()
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(1)
    expect(when(page)).to_have_count(0)


@pytest.mark.processes
@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_the_form_fits_a_phone_and_breaks_no_rule(
    talk: Discussion, host: Site, open_page: OpenPage, axe: str, language: str
) -> None:
    ben = talk.client.as_("ben", email=f"{'b' * 60}@plaza.example", email_verified=True)
    assert ben.put("/notifications/mail", every="weekly").status == 200
    host.language = language
    page = open_page(host, **PHONE)
    page.locator("plaza-bell").get_by_role("button").first.click()
    page.get_by_role("dialog").locator("header button:not([hidden])").first.click()
    expect(page.get_by_role("dialog").locator("select").first).to_be_focused()

    assert page.evaluate(WIDER) == 0
    wider = "each => each.scrollWidth - each.clientWidth"
    assert page.get_by_role("dialog").evaluate(wider) == 0
    assert in_both_schemes(page, axe) == []
