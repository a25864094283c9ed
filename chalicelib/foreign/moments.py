"""Times in the forms of export files: numbers, ISO 8601, mail dates, extended JSON."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

FIRST_YEAR, LAST_YEAR = 1970, 9998
# From here on, a number is milliseconds (1973): as seconds it would be the year 5138.
_LEAST_MILLISECONDS = 100_000_000_000
_FORM = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[T ]+(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?"
    r"\s*(?:(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)(?:\s+[A-Z][A-Za-z]*|\s+[+-]\d\d)?)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,12})?")
# Extended JSON of MongoDB, and the dates of LeanCloud.
_WRAPPED = ("$date", "$numberLong", "$numberDouble", "$numberInt", "iso")


def moment_of(value: Any, offset: timedelta = timedelta()) -> datetime | None:
    """Return the UTC time of a number of seconds or milliseconds, or of a text.

    None: no time, or a year outside `FIRST_YEAR` to `LAST_YEAR`. offset: the offset from UTC of a
    text that names none, such as `2020-01-31 12:00`; a mail date without an offset is in UTC.
    """
    value = unwrapped(value)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _of_number(value)
    text = str(value).strip()
    if _NUMBER.fullmatch(text):
        return _of_number(float(text))
    return _of_form(text, offset) or _of_mail(text)


def unwrapped(value: Any) -> Any:
    """Return the value inside objects such as {"$numberLong": "1"}."""
    for _ in range(len(_WRAPPED)):
        name = next((each for each in _WRAPPED if isinstance(value, Mapping) and each in value), "")
        if not name:
            return value
        value = value[name]
    return value


def _of_number(number: float) -> datetime | None:
    try:
        seconds = number / 1000 if abs(number) >= _LEAST_MILLISECONDS else float(number)
        return _within(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def _of_form(text: str, offset: timedelta) -> datetime | None:
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(each or 0) for each in found.groups()[:6])
    fraction = int((found[7] or "0")[:6].ljust(6, "0"))
    try:
        # A leap second is the last second of its minute.
        local = datetime(year, month, day, hour, minute, min(second, 59), fraction, UTC)
        return _within(local - _offset(found[8], offset))
    except (ValueError, OverflowError):
        return None


def _offset(zone: str | None, offset: timedelta) -> timedelta:
    if zone is None:
        return offset
    if zone[0] not in "+-":
        return timedelta()
    size = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:].lstrip(":") or 0))
    return -size if zone[0] == "-" else size


def _of_mail(text: str) -> datetime | None:
    """Return the time of a date as in mail headers and feeds (RFC 5322); None: no such date."""
    # WordPress writes the year -0001 for a missing time; the parser would read 2001.
    if " -0001 " in text:
        return None
    try:
        found = parsedate_to_datetime(text)
        return _within(found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC))
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _within(moment: datetime) -> datetime | None:
    """Return a time in whole milliseconds, as in BSON; None: its year is out of bounds."""
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        return None
    return moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)
