"""Ranges, compared with slices of bytes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chalicelib.assets import ranges
from chalicelib.assets.errors import UnsatisfiableRange

LENGTHS = st.one_of(st.integers(1, 30), st.integers(1, 3 * ranges.MOST_BYTES))
NUMBERS = st.one_of(st.none(), st.integers(0, 40), st.integers(0, 3 * ranges.MOST_BYTES))


@example(length=2 * ranges.MOST_BYTES + 1, first=0, last=None)
@example(length=2 * ranges.MOST_BYTES, first=None, last=ranges.MOST_BYTES + 1)
@given(length=LENGTHS, first=NUMBERS, last=NUMBERS)
def test_a_range_is_the_slice_that_the_standard_says(
    length: int, first: int | None, last: int | None
) -> None:
    header = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    numbers = range(length)
    if first is None:
        wanted = numbers[length - min(last or 0, length) :]
    else:
        wanted = numbers[first : length if last is None else last + 1]

    if first is None and last is None:
        assert ranges.span_of(header, length) is None
    elif not wanted:
        with pytest.raises(UnsatisfiableRange) as refused:
            ranges.span_of(header, length)
        assert refused.value.headers == {"Content-Range": f"bytes */{length}"}
    else:
        span = ranges.span_of(header, length)
        assert span == (wanted.start, min(wanted.stop, wanted.start + ranges.MOST_BYTES))
        assert span.content_range(length) == f"bytes {span.start}-{span.end - 1}/{length}"


@pytest.mark.parametrize(
    "header",
    [
        *(None, "", "bytes", "bytes=", "bytes=-", "lines=1-2", "bytes=a-b", "bytes=1", "bytes 1-2"),
        *("bytes=1-2,4-5", "bytes=--1", "bytes=+1-2", "bytes=1-2-3", "bytes=٣-٤"),
        f"bytes=0-{'9' * 19}",
    ],
)
def test_what_is_no_single_range_of_bytes_is_the_whole(header: str | None) -> None:
    assert ranges.span_of(header, 10) is None


@pytest.mark.parametrize("header", ["bytes=5-2", "bytes=-0", "bytes=10-", "bytes=10-11"])
def test_a_range_without_a_byte_is_refused(header: str) -> None:
    with pytest.raises(UnsatisfiableRange):
        ranges.span_of(header, 10)
