"""Tables as CSV files (RFC 4180) that spreadsheets open as they are."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

# The byte order mark: without it, spreadsheets decode a file in the code page of their machine.
_UTF_8_MARK = "\ufeff"
# OWASP, "CSV Injection"; Japanese spreadsheets also read the full-width signs as formulas. Where
# the decimal sign is a comma, spreadsheets begin a cell behind a semicolon.
_FORMULA = re.compile("(\\A|[;\t])([=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")


def as_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], tz: str) -> str:
    """Return rows as CSV with a header line; times are in the zone `tz`, with their offset.

    An apostrophe precedes each text that a spreadsheet would read as a formula.
    """
    text, zone = io.StringIO(), ZoneInfo(tz)
    text.write(_UTF_8_MARK)
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value, zone) for name, value in row.items()})
    return text.getvalue()


def _cell(value: Any, zone: ZoneInfo) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(zone).isoformat()
    if not isinstance(value, str):
        return value
    return _FORMULA.sub(r"\1'\2", value)
