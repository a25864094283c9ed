"""The list that a bell opens: by pointer and keys, on a phone, with hostile texts and failures."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.bell import (
    AT,
    CORS,
    INBOX,
    PHONE,
    WIDER,
    badge,
    bell,
    host,
    panel,
    replied,
    rows,
    talk,
)
from tests.web.support.browser import until
from tests.web.support.rows import failing
from tests.web.support.site import Site
from tests.web.support.two import NODE, Discussion

__all__ = ["host", "replied", "talk"]  # fixtures

expect.set_options(timeout=PATIENCE_MS)
FAILED = ("Failed to load resource", "net::ERR")


def item(number: int = 0, **given: Any) -> dict[str, Any]:
    """Return a notification as the API has it."""
    return {
        "id": f"ben:{number}",
        "kind": "comment.reply",
        "site": "harbour",
        "at": AT,
        "read": False,
        "by": {"id": "ann", "name": "Ann"},
        "excerpt": f"Comment {number}.",
        "page": {"id": NODE, "title": "Moon", "url": "https://a.example/"},
        "permalink": "https://a.example/#plaza-1",
        **given,
    }


def answering(page: Page, *items: dict[str, Any], unseen: int = 1, unread: int = 1) -> None:
    """Have a page's calls answered with some notifications, and its marks taken."""
    counts = {"next": None, "at": AT, "unread": unread, "unseen": unseen}
    headers = {**CORS, "Access-Control-Allow-Headers": "*", "Access-Control-Allow-Methods": "*"}

    def answer(route: Route) -> None:
        if route.request.method == "GET":
            route.fulfill(json={"notifications": [*items], **counts}, headers=headers)
        else:
            route.fulfill(status=204, headers=headers)

    page.route(re.compile(r"/notifications"), answer)


def test_a_mention_says_so_and_all_are_marked_as_read(
    talk: Discussion, host: Site, open_page: OpenPage, workers: Workers
) -> None:
    talk.posted("The sun.", by="ben")
    talk.posted("Look, @Ben.", by="ann", mentions=["ben"])
    workers.drain()
    page = open_page(host)
    page.evaluate(
        "addEventListener('plaza:notifications', ({ detail }) => { window.told = detail; })"
    )
    bell(page).click()
    expect(rows(page)).to_have_text(re.compile("Ann mentioned you.*unread", re.DOTALL))

    panel(page).get_by_role("button", name="Mark all as read").click()

    expect(rows(page)).not_to_contain_text("unread")
    expect(panel(page).get_by_role("button", name="Mark all as read")).to_be_hidden()
    expect(panel(page)).to_be_focused()
    assert talk.client.as_("ben").get("/notifications").json["unread"] == 0
    assert page.evaluate("told") == {"unread": 0, "unseen": 0}


