"""The local mailbox: pages of the newspaper that show the letters Plaza sends.

Strangers write parts of letters. A letter's HTML stands in a frame that runs no script, sends no
form and loads nothing.
"""

import re
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from html import escape
from pathlib import Path
from typing import Any

ADDRESS = "/demo/mailbox"
# A link opens a page of its own, with its usual rights.
_SANDBOX = "allow-popups allow-popups-to-escape-sandbox"
FRAME_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    f"form-action 'none'; frame-ancestors 'self'; sandbox {_SANDBOX}"
)
_TITLE = "Mailbox"
_NO_LETTERS = (
    "<p>No letters yet. Press the bell as a reader, and choose <b>By e-mail</b>; "
    "then have someone else reply to their comment.</p>"
)
_MOST_SHOWN = 50
_ID = re.compile(rf"{ADDRESS}/(?P<id>[A-Za-z0-9_-]{{1,100}})(?P<is_frame>/html)?", re.ASCII)
# Without a public address, a server's links begin with a slash.
_LINK = re.compile(r"(?:https?:/|^|(?<= ))/[^\s<>\"']+", re.MULTILINE)
_ONE_CLICK = re.compile(r"<((?:https?:/)?/[^\s<>\"']+)>", re.ASCII)


def is_address(path: str) -> bool:
    """Return whether a path is of the mailbox."""
    return path == ADDRESS or path.startswith(f"{ADDRESS}/")


def page(folder: str, path: str) -> tuple[str, str] | None:
    """Return the title and the HTML of the list, or of a letter; None: no such letter."""
    if path == ADDRESS:
        return _TITLE, _list(folder)
    found = _find(folder, path)
    return (_subject(_read(found)), _letter(found)) if found else None


def frame(folder: str, path: str) -> str | None:
    """Return the HTML part of a letter as a document, whose links open beside it; None: none."""
    found = _find(folder, path, is_frame=True)
    html = _part(_read(found), "html") if found else ""
    # A second doctype has no effect; the first `<base>` stands.
    return f'<!doctype html><base target="_blank">{html}' if html else None


def _find(folder: str, path: str, *, is_frame: bool = False) -> Path | None:
    named = _ID.fullmatch(path)
    if not folder or named is None or bool(named["is_frame"]) is not is_frame:
        return None
    file = Path(folder) / f"{named['id']}.eml"
    return file if file.is_file() else None


def _list(folder: str) -> str:
    """Return the latest letters, each with a link."""
    files = sorted(Path(folder).glob("*.eml"), key=_age) if folder else []
    rows = "".join(map(_row, files[:_MOST_SHOWN]))
    shown = f'<ul class="found">{rows}</ul>' if rows else _NO_LETTERS
    left_out = f"<p>And {n} earlier.</p>" if (n := len(files) - _MOST_SHOWN) > 0 else ""
    about = "<p>Mail that Plaza sends from this machine comes here, and goes nowhere else.</p>"
    return f'<div class="story"><h1>{_TITLE}</h1>{about}{shown}{left_out}</div>'


def _age(file: Path) -> tuple[int, str]:
    return -file.stat().st_mtime_ns, file.name


def _row(file: Path) -> str:
    letter = _read(file)
    link = f'<a href="{ADDRESS}/{escape(file.stem)}"><bdi>{escape(_subject(letter))}</bdi></a>'
    return f"<li><h2>{link}</h2><p>{_byline(file, letter)}</p></li>"


def _byline(file: Path, letter: EmailMessage) -> str:
    came = datetime.fromtimestamp(file.stat().st_mtime, UTC).astimezone()
    return f"To <bdi>{escape(_head(letter, 'To'))}</bdi>, {came:%d %B %Y, %H:%M:%S}"


def _letter(file: Path) -> str:
    """Return a letter: its HTML in a frame, its text with links, and its headers."""
    letter = _read(file)
    subject = escape(_subject(letter))
    heads = escape(file.read_bytes().partition(b"\r\n\r\n")[0].decode("ascii", "replace"))
    frame = (
        f'<iframe class="letter" title="The letter as HTML" sandbox="{_SANDBOX}" '
        f'src="{ADDRESS}/{escape(file.stem)}/html"></iframe><h2>As text</h2>'
    )
    return (
        f'<div class="story"><p class="byline"><a href="{ADDRESS}">All letters</a></p>'
        f'<h1><bdi>{subject}</bdi></h1><p class="byline">{_byline(file, letter)}</p>'
        f"{_unsubscribe(letter)}{frame if _part(letter, 'html') else ''}"
        f'<div class="letter" dir="auto">{_with_links(_part(letter, "plain"))}</div>'
        f"<details><summary>Headers</summary><pre>{heads}</pre></details></div>"
    )


def _unsubscribe(letter: EmailMessage) -> str:
    """Return the button that mail programs show for a letter, with their request (RFC 8058)."""
    found = _ONE_CLICK.search(_head(letter, "List-Unsubscribe"))
    name, _, value = _head(letter, "List-Unsubscribe-Post").partition("=")
    if found is None or (name, value) != ("List-Unsubscribe", "One-Click"):
        return ""
    button = f'<button name="{name}" value="{value}">Unsubscribe</button>'
    return f'<form method="post" action="{escape(found[1])}">{button}</form>'


def _read(file: Path) -> EmailMessage:
    return message_from_bytes(file.read_bytes(), _class=EmailMessage, policy=default)


def _subject(letter: EmailMessage) -> str:
    return _head(letter, "Subject") or "(no subject)"


def _head(letter: EmailMessage, name: str) -> str:
    return str(letter[name] or "")


def _part(letter: EmailMessage, subtype: str) -> str:
    """Return the text of a kind in a letter; "" without one."""
    body: Any = letter.get_body((subtype,))
    return "" if body is None else str(body.get_content())


def _with_links(text: str) -> str:
    """Return a text as HTML whose addresses are links."""
    parts, end = [], 0
    for found in _LINK.finditer(text):
        address = escape(found.group())
        parts.append(escape(text[end : found.start()]))
        parts.append(f'<a href="{address}">{address}</a>')
        end = found.end()
    return "".join([*parts, escape(text[end:])])
