"""Paths of pages in counts: one page has one path, in whatever form its address comes."""

import re
from typing import Annotated
from urllib.parse import unquote_to_bytes

from pydantic import AfterValidator, Field, StringConstraints

from chalicelib.analytics.hits import OTHER
from chalicelib.texts import normalise

MAX_BYTES = 512
# Of a request's address: percent-encoded, and with its query.
MAX_SENT_CHARACTERS = 4_096
_DOT_SEGMENTS = (".", "..")
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
# Decoded, these would end a path, begin an escape or break a line; bytes that are no UTF-8 are
# surrogates here. They stay encoded, so that cleaning a path again changes nothing.
_ENCODED = re.compile("[%?#\x00-\x1f\x7f-\x9f\u2028\u2029\udc80-\udcff]")

_ESCAPE = re.compile("(%[0-9A-F]{2})")


def clean(address: str) -> str:
    """Return the path of a page's address: decoded, in NFC, without query, fragment, last slash.

    `clean(clean(address)) == clean(address)`: a path is an address of its page. Raises ValueError
    for an address that begins without a slash or that no browser sends, and for too long a path.
    """
    if not address.startswith("/"):
        raise ValueError("a path must begin with a slash")
    raw = address.partition("#")[0].partition("?")[0]
    if not (raw.isascii() and raw.isprintable()) or "%" in raw:
        raw = _decode(raw)
    # A browser resolves dot segments before its request.
    if any(segment in _DOT_SEGMENTS for segment in raw.split("/")):
        raise ValueError("a path must not have the segments . and ..")
    path = raw.rstrip("/") or "/"
    if len(path.encode()) > MAX_BYTES:
        raise ValueError(f"a path must have at most {MAX_BYTES} bytes")
    return path


def find(address: str) -> str | None:
    """Return the path of a page's address; None for an invalid address."""
    try:
        return clean(address)
    except ValueError:
        return None


def replace_surrogates(text: str) -> str:
    """Return a text with U+FFFD for each lone surrogate, as browsers do in URLs."""
    return _LONE_SURROGATES.sub("\ufffd", text)


def _decode(raw: str) -> str:
    sent = unquote_to_bytes(replace_surrogates(raw))
    return _ENCODED.sub(_escape, normalise(sent.decode(errors="surrogateescape")))


def _escape(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode(errors="surrogateescape"))


def _check_name(name: str) -> str:
    """Return the stored form of a report's path: in NFC, and without slashes at its end except `/`.

    Raises ValueError for a path without a first slash.
    """
    if name == OTHER:
        return name
    if not name.startswith("/"):
        raise ValueError("a path must begin with a slash")
    # An escape is no text: its last letter must not join a mark behind it.
    parts = [normalise(part) for part in _ESCAPE.split(name)]
    return "".join(parts).rstrip("/") or "/"


# A page's address in a browser's form.
Path = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_SENT_CHARACTERS),
    AfterValidator(lambda path: path if path == OTHER else clean(path)),
    Field(description="A page's path, as its address has it.", examples=["/ferry-timetable"]),
]
# Never cleaned: `/?spam`, stored by an earlier release, must not mean the front page.
PathName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_SENT_CHARACTERS),
    AfterValidator(_check_name),
    Field(
        description="A page's path, exactly as reports show it; `*other*` for all paths that have "
        "no name of their own.",
        examples=["/ferry-timetable"],
    ),
]