def test_an_event_that_no_person_caused_has_its_sentence_alone(
    host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    replied()
    page = open_page(host)
    expect(badge(page)).to_have_text("1")
    url = "https://a.example/orders/1"
    step: dict[str, Any] = {
        "kind": "order.shipped",
        "by": None,
        "actors": [],
        "count": 0,
        "permalink": url,
    }
    answering(page, item(0, **step), item(1, **{**step, "kind": "order.paid"}))

    bell(page).click()

    expect(rows(page).nth(0)).to_contain_text(re.compile(r"^Your order is on its wayComment 0\."))
    expect(rows(page).nth(1)).to_contain_text("Your order is paid")
    expect(rows(page).nth(0).get_by_role("link")).to_have_attribute("href", url)


def test_an_empty_inbox_says_what_comes_there(host: Site, open_page: OpenPage) -> None:
    page = open_page(host)
    bell(page).click()

    expect(panel(page).get_by_role("status")).to_contain_text("Nothing yet")
    expect(rows(page)).to_have_count(0)


def test_a_notification_of_this_page_takes_its_reader_to_the_comment(
    host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    """The list gives the focus to the comment, not back to the bell."""
    reply = replied()
    host.body += f'<plaza-comments node="{NODE}"></plaza-comments>'
    page = open_page(host, at="/?moon")
    expect(badge(page)).to_have_text("1")
    bell(page).press("Enter")
    rows(page).get_by_role("link").press("Enter")

    expect(panel(page)).to_be_hidden()
    expect(page.locator(f"plaza-comments .target[id='c-{reply}']")).to_be_focused()


def test_further_pages_are_shown_below_and_focused(
    host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    for number in range(22):
        replied(f"Reply {number}.")
    page = open_page(host)
    expect(badge(page)).to_have_text("22")
    bell(page).click()
    expect(rows(page)).to_have_count(20)

    panel(page).get_by_role("button", name="Show more").click()

    expect(rows(page)).to_have_count(22)
    expect(rows(page).nth(20).get_by_role("link")).to_be_focused()
    expect(panel(page).get_by_role("button", name="Show more")).to_be_hidden()


def test_a_list_is_opened_read_and_closed_by_keys(
    host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    replied()
    page = open_page(host)
    expect(badge(page)).to_have_text("1")
    page.keyboard.press("Tab")
    expect(bell(page)).to_be_focused()
    page.keyboard.press("Enter")
    expect(panel(page)).to_be_focused()
    expect(rows(page)).to_have_count(1)

    page.keyboard.press("Escape")
    expect(panel(page)).to_be_hidden()
    expect(bell(page)).to_be_focused()

    page.keyboard.press("Enter")
    expect(panel(page)).to_be_focused()
    page.keyboard.press("Tab")
    expect(panel(page).get_by_role("button", name="Mark all as read")).to_be_focused()
    page.keyboard.press("Tab")
    expect(panel(page).get_by_role("button", name="By e-mail")).to_be_focused()
    page.keyboard.press("Tab")
    expect(panel(page).get_by_role("button", name="Settings")).to_be_focused()
    page.keyboard.press("Tab")
    expect(rows(page).get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"\?moon#plaza-"))


def test_a_press_beside_the_list_closes_it(host: Site, open_page: OpenPage) -> None:
    page = open_page(host)
    bell(page).click()
    expect(panel(page)).to_be_visible()

    page.mouse.click(5, 700)

    expect(panel(page)).to_be_hidden()


# Each answer, and what of it a page must not have.
HOSTILE = {
    "markup": item(
        by={"id": "x", "name": '<img src=x onerror="alert(1)">'},
        excerpt="<script>alert(1)</script><img src=x onerror=alert(1)>",
        page={"id": NODE, "title": "<b onclick=alert(1)>Moon</b>", "url": "https://a.example/"},
    ),
    "directions": item(
        by={"id": "x", "name": "\u202egnp.nnA"}, excerpt="\u202e\u2066Hello", read=True
    ),
    "no spaces": item(
        by={"id": "x", "name": "W" * 100},
        excerpt="W" * 500,
        page={"id": NODE, "title": "W" * 500, "url": "https://a.example/"},
    ),
    "a script": item(permalink="javascript:alert(1)"),
    "a group": item(
        kind="post.reaction",
        actors=[{"id": "x", "name": "<img src=x onerror=alert(1)>"}] * 2
        + [{"id": "y", "name": "W" * 100}],
        count=100,
    ),
    "a kind of later": item(kind="post.like"),
}


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "Reactions to your post: Ann"),
        (2, "Reactions to your post: Ann, Cleo"),
        (4, "Reactions to your post: Ann, Cleo, Dee (4)"),
        (100, "Reactions to your post: Ann, Cleo, Dee (99+)"),
    ],
)
def test_a_group_names_its_newest_people_and_counts_all(
    host: Site, open_page: OpenPage, count: int, said: str
) -> None:
    people = [{"id": each, "name": each.title()} for each in ("ann", "cleo", "dee")]
    group = item(kind="post.reaction", actors=people[:count], count=count, permalink="")
    page = open_page(host, before=lambda page: answering(page, group))

    bell(page).click()

    expect(rows(page)).to_contain_text(said)
    assert panel(page).locator("a[href]").count() == 0


