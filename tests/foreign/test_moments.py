"""Times in the forms of every format."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.foreign.moments import moment_of

NOON = datetime(2020, 7, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2020-07-02T12:00:00Z", NOON),
        ("2020-07-02T12:00:00", NOON),
        ("2020-07-02 12:00:00", NOON),
        ("2020-07-02 12:00", NOON),
        ("2020-07-02T14:00:00+02:00", NOON),
        ("2020-07-02T06:30:00.000000000-05:30", NOON),
        ("2020-07-02 20:00:00 +0800", NOON),
        ("2020-07-02 20:00:00 +0800 CST", NOON),
        ("2020-07-02 14:00:00 +0200 +02", NOON),
        ("2020-07-02 14:00:00 +02", NOON),
        ("2020-07-02 14:00:00+02", NOON),
        ("2020-07-02 06:30:00.5-05:30", NOON + timedelta(milliseconds=500)),
        ("2020-07-02 12:00:00 +0000 UTC", NOON),
        # Names of zones are not unique, and in UTC the time would be hours off.
        ("2020-07-02 12:00:00 EST", None),
        ("2020-07-02T12:00:00.123456789Z", NOON + timedelta(milliseconds=123)),
        ("2020-07-02T11:59:60Z", NOON - timedelta(seconds=1)),
        ("Thu, 02 Jul 2020 14:00:00 +0200", NOON),
        (1_593_691_200, NOON),
        (1_593_691_200.25, NOON + timedelta(milliseconds=250)),
        ("1593691200.0", NOON),
        (1_593_691_200_000, NOON),
        ({"$numberLong": "1593691200000"}, NOON),
        ({"$date": {"$numberLong": "1593691200000"}}, NOON),
        ({"$date": "2020-07-02T12:00:00Z"}, NOON),
        ({"__type": "Date", "iso": "2020-07-02T12:00:00.000Z"}, NOON),
        ("2020-07-02", NOON.replace(hour=0)),
        ("0000-00-00 00:00:00", None),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59Z", None),
        ("2020-02-30T00:00:00Z", None),
        ("", None),
        ("yesterday", None),
        (None, None),
        (True, None),
        (float("inf"), None),
        (1e300, None),
        ("9" * 400, None),
        ([], None),
        ({}, None),
    ],
)
def test_a_time_is_read_in_each_form(value: Any, expected: datetime | None) -> None:
    assert moment_of(value) == expected


def test_a_local_time_is_less_its_offset() -> None:
    assert moment_of("2020-07-02 14:00:00", timedelta(hours=2)) == NOON
    assert moment_of("2020-07-02T12:00:00Z", timedelta(hours=2)) == NOON


@given(
    value=st.text(max_size=40) | st.floats() | st.integers() | st.dictionaries(st.text(), st.none())
)
def test_any_value_is_a_time_or_none(value: Any) -> None:
    found = moment_of(value)

    assert found is None or found.tzinfo is UTC
