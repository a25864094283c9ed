"""The letters of this machine: a page of the newspaper that shows what Plaza sends."""

import re
from email import message_from_bytes
from email.policy import default
from html import escape
from pathlib import Path

ADDRESS = "/demo/mailbox"
TITLE = "Mailbox"
_SHOWN = 50
# A server without a public address writes links to itself.
_LINK = re.compile(r"(?:https?:/|^)/[^\s<>\"']+", re.MULTILINE)


def page(folder: str) -> str:
    """Return the letters of a folder as HTML, the latest first."""
    files = sorted(Path(folder).glob("*.eml"), key=_age)[:_SHOWN] if folder else []
    shown = "".join(map(_letter, files)) or "<p>No letters yet.</p>"
    return f'<div class="story"><h1>{TITLE}</h1>{shown}</div>'


def _age(file: Path) -> tuple[int, str]:
    return -file.stat().st_mtime_ns, file.name


def _letter(file: Path) -> str:
    letter = message_from_bytes(file.read_bytes(), policy=default)
    body = letter.get_body(("plain",))
    text = "" if body is None else body.get_content()
    return (
        f"<article><h2>{escape(str(letter['Subject']))}</h2>"
        f"<p>To {escape(str(letter['To']))}</p><p>{_with_links(text)}</p></article>"
    )


def _with_links(text: str) -> str:
    """Return a text as HTML whose addresses are links."""
    parts, end = [], 0
    for found in _LINK.finditer(text):
        address = escape(found.group())
        parts.append(escape(text[end : found.start()]))
        parts.append(f'<a href="{address}">{address}</a>')
        end = found.end()
    return "".join([*parts, escape(text[end:])]).replace("\n", "<br>")
