"""Foreign texts in the form that Plaza stores: printable, with plain newlines, within bounds."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from chalicelib.comments.importing.shapes import (
    MAX_SAMPLE_CHARACTERS,
    ImportedAuthor,
    Skipped,
)
from chalicelib.foreign.moments import unwrapped

MAX_LINE_CHARACTERS = 500
MAX_URL_CHARACTERS = 2_000
MAX_EMAIL_CHARACTERS = 254
# A larger number of votes is a mistake of the file.
MOST_VOTES = 10**9
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_EMAIL = re.compile(r"[^\s@<>\"]+@[^\s@<>\"]+")
_NO_URL = re.compile(r"[\s\x00-\x1f\x7f<>\"\\^`{|}]")
_TRUE = frozenset({"true", "1", "yes"})


def text_of(value: Any) -> str:
    """Return a text or number as a text with plain newlines; other values become empty.

    Removes halves of surrogate pairs, newlines at both ends, and all control characters except
    tabs and inner newlines.
    """
    if not isinstance(value, str):
        return "" if value is None or isinstance(value, Mapping | list | bool) else str(value)
    return _CONTROLS.sub("", value.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")


def line_of(value: Any, most: int = MAX_LINE_CHARACTERS) -> str:
    """Return a text on one line, cut to `most` characters."""
    return " ".join(text_of(value).split())[:most].rstrip()


def key_of(value: Any) -> str:
    """Return an id, also of MongoDB's extended JSON, as a text; empty for none."""
    value = unwrapped(value)
    if isinstance(value, Mapping):
        value = value.get("$oid")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return line_of(value)


def id_or_none(value: Any) -> str | None:
    """Return an id as a text; None for 0 or an empty value, which mean no id."""
    key = key_of(value)
    return None if key in {"", "0"} else key


def page_key_of(address: Any) -> str:
    """Return the key of a page: its address, or the hash of a long address."""
    text = text_of(address)
    if len(text) <= MAX_LINE_CHARACTERS:
        return key_of(address)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def email_of(value: Any) -> str | None:
    """Return an email address in lower case; None for any other text."""
    text = line_of(value, MAX_EMAIL_CHARACTERS + 1).lower()
    return text if len(text) <= MAX_EMAIL_CHARACTERS and _EMAIL.fullmatch(text) else None


def url_of(value: Any) -> str | None:
    """Return an absolute address or a path; None for any other text."""
    text = text_of(value).strip()
    if text.startswith("//"):
        text = f"https:{text}"
    if not text or len(text) > MAX_URL_CHARACTERS or _NO_URL.search(text):
        return None
    if text.startswith("/"):
        return text
    try:
        parts = urlsplit(text)
        is_url = parts.scheme.lower() in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return None
    return text if is_url else None


def number_of(value: Any) -> int:
    """Return an integer within ±MOST_VOTES; 0 for a value that is no number."""
    value = unwrapped(value)
    try:
        number = float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return 0
    return int(max(-MOST_VOTES, min(MOST_VOTES, number))) if number == number else 0  # noqa: PLR0124


def is_true(value: Any) -> bool:
    """Return whether a value means yes: true, a number but 0, or the text true, 1 or yes."""
    value = unwrapped(value)
    return value.strip().lower() in _TRUE if isinstance(value, str) else bool(value)


def author_of(name: Any, *, account: Any = None, email: Any = None) -> ImportedAuthor | None:
    """Return an author; None if the file has neither a name, nor an account, nor an address."""
    author = ImportedAuthor(
        account=key_of(account) or None, name=line_of(name), email=email_of(email)
    )
    return author if author.account or author.name or author.email else None


def votes_of_score(score: int) -> tuple[int, int]:
    """Return the least votes for and against with this difference."""
    return max(score, 0), max(-score, 0)


def skip(reason: str, where: str, sample: Any) -> Skipped:
    """Return the item for a part that does not come over, with its first characters."""
    return Skipped(reason=reason, where=where, sample=line_of(sample, MAX_SAMPLE_CHARACTERS))
