"""Instants in UTC, to the millisecond: in requests, and in cursors."""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
_YEARS = range(2000, 2101)
# After every instant that a client can name.
MAX_INSTANT = datetime(_YEARS.stop, 1, 1, tzinfo=UTC)


def _to_instant(time: datetime) -> datetime:
    """Return the time in UTC in whole milliseconds; ValueError for a year outside `_YEARS`."""
    # Python converts no time of its first or last year.
    if _YEARS.start - 1 <= time.year <= _YEARS.stop:
        found = in_utc(time)
        if found.year in _YEARS:
            return found
    raise ValueError(f"the year must be between {_YEARS.start} and {_YEARS.stop - 1}")


def _as_date(text: Any) -> Any:
    """Return a date's text; ValueError for a time: pydantic would cut a midnight to a date."""
    if isinstance(text, str) and len(text) != len("2026-03-01"):
        raise ValueError("an instant needs its offset")
    return text


def _in_years(day: date) -> date:
    if day.year not in _YEARS:
        raise ValueError(f"the year must be between {_YEARS.start} and {_YEARS.stop - 1}")
    return day


Instant = Annotated[AwareDatetime, AfterValidator(_to_instant)]
# An instant with its offset, or a date: its midnight in the time zone of the query.
Bound = Annotated[
    Instant | Annotated[date, BeforeValidator(_as_date), AfterValidator(_in_years)],
    Field(union_mode="left_to_right"),
]


def start_of_day(time: datetime) -> datetime:
    """Return the midnight (UTC) of a time's day."""
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


def in_utc(time: datetime) -> datetime:
    """Return a time in UTC, cut to the millisecond: as MongoDB stores it."""
    return time.astimezone(UTC).replace(microsecond=time.microsecond // 1000 * 1000)


def milliseconds(time: datetime) -> int:
    """Return a time as whole milliseconds since 1970, rounded down."""
    return (time - _EPOCH) // MILLISECOND


def moment(since_epoch: int) -> datetime:
    """Return the time of milliseconds since 1970."""
    return _EPOCH + since_epoch * MILLISECOND
