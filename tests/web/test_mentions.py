"""Mentioning people: names completed after an `@`, and shown as mentions to others."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.two import NODE, Discussion, discussing

expect.set_options(timeout=PATIENCE_MS)
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PHONE: dict[str, Any] = {"viewport": {"width": 320, "height": 700}, "has_touch": True}
HOSTILE = '<img src=x onerror="alert(1)"> [x](javascript:1)'


@pytest.fixture
def talk(client: Client, clock: Clock, address: str) -> Iterator[Discussion]:
    """A discussion in which Ann and Anton take part."""
    with discussing(client, clock, address) as made:
        made.decide(votes="off", reactions=[])
        made.posted()
        made.posted("The sun is up.", by="anton")
        yield made


def opened(talk: Discussion, open_page: OpenPage, sub: str = "ben", **options: Any) -> Page:
    page = open_page(talk.site_of(sub), **options)
    expect(page.get_by_text("The moon is up.")).to_be_visible()
    return page


def field(page: Page, name: str = "Write a comment") -> Locator:
    return page.get_by_role("textbox", name=name)


def offered(page: Page) -> Locator:
    return page.get_by_role("listbox").get_by_role("option")


def mentions(talk: Discussion, text: str) -> list[str]:
    """Return the ids that the comment with a text mentions."""
    comments = talk.client.get(f"/nodes/{NODE}/comments").json["comments"]
    (found,) = [each for each in comments if each["text"] == text]
    return [each["id"] for each in found["mentions"]]


def test_a_name_is_completed_by_keys_and_shown_to_another_reader(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = opened(talk, open_page)
    field(page).press_sequentially("Yes, @an")
    expect(offered(page)).to_have_text(["Ann", "Anton"])

    field(page).press("ArrowDown")
    expect(offered(page).nth(1)).to_have_attribute("aria-selected", "true")
    field(page).press("Enter")
    expect(field(page)).to_have_value("Yes, @Anton ")
    expect(offered(page)).to_have_count(0)
    page.get_by_role("button", name="Post").click()

    expect(page.locator(".mention")).to_have_text("@Anton")
    other = opened(talk, open_page, "cleo")
    expect(other.locator(".mention")).to_have_text("@Anton")
    expect(other.locator(".mention")).to_have_attribute("data-person", "anton")
    assert mentions(talk, "Yes, @Anton ".strip()) == ["anton"]


@pytest.mark.parametrize("before", ["\u8c22\u8c22", "\u0e02\u0e2d\u0e1a\u0e04\u0e38\u0e13"])
def test_a_name_is_completed_after_a_letter_of_a_script_without_spaces(
    talk: Discussion, open_page: OpenPage, before: str
) -> None:
    name = "\u5c0f\u660e"
    talk.client.as_("xiao", name=name).post(f"/nodes/{NODE}/comments", text="The sky is up.")
    page = opened(talk, open_page)
    field(page).press_sequentially(f"me@\u5c0f {before}@\u5c0f")
    expect(offered(page)).to_have_text([name])

    offered(page).click()
    page.get_by_role("button", name="Post").click()

    expect(page.locator(".mention")).to_have_text(f"@{name}")
    assert mentions(talk, f"me@\u5c0f {before}@{name}") == ["xiao"]


def test_names_are_asked_for_again_after_a_call_that_failed(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = opened(talk, open_page, may_log="net::ERR")
    page.route("**/people?*", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        field(page).press_sequentially("@a")
    page.unroute("**/people?*")

    field(page).press_sequentially("n")

    expect(offered(page)).to_have_text(["Ann", "Anton"])


def test_a_name_is_chosen_by_a_touch(talk: Discussion, open_page: OpenPage) -> None:
    page = opened(talk, open_page, "ben", **PHONE)
    field(page).press_sequentially("@ant")

    offered(page).first.tap()

    expect(field(page)).to_have_value("@Anton ")
    expect(field(page)).to_be_focused()


def test_a_screen_reader_is_told_of_the_one_that_would_be_chosen(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = opened(talk, open_page)
    field(page).press_sequentially("@an")
    expect(offered(page)).to_have_count(2)

    first = offered(page).first.get_attribute("id")
    assert first is not None
    expect(field(page)).to_have_attribute("aria-activedescendant", first)
    expect(field(page)).to_have_attribute("aria-autocomplete", "list")
    field(page).press("ArrowUp")

    last = offered(page).last.get_attribute("id")
    assert last is not None
    expect(field(page)).to_have_attribute("aria-activedescendant", last)


def test_escape_closes_the_list_and_not_the_form(talk: Discussion, open_page: OpenPage) -> None:
    page = opened(talk, open_page)
    page.get_by_role("article").first.get_by_role("button", name="Reply").click()
    reply = field(page, "Reply to Ann")
    reply.press_sequentially("@an")
    expect(offered(page)).to_have_count(2)

    reply.press("Escape")

    expect(offered(page)).to_have_count(0)
    expect(reply).to_have_value("@an")
    reply.press("Enter")
    expect(reply).to_have_value("@an\n")
    reply.press("Escape")
    expect(reply).to_have_count(0)


def test_what_is_sent_names_those_alone_who_are_in_the_text(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = opened(talk, open_page)
    field(page).press_sequentially("@ann")
    expect(offered(page)).to_have_count(1)
    field(page).press("Enter")
    expect(field(page)).to_have_value("@Ann ")
    field(page).fill("Nobody at all")

    with page.expect_request("**/comments") as sent:
        page.get_by_role("button", name="Post").click()

    assert (sent.value.post_data_json or {})["mentions"] == []


def test_a_draft_remembers_whom_it_mentions(talk: Discussion, open_page: OpenPage) -> None:
    page = opened(talk, open_page)
    field(page).press_sequentially("Right, @ant")
    expect(offered(page)).to_have_text(["Anton"])
    field(page).press("Enter")
    expect(field(page)).to_have_value("Right, @Anton ")

    page.reload()

    expect(field(page)).to_have_value("Right, @Anton ")
    page.get_by_role("button", name="Post").click()
    expect(page.locator(".mention")).to_have_text("@Anton")


def test_an_edit_keeps_a_mention_and_adds_one(talk: Discussion, open_page: OpenPage) -> None:
    talk.posted("So it is, @Ann", by="ben", mentions=["ann"])
    page = opened(talk, open_page)
    expect(page.locator(".mention")).to_have_text("@Ann")
    page.get_by_role("button", name="Edit").click()
    edit = field(page, "Edit")
    edit.press("End")
    edit.press_sequentially(" and @ant")
    expect(offered(page)).to_have_text(["Anton"])
    edit.press("Tab")
    page.get_by_role("button", name="Save").click()

    expect(page.locator(".mention")).to_have_text(["@Ann", "@Anton"])


def test_a_hostile_name_is_a_name(talk: Discussion, open_page: OpenPage) -> None:
    evil = talk.client.as_("eve", name=HOSTILE)
    assert evil.post(f"/nodes/{NODE}/comments", text="Hi").status == 201
    page = opened(talk, open_page)
    field(page).press_sequentially("@<im")
    expect(offered(page)).to_have_text([HOSTILE])

    field(page).press("Enter")
    page.get_by_role("button", name="Post").click()

    expect(page.locator(".mention")).to_have_text(f"@{HOSTILE}")
    expect(page.locator(".text img, .text a")).to_have_count(0)


def test_an_address_and_a_name_that_nobody_has_offer_nobody(
    talk: Discussion, open_page: OpenPage
) -> None:
    asked: list[str] = []
    page = opened(talk, open_page)
    page.on("request", lambda request: asked.append(request.url))
    with page.expect_response("**/people?q=zz"):
        field(page).press_sequentially("me@an.example @zz")

    field(page).press_sequentially("zzz")
    page.get_by_role("button", name="Post").click()

    expect(page.get_by_text("me@an.example @zzzzz")).to_be_visible()
    queries = [url.partition("?q=")[2] for url in asked if "/people?" in url]
    assert set(queries) <= {"z", "zz"}


def test_without_its_file_a_text_is_sent_all_the_same(
    talk: Discussion, open_page: OpenPage
) -> None:
    page = opened(
        talk,
        open_page,
        before=lambda page: page.route("**/completion.js", lambda route: route.abort()),
        may_log="net::ERR_FAILED",
    )
    field(page).press_sequentially("@Ann is right")

    page.get_by_role("button", name="Post").click()

    expect(page.get_by_text("@Ann is right")).to_be_visible()


@pytest.mark.processes
@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_list_fits_a_phone_and_breaks_no_rule(
    talk: Discussion, open_page: OpenPage, axe: str, language: str
) -> None:
    long = talk.client.as_("long", name="Anna" + "a" * 60)
    assert long.post(f"/nodes/{NODE}/comments", text="Hi").status == 201
    site = talk.site_of("ben")
    site.language = language
    page = open_page(site, **PHONE)
    area = page.locator("textarea")
    area.press_sequentially("@an")
    expect(offered(page)).to_have_count(3)
    # Its styles come with its file.
    expect(offered(page).first).to_have_css("outline-style", "solid")

    assert page.evaluate(WIDER) == 0
    assert in_both_schemes(page, axe) == []
