"""Instants that a client names: an answer's instant is accepted again."""

from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from chalicelib.instants import MAX_INSTANT, Instant

INSTANT: TypeAdapter[datetime] = TypeAdapter(Instant)


@pytest.mark.parametrize(
    "text",
    [
        "2000-01-01T00:00:00Z",
        "1999-12-31T23:59:59.999-01:00",
        "2100-12-31T23:59:59.999Z",
        "2101-01-01T00:30:00+01:00",
    ],
)
def test_the_year_is_that_in_utc(text: str) -> None:
    found = INSTANT.validate_python(text)

    assert found < MAX_INSTANT
    assert INSTANT.validate_python(found.isoformat()) == found
    assert found.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "1999-12-31T23:59:59.999Z",
        "2000-01-01T00:00:00+00:01",
        "2101-01-01T00:00:00Z",
        "2100-12-31T23:59:59-00:01",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2026-03-01T12:00:00",
    ],
)
def test_other_years_and_times_without_an_offset_are_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        INSTANT.validate_python(text)
