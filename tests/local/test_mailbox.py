"""The mailbox of the demo newspaper: letters as text, for a browser of this machine alone."""

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
            "PATH_INFO": "/demo/mailbox",
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


def carry(folder: Path, letter_id: str, subject: str, text: str) -> None:
    letter = PostedLetter(letter_id, "ann@plaza.example", subject, text, "en", "key")
    FolderCourier(folder / "mail").carry(letter)


def test_an_empty_mailbox_says_so(ask: Ask) -> None:
    status, _, body = ask()

    assert status == "200"
    assert "No letters yet." in body


def test_a_letter_is_shown_as_text_with_links(ask: Ask, tmp_path: Path) -> None:
    text = 'Open https://plaza.example/confirm?a=1&b=2 <script>alert(1)</script> "x"'
    carry(tmp_path, "one", "Hello <b>Ann</b>", text)

    status, headers, body = ask()

    assert status == "200"
    assert headers["Content-Security-Policy"] == POLICY
    address = "https://plaza.example/confirm?a=1&amp;b=2"
    assert f'<a href="{address}">{address}</a>' in body
    assert "Hello &lt;b&gt;Ann&lt;/b&gt;" in body
    assert "<script>alert" not in body
    assert "To ann@plaza.example" in body


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
    ask: Ask, tmp_path: Path, environ: dict[str, str]
) -> None:
    carry(tmp_path, "one", "Hello", "Hello.")

    status, _, body = ask(**environ)

    assert status == "403"
    assert "Hello" not in body