def test_no_notification_runs_or_widens_anything(host: Site, open_page: OpenPage) -> None:
    seen: list[str] = []

    def note(dialog: Dialog) -> None:
        seen.append(dialog.message)
        dialog.dismiss()

    page = open_page(host, before=lambda page: page.on("dialog", note), **PHONE)

    def does_no_harm(name: str) -> None:
        page.unroute_all()
        answering(page, HOSTILE[name])
        page.reload()
        bell(page).click()
        expect(rows(page)).to_contain_text(HOSTILE[name]["excerpt"])
        assert page.evaluate(WIDER) == 0
        assert panel(page).evaluate("each => each.scrollWidth - each.clientWidth") == 0
        assert panel(page).locator("img, script, [onclick], [onerror]").count() == 0
        if name == "a script":
            assert panel(page).locator("a[href]").count() == 0
        # A name that turns its letters around turns nothing of the sentence.
        if name == "directions":
            sides = "each => [each.previousSibling, each.nextSibling].map((each) => each?.data)"
            assert panel(page).locator("bdi").first.evaluate(sides) == [None, " replied to you"]
            after = "each => { const r = document.createRange(); r.selectNode(each.nextSibling);"
            after += " return r.getBoundingClientRect().left - each.getBoundingClientRect().right }"
            assert abs(panel(page).locator("bdi").first.evaluate(after)) < 2

    assert failing(HOSTILE, does_no_harm) == []
    assert seen == []


def refuse(route: Route) -> None:
    route.fulfill(status=500, json={"code": "internal", "status": 500}, headers=CORS)


@pytest.mark.parametrize(
    ("fail", "told"),
    [
        (refuse, "Something went wrong in Plaza."),
        (lambda route: route.abort(), "Plaza cannot be reached."),
    ],
    ids=["a refusal", "no answer"],
)
def test_a_failure_is_told_in_the_list_and_tried_again(
    host: Site,
    open_page: OpenPage,
    replied: Callable[..., str],
    fail: Callable[[Route], None],
    told: str,
) -> None:
    replied()
    page = open_page(host, before=lambda page: page.route(INBOX, fail), may_log=FAILED)
    bell(page).click()
    expect(panel(page).get_by_role("alert")).to_contain_text(told)

    page.unroute_all()
    panel(page).get_by_role("button", name="Try again").press("Enter")

    expect(rows(page)).to_have_count(1)
    expect(panel(page)).to_be_focused()
    expect(panel(page).get_by_role("alert")).to_have_count(0)


def test_a_failure_of_an_earlier_opening_takes_nothing_from_the_list(
    host: Site, open_page: OpenPage, replied: Callable[..., str]
) -> None:
    replied()
    held: list[Route] = []
    page = open_page(host, may_log=FAILED)
    expect(badge(page)).to_have_text("1")
    page.route(INBOX, lambda route: route.continue_() if held else held.append(route))
    bell(page).click()
    until(page, lambda: bool(held))
    page.keyboard.press("Escape")
    bell(page).click()
    expect(rows(page)).to_have_count(1)

    with page.expect_event("requestfailed"):
        held[0].abort()
    page.evaluate("new Promise((done) => setTimeout(done))")

    expect(rows(page)).to_have_count(1)
    expect(panel(page).get_by_role("alert")).to_have_count(0)


def test_a_list_whose_file_cannot_be_loaded_is_tried_again(host: Site, open_page: OpenPage) -> None:
    page = open_page(
        host,
        before=lambda page: page.route("**/inbox.js", lambda route: route.abort()),
        may_log=FAILED,
    )
    bell(page).click()
    expect(panel(page).get_by_role("alert")).to_contain_text("Plaza cannot be reached.")

    page.unroute_all()
    panel(page).get_by_role("button", name="Try again").click()

    expect(panel(page).get_by_role("status")).to_contain_text("Nothing yet")


@pytest.mark.processes
@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_a_bell_and_its_list_break_no_rule_of_accessibility(
    host: Site, open_page: OpenPage, axe: str, replied: Callable[..., str], language: str
) -> None:
    replied()
    host.language = language
    page = open_page(host)
    page.locator("plaza-bell").get_by_role("button").first.click()
    expect(page.get_by_role("dialog").get_by_role("listitem")).to_have_count(1)

    assert in_both_schemes(page, axe) == []


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("side", ["start", "end"])
def test_a_list_stands_within_a_phone_below_its_bell(
    host: Site, open_page: OpenPage, language: str, side: str
) -> None:
    host.language = language
    host.css += f"header {{ text-align: {side}; }}"
    page = open_page(host, **PHONE)
    page.locator("plaza-bell").get_by_role("button").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()

    box = page.get_by_role("dialog").bounding_box()
    button = page.locator("plaza-bell [part=button]").first.bounding_box()
    assert box is not None
    assert button is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["viewport"]["width"]
    assert box["y"] >= button["y"] + button["height"]
    assert page.evaluate(WIDER) == 0
