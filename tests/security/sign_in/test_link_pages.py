"""Attacks on readers of a link's page: frames, scripts, forms elsewhere, and logs."""

import json

import pytest

from tests.comments.support.guests import (
    CONFIRMATION,
    HTML,
    ORIGIN,
    PUBLIC_URL,
    GuestSite,
)


def test_the_page_is_in_no_frame_and_has_no_script_and_leads_to_the_site_alone(
    site: GuestSite,
) -> None:
    site.guest("Ann", language="ar")
    page = site.client.request("GET", f"{CONFIRMATION}?token={site.link()}", headers=HTML)

    assert page.status == 200
    assert page.headers["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
        f"form-action 'self' {ORIGIN}"
    )
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    text = page.body.decode()
    assert '<html lang="ar" dir="rtl">' in text
    assert "<script" not in text
    assert "mail.example" not in text
    assert f'href="{PUBLIC_URL}/web/v1/page.css"' in text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "null", "Cookie": "session=1"},
        {"Content-Type": "text/plain", "Origin": "https://evil.example"},
    ],
)
def test_a_form_on_another_page_gains_nothing_without_the_token(
    waiting: GuestSite, headers: dict[str, str]
) -> None:
    """The token alone confirms, and no cookie does: who has it has read the letter."""
    for target in (CONFIRMATION, f"{CONFIRMATION}?token={'A' * 43}"):
        assert waiting.client.request("POST", target, headers=headers).status in (404, 422)
    assert waiting.shown() == []

    pressed = waiting.press(**headers)

    assert (pressed.status, pressed.body) == (302, b"")
    assert "Set-Cookie" not in pressed.headers


def test_a_confirmation_gives_its_caller_no_token(waiting: GuestSite) -> None:
    """A reader of the letter shows the comments, and becomes nobody else's guest."""
    pressed = waiting.press()

    assert "guest." not in json.dumps([dict(pressed.headers), pressed.body.decode()])


def test_no_line_of_the_log_has_a_token_or_an_address(
    site: GuestSite, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG", logger="plaza"):
        site.guest()
        token = site.link()
        site.client.get(f"{CONFIRMATION}?token={token}")
        site.press(token)

    logged = " ".join(str(vars(each)) for each in caplog.records if each.name == "plaza")
    assert "confirmation" in logged
    assert token not in logged
    assert "mail.example" not in logged
