"""The mailbox of the newspaper in a browser: hostile letters, accessibility, and a phone."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

from chalicelib.mail.couriers import FolderCourier
from chalicelib.mail.mime import PostedLetter
from local.mailbox import ADDRESS as MAILBOX
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.axe import in_both_schemes
from tests.web.support.bell import PHONE, WIDER
from tests.web.support.letters import BEN, EMPTY, address

__all__ = ["address"]  # a fixture

expect.set_options(timeout=PATIENCE_MS)
HOSTILE = """<!doctype html><html><head><base target="_self" href="https://evil.example/">
<meta http-equiv="refresh" content="0;url=https://evil.example/gone">
<link rel="stylesheet" href="https://evil.example/x.css"></head>
<body onload="parent.postMessage('hi', '*'); top.location = 'https://evil.example/'">
<script>top.document.title = "owned"; alert(1)</script>
<img src="https://evil.example/pixel.png" onerror="alert(1)">
<iframe src="https://evil.example/frame"></iframe>
<form action="/demo/token" method="post"><button>Press</button></form>
<a href="javascript:alert(1)">Look</a><p>The end of the letter.</p></body></html>"""


def test_a_hostile_letter_runs_loads_and_leads_nowhere(
    address: str, open_page: OpenPage, tmp_path: Path
) -> None:
    subject = '"><img src=x onerror=alert(1)>\u202egnp'
    letter = PostedLetter("evil", BEN, subject, f"{HOSTILE}\n</div><b>", "en", "key", html=HOSTILE)
    FolderCourier(tmp_path).carry(letter)
    dialogs: list[Dialog] = []
    sent: list[Route] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog)

    def hold(route: Route) -> None:
        sent.append(route)

    def watch(page: Page) -> None:
        page.on("dialog", note)
        page.route(re.compile(r"evil\.example|/demo/token"), hold)

    refused = (
        "Refused to ",
        "violates the following",
        "Blocked script execution",
        "Blocked form submission",
    )
    page = open_page(
        MAILBOX,
        may_log=(EMPTY, *refused, "request to another host: https://evil.example/"),
        before=watch,
    )
    page.locator(".found a").click()
    frame = page.frame_locator("iframe.letter")
    expect(frame.get_by_text("The end of the letter.")).to_be_visible()
    frame.get_by_role("button", name="Press").click()
    frame.get_by_role("link", name="Look").click()

    expect(frame.get_by_text("The end of the letter.")).to_be_visible()
    assert page.url == f"{address}{MAILBOX}/evil"
    assert "owned" not in page.title()
    assert dialogs == []
    assert sent == []
    assert page.locator("main img, main b, main script").count() == 0


@pytest.mark.processes
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_the_mailbox_fits_its_page_and_breaks_no_rule(
    address: str, open_page: OpenPage, axe: str, tmp_path: Path, options: dict[str, Any]
) -> None:
    for name, text in {
        "one": "Hello.",
        "long": f"https://a.example/{'w' * 300} {'W' * 300}",
    }.items():
        letter = PostedLetter(name, BEN, text, text, "en", "key", f"<p>{text}</p>", "/stop")
        FolderCourier(tmp_path).carry(letter)
    # axe asks in vain whether it runs in the letter's frame, too.
    page = open_page(MAILBOX, may_log=(EMPTY, "'postMessage'"), **options)

    assert page.evaluate(WIDER) == 0
    assert in_both_schemes(page, axe) == []
    page.goto(f"{address}{MAILBOX}/long")
    page.get_by_text("Headers", exact=True).click()
    assert page.evaluate(WIDER) == 0
    assert in_both_schemes(page, axe) == []
