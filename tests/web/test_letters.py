"""Letters of notifications: chosen in a page, read in the mailbox, and stopped from there."""

from collections.abc import Callable

import pytest
from chalice.app import Chalice
from playwright.sync_api import Page, Request, expect

from local.mailbox import ADDRESS as MAILBOX
from local.schedules import run_schedule
from tests.support.clock import Clock
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.bell import (
    badge,
    host,
    panel,
    replied,
    talk,
)
from tests.web.support.letters import (
    BEN,
    EMPTY,
    address,
    open_form,
    said,
    save,
    state_of,
    when,
)
from tests.web.support.site import Site
from tests.web.support.town import write
from tests.web.support.two import Discussion

__all__ = ["address", "host", "replied", "talk"]  # fixtures

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture
def pass_a_day(app: Chalice, clock: Clock, workers: Workers) -> Callable[[], None]:
    """Have letters written and sent that are due within a day."""

    def passed() -> None:
        workers.drain()
        clock.advance(days=1)
        run_schedule(app, "mail_notifications")
        workers.drain()

    return passed


def open_letter(page: Page, subject: str) -> None:
    """Open a letter from the front page of the newspaper, by way of the mailbox."""
    page.get_by_role("link", name="the mailbox").click()
    page.get_by_role("link", name=subject).click()
    expect(page.get_by_role("heading", name=subject)).to_be_visible()


def test_a_reply_comes_as_a_letter_whose_link_asks_and_whose_button_stops_letters(
    talk: Discussion,
    host: Site,
    open_page: OpenPage,
    workers: Workers,
    pass_a_day: Callable[[], None],
) -> None:
    talk.posted("Is the moon up?", by="ben")
    ben = open_page(host, timezone_id="Asia/Shanghai")
    open_form(ben)
    when(ben).select_option("Every day")
    panel(ben).get_by_role("combobox", name="Time").select_option("9:00 AM")
    panel(ben).get_by_label("E-mail address").fill(BEN)
    save(ben)
    expect(said(ben)).to_contain_text(f"A letter is on its way to \u2068{BEN}\u2069")
    workers.drain()

    # Playwright's own scripts stay out of the letter's frame, too.
    mail = open_page("/", may_log=(EMPTY, "Blocked script execution"))
    open_letter(mail, "Confirm your address")
    mail.get_by_role("link", name="/notifications/mail/confirmation").click()
    assert state_of(talk) == "unconfirmed"
    mail.get_by_role("button", name="Yes, send them").click()
    expect(mail.get_by_role("main")).to_contain_text("Notifications")
    assert state_of(talk) == "on"

    talk.clock.advance(seconds=1)
    ann = open_page(talk.site_of("ann"))
    ann.get_by_role("article", name="Ben").get_by_role("button", name="Reply").click()
    write(ann, "Reply to Ben", "It is, **since** eight.")
    expect(ann.get_by_role("article", name="Ann")).to_contain_text("It is, since eight.")
    workers.drain()
    ben.reload()
    expect(badge(ben)).to_have_text("1")
    pass_a_day()

    mail.goto(f"{host.api}{MAILBOX}")
    open_letter(mail, "Ann replied to you: Moon")
    frame = mail.frame_locator("iframe")
    expect(frame.get_by_text("Ann replied to you")).to_be_visible()
    expect(frame.get_by_text("It is, since eight.")).to_be_visible()
    with mail.expect_popup() as opened:
        frame.get_by_role("link", name="Turn these letters off").click()
    expect(opened.value.get_by_role("button", name="Turn these letters off")).to_be_visible()
    assert state_of(talk) == "on"
    opened.value.get_by_role("button", name="Turn these letters off").click()
    expect(opened.value.get_by_role("main")).to_contain_text("no more letters")
    assert state_of(talk) == "off"
    open_form(ben)
    expect(said(ben)).to_have_text("You get no letters.")
    expect(when(ben)).to_have_value("off")


def test_a_mail_programs_own_button_stops_letters_by_one_post(
    talk: Discussion,
    open_page: OpenPage,
    replied: Callable[..., str],
    pass_a_day: Callable[[], None],
) -> None:
    """RFC 8058: the request has this body, and neither a cookie nor a token."""
    ben = talk.client.as_("ben", email=BEN, email_verified=True)
    assert ben.put("/notifications/mail", every="daily").json["state"] == "on"
    replied()
    pass_a_day()
    sent: list[Request] = []

    def note(request: Request) -> None:
        sent.append(request)

    mail = open_page("/", may_log=EMPTY, before=lambda page: page.on("request", note))
    open_letter(mail, "Ann replied to you: Moon")

    mail.get_by_role("button", name="Unsubscribe").click()

    expect(mail.get_by_role("main")).to_contain_text("no more letters")
    assert state_of(talk) == "off"
    (post,) = (each for each in sent if each.method == "POST" and "/stop" in each.url)
    assert post.post_data == "List-Unsubscribe=One-Click"
    assert {"cookie", "authorization"}.isdisjoint(post.all_headers())
