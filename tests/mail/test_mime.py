"""Letters as other programs read them: by the parser of the standard library."""

import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest

from chalicelib.mail.mime import PostedLetter, message_of

SENDER = "plaza@plaza.example"
STOP_URL = "https://plaza.example/notifications/mail/stop?token=" + "A1-_" * 150
PLAIN = PostedLetter("one", "ann@plaza.example", "Hello", "Hello.\n", "en", "a-key")
# Right to left, an override of direction, an emoji, and words that header encoders know.
HARD = (
    "=?utf-8?q?Hello?= \u202e\u05e9\u05dc\u05d5\u05dd\u202c \U0001f30a: <b>\u201cAnn\u201d</b>; "
    * 5
)


def parsed(**changes: str) -> EmailMessage:
    given: Any = message_from_bytes(message_of(PLAIN._replace(**changes), SENDER), policy=default)
    assert not given.defects
    return given  # type: ignore[no-any-return]


def test_a_letter_names_its_sender_its_reader_and_its_language() -> None:
    letter = parsed()

    heads = [letter[name] for name in ("From", "To", "Subject", "Content-Language")]
    assert heads == [SENDER, "ann@plaza.example", "Hello", "en"]
    assert letter["Auto-Submitted"] == "auto-generated"
    assert (letter.get_content_type(), letter.get_content()) == ("text/plain", "Hello.\r\n")


def test_a_letter_has_its_html_beside_its_text() -> None:
    letter = parsed(html="<p>Hello.</p>\n")

    assert letter.get_content_type() == "multipart/alternative"
    text, html = letter.iter_parts()
    assert [each.get_content_type() for each in (text, html)] == ["text/plain", "text/html"]
    assert html.get_content() == "<p>Hello.</p>\r\n"


@pytest.mark.parametrize("text", [HARD, "\r\n.\r\nFrom me\r\n", "x" * 5_000, "\u00fc" * 5_000, ""])
def test_any_text_comes_as_it_is_in_short_lines_of_ascii(text: str) -> None:
    raw = message_of(PLAIN._replace(text=text, html=text, subject=HARD.strip()), SENDER)
    letter: Any = message_from_bytes(raw, policy=default)

    assert raw.isascii()
    assert max(map(len, raw.split(b"\r\n"))) <= 78
    assert b"\n" not in raw.replace(b"\r\n", b"")
    assert letter["Subject"] == HARD.strip()
    for part in letter.iter_parts():
        assert part.get_content().replace("\r\n", "\n") == text.replace("\r\n", "\n") + (
            "" if text.endswith("\n") or not text else "\n"
        )


def test_a_letter_can_be_turned_off_by_one_post() -> None:
    """RFC 8058, section 3.1: one address of https, whole, and the fixed pair beside it."""
    raw = message_of(PLAIN._replace(stop_url=STOP_URL), SENDER)

    assert f"\r\nList-Unsubscribe: <{STOP_URL}>\r\n".encode() in raw
    assert b"\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" in raw
    assert parsed(stop_url=STOP_URL)["List-Unsubscribe"] == f"<{STOP_URL}>"


def test_a_letter_without_such_an_address_has_neither_header() -> None:
    letter = parsed()

    assert letter["List-Unsubscribe"] is None
    assert letter["List-Unsubscribe-Post"] is None


def test_a_long_address_stays_whole() -> None:
    to = f"{'a' * 64}@{'b' * 60}.{'c' * 60}.example"

    assert re.search(
        rb"^To:\s+" + to.encode() + rb"\r$", message_of(PLAIN._replace(to=to), SENDER), re.MULTILINE
    )


@pytest.mark.parametrize(
    "subject",
    ["=?utf-8?q?Hello=0D=0ABcc:_bob@plaza.example?=", "=?utf-8?q?Hello", "a b" * 60, "=?=" * 60],
)
def test_a_subject_is_text_whatever_it_looks_like(subject: str) -> None:
    letter = parsed(subject=subject)

    assert letter["Subject"] == subject
    assert letter["Bcc"] is None


@pytest.mark.parametrize("name", ["to", "subject", "language", "stop_url"])
@pytest.mark.parametrize("ending", ["\r\n", "\n", "\r"])
def test_no_line_break_makes_another_header(name: str, ending: str) -> None:
    hostile = f"ann@plaza.example{ending}Bcc: bob@plaza.example"

    with pytest.raises(ValueError, match=r"linefeed|line"):
        message_of(PLAIN._replace(**{name: hostile}), SENDER)
