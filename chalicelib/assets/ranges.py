"""Ranges of bytes in requests (RFC 9110, section 14); pure."""

import re
from typing import NamedTuple

from chalicelib.assets.errors import UnsatisfiableRange
from chalicelib.http.responses import MAX_BINARY_BYTES

MOST_BYTES = MAX_BINARY_BYTES
# 18 digits: no length of a file has more.
_RANGE = re.compile(r"bytes=\s*([0-9]{0,18})-([0-9]{0,18})\s*", re.IGNORECASE)


class ByteRange(NamedTuple):
    """A range of bytes from `start`, inclusive, to `end`, exclusive."""

    start: int
    end: int

    def content_range(self, length: int) -> str:
        """Return the value of Content-Range for a file of this length."""
        return f"bytes {self.start}-{self.end - 1}/{length}"


def span_of(header: str | None, length: int) -> ByteRange | None:
    """Return the range of a Range header, cut to MOST_BYTES; None: the whole file.

    A missing header, another unit, several ranges and malformed text return None. Raises
    UnsatisfiableRange for a range without a byte of the file, or with an end before its start.
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
    return ByteRange(start, min(end, start + MOST_BYTES))
