"""Ranges of bytes that a request asks for (RFC 9110, section 14); pure."""

import re
from typing import NamedTuple

from chalicelib.assets.errors import UnsatisfiableRange
from chalicelib.http.responses import MAX_BINARY_BYTES

MOST_BYTES = MAX_BINARY_BYTES
# No number of bytes has more digits.
_RANGE = re.compile(r"bytes=\s*([0-9]{0,18})-([0-9]{0,18})\s*", re.IGNORECASE)


class Span(NamedTuple):
    """Bytes from `start` up to, and without, `end`."""

    start: int
    end: int

    def told(self, length: int) -> str:
        """Return Content-Range."""
        return f"bytes {self.start}-{self.end - 1}/{length}"


def span_of(header: str | None, length: int) -> Span | None:
    """Return the bytes that a Range header asks for, at most MOST_BYTES of them.

    None stands for the whole: without a header, for another unit, for several ranges, and for what
    is no range. Raises UnsatisfiableRange for a range with no byte of the file.
    """
    found = _RANGE.fullmatch(header or "")
    if found is None or not any(found.groups()):
        return None
    first, last = found.groups()
    if not first:
        start, end = max(0, length - int(last)), length
    else:
        start, end = int(first), min(length, int(last) + 1) if last else length
    if start >= end:
        raise UnsatisfiableRange(length)
    return Span(start, min(end, start + MOST_BYTES))
