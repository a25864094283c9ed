"""The mailbox of the demo newspaper: hostile letters do no harm; this machine alone sees any."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from pydantic import SecretStr

from chalicelib.mail.couriers import FolderCourier
from chalicelib.mail.mime import PostedLetter
from chalicelib.settings import Settings
from local.mailbox import ADDRESS, FRAME_POLICY
from local.site import POLICY, Site, with_site

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
Ask = Callable[..., tuple[str, dict[str, str], str]]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    settings = Settings(
        mongodb_uri=SecretStr("mongodb://unused"), mail_folder=str(tmp_path / "mail")
    )

    def api(_environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("418 I'm a teapot", [])
        return [b"[]"]

    application = with_site(Site(settings, lambda: NOW), api)

    def call(**environ: str) -> tuple[str, dict[str, str], str]:
        given: dict[str, Any] = {
            "PATH_INFO": ADDRESS,
            "HTTP_HOST": "127.0.0.1:8000",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_ACCEPT": "text/html",
            **environ,
        }
        setup_testing_defaults(given)
        started: list[Any] = []
        parts = application(given, lambda *told: started.append(told))  # type: ignore[arg-type]
        status, headers = started[0]
        return status[:3], dict(headers), b"".join(parts).decode()

    return call


def carry(folder: Path, letter_id: str, subject: str, text: str, **more: str) -> None:
    letter = PostedLetter(letter_id, "ann@plaza.example", subject, text, "en", "key", **more)
    FolderCourier(folder / "mail").carry(letter)


def test_an_empty_mailbox_says_so(ask: Ask) -> None:
    status, _, body = ask()

    assert status == "200"
    assert "No letters yet." in body


def test_the_latest_letter_is_first_and_earlier_ones_are_counted(ask: Ask, tmp_path: Path) -> None:
    for number in range(52):
        carry(tmp_path, f"letter-{number}", f"Subject {number}.", "Hello.")
        os.utime(tmp_path / "mail" / f"letter-{number}.eml", (number, number))

    _, _, body = ask()

    assert body.index("Subject 51.") < body.index("Subject 50.") < body.index("Subject 2.")
    assert "Subject 1." not in body
    assert "And 2 earlier." in body
    assert f'href="{ADDRESS}/letter-51"' in body


def test_a_letter_is_shown_with_links_and_headers_and_its_markup_as_text(
    ask: Ask, tmp_path: Path
) -> None:
    text = 'Open https://plaza.example/confirm?a=1&b=2 <script>alert(1)</script> "x"'
    carry(tmp_path, "one", "Hello <b>Ann</b>", text)

    status, headers, body = ask(PATH_INFO=f"{ADDRESS}/one")

    assert status == "200"
    assert headers["Content-Security-Policy"] == POLICY
    address = "https://plaza.example/confirm?a=1&amp;b=2"
    assert f'<a href="{address}">{address}</a>' in body
    assert "Hello &lt;b&gt;Ann&lt;/b&gt;" in body
    assert "<title>Hello &lt;b&gt;Ann&lt;/b&gt; · " in body
    assert "<script>alert" not in body
    assert "To <bdi>ann@plaza.example</bdi>" in body
    assert "Content-Language: en" in body
    assert "<iframe" not in body
    assert "Unsubscribe</button>" not in body


def test_html_stands_in_a_frame_that_runs_and_loads_nothing(ask: Ask, tmp_path: Path) -> None:
    carry(tmp_path, "one", "Hello", "Hello.", html="<script>alert(1)</script><p>Ann</p>")

    _, _, body = ask(PATH_INFO=f"{ADDRESS}/one")
    status, headers, html = ask(PATH_INFO=f"{ADDRESS}/one/html")

    assert f'src="{ADDRESS}/one/html"' in body
    assert "alert(1)" not in body
    assert (status, headers["Content-Security-Policy"]) == ("200", FRAME_POLICY)
    assert "<p>Ann</p>" in html
    policy = dict(each.strip().partition(" ")[::2] for each in FRAME_POLICY.split(";"))
    assert policy["default-src"] == "'none'"
    assert "script-src" not in policy
    for sandbox in (policy["sandbox"], body.partition('sandbox="')[2].partition('"')[0]):
        assert set(sandbox.split()) == {"allow-popups", "allow-popups-to-escape-sandbox"}


def test_the_button_of_mail_programs_posts_to_the_letters_address(ask: Ask, tmp_path: Path) -> None:
    carry(tmp_path, "one", "Hello", "Hello.", stop_url="/notifications/mail/stop?token=a.b&c")

    _, _, body = ask(PATH_INFO=f"{ADDRESS}/one")

    form = '<form method="post" action="/notifications/mail/stop?token=a.b&amp;c">'
    button = '<button name="List-Unsubscribe" value="One-Click">Unsubscribe</button>'
    assert f"{form}{button}</form>" in body


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "mailto:a@b.example", "data:text/html,x"]
)
def test_no_other_address_gets_a_button(ask: Ask, tmp_path: Path, address: str) -> None:
    carry(tmp_path, "one", "Hello", "Hello.", stop_url=address)

    _, _, body = ask(PATH_INFO=f"{ADDRESS}/one")

    assert "Unsubscribe</button>" not in body


@pytest.mark.parametrize(
    "path",
    ["none", "one/html", "one/text", "../secret", "..%2Fsecret", "", "/", "one.eml", "x" * 999],
)
def test_a_letter_that_is_not_there_is_a_page_that_says_so(
    ask: Ask, tmp_path: Path, path: str
) -> None:
    carry(tmp_path, "one", "Hello", "Without HTML.")
    (tmp_path / "secret.eml").write_text("Subject: A secret\r\n\r\nHidden.")

    status, _, body = ask(PATH_INFO=f"{ADDRESS}/{path}")

    assert status == "404"
    assert "There is no such page" in body
    assert "ecret" not in body


@pytest.mark.parametrize("path", [ADDRESS, f"{ADDRESS}/one", f"{ADDRESS}/one/html"])
@pytest.mark.parametrize(
    "environ",
    [
        {"REMOTE_ADDR": "192.0.2.1"},
        {"HTTP_HOST": "rebound.example:8000"},
        {"HTTP_X_FORWARDED_FOR": "192.0.2.1"},
        {"HTTP_FORWARDED": "for=192.0.2.1"},
    ],
    ids=lambda environ: next(iter(environ)),
)
def test_no_other_machine_sees_the_letters(
    ask: Ask, tmp_path: Path, environ: dict[str, str], path: str
) -> None:
    carry(tmp_path, "one", "Hello", "Hello.", html="<p>Hello.</p>")

    status, _, body = ask(PATH_INFO=path, **environ)

    assert status == "403"
    assert "Hello" not in body
