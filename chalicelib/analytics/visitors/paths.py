"""Paths of pages, as they are counted: one page has one path, however its address was written."""

from typing import Annotated
from urllib.parse import unquote

from pydantic import AfterValidator, Field, StringConstraints

from chalicelib.texts import is_one_line, normalized

MAX_BYTES = 512
# As it is sent: percent-encoded, and with its query, of which only the campaign is read.
MAX_SENT_CHARACTERS = 4_096
_DOT_SEGMENTS = (".", "..")


def clean(address: str) -> str:
    """Return the path of a page's address: decoded, in NFC, without query, fragment, last slash.

    Raises ValueError for one that is not absolute, that no browser sends, or that is too long.
    """
    if not address.startswith("/"):
        raise ValueError("a path must begin with a slash")
    raw = address.partition("#")[0].partition("?")[0]
    try:
        path = normalized(unquote(raw, errors="strict"))
        size_bytes = len(path.encode())
    except UnicodeError:
        raise ValueError("a path must be UTF-8") from None
    if not is_one_line(path):
        raise ValueError("control characters are not allowed")
    # A browser resolves them before it asks for a page.
    if any(segment in _DOT_SEGMENTS for segment in path.split("/")):
        raise ValueError("a path must not have the segments . and ..")
    if size_bytes > MAX_BYTES:
        raise ValueError(f"a path must have at most {MAX_BYTES} bytes")
    return path.rstrip("/") or "/"


def _checked(address: str) -> str:
    clean(address)
    return address


# As a page sends it; `clean` gives what is counted.
PageAddress = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_SENT_CHARACTERS),
    AfterValidator(_checked),
    Field(
        description="The page's path, with its query: of that, only the campaign is read.",
        examples=["/ferry-timetable?utm_source=letter"],
    ),
]
# A path that is asked for; `*other*` is what a site's paths beyond a day's number count as.
Path = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_SENT_CHARACTERS),
    AfterValidator(lambda path: path if path == "*other*" else clean(path)),
    Field(description="A page's path, as it is counted.", examples=["/ferry-timetable"]),
]
