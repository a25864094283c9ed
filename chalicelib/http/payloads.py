"""Payload size: Lambda fails an invocation whose answer is over 6 MB."""

import json
from collections.abc import Sequence
from typing import Any

import orjson

# Below Lambda's 6,291,556 bytes, with room for headers and for the JSON around the body.
MAX_BYTES = 5_500_000
# The body is a string in the payload's own JSON, whose runtimes up to Python 3.11 write ASCII:
# four bytes of UTF-8 become twelve, and a quotation mark escaped once is escaped again.
_BYTES_A_BYTE = 3
BYTES_A_CHARACTER = 12
# A control character, which bodies of JSON have as an escape already.
_BYTES_AN_ASCII_CHARACTER = 6
# Bytes that are no text: 5.6 MB in base64, as they are sent.
MAX_BINARY_BYTES = 4 * 1024 * 1024


def sent_bytes(body: str | bytes) -> int:
    """Return the bytes of a body as Lambda sends it: a string in JSON, or base64."""
    return 4 * ((len(body) + 2) // 3) if isinstance(body, bytes) else len(json.dumps(body))


def fits(body: str | bytes) -> bool:
    """Return whether one answer can have this body.

    Nearly every body is known to fit by its length, which takes no second look at its text.
    """
    if isinstance(body, bytes):
        return len(body) <= MAX_BINARY_BYTES
    a_character = _BYTES_AN_ASCII_CHARACTER if body.isascii() else BYTES_A_CHARACTER
    return a_character * len(body) + len('""') <= MAX_BYTES or sent_bytes(body) <= MAX_BYTES


def fewer_rows(rows: int, size: int) -> int:
    """Return how many rows to try in place of so many, whose answer had this size: at least one.

    At most half as many, since a page may have had fewer rows than its limit.
    """
    return max(1, min(rows // 2, rows * MAX_BYTES // size))


def fitting(rows: Sequence[Any]) -> int:
    """Return how many of these JSON values, from the first, fit into one answer: at least one."""
    if _BYTES_A_BYTE * len(orjson.dumps(rows)) <= MAX_BYTES:
        return len(rows)
    size = 0
    for number, row in enumerate(rows):
        size += len(json.dumps(orjson.dumps(row).decode()))
        if number and size > MAX_BYTES:
            return number
    return len(rows)
