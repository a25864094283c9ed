"""Instants that clients name, as a pydantic type: in UTC, to the millisecond, within bounds."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime

_YEARS = range(2000, 2101)


def _instant(time: datetime) -> datetime:
    """Return the time in UTC to the millisecond, as BSON will give it back."""
    if time.year not in _YEARS:
        raise ValueError(f"the year must be between {_YEARS.start} and {_YEARS.stop - 1}")
    return time.astimezone(UTC).replace(microsecond=time.microsecond // 1000 * 1000)


Instant = Annotated[AwareDatetime, AfterValidator(_instant)]
