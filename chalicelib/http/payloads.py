"""Payload size: Lambda fails an invocation whose answer is over 6 MB."""

import json
from collections.abc import Sequence
from typing import Any

import orjson

# Below Lambda's 6,291,556 bytes, with room for headers and for the JSON around the rows.
MAX_BYTES = 5_500_000
# The body is a string in the payload's own JSON, whose runtimes up to Python 3.11 write ASCII:
# four bytes of UTF-8 become twelve, and a quotation mark escaped once is escaped again.
_BYTES_A_BYTE = 3
BYTES_A_CHARACTER = 12


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
