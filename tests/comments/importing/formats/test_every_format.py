"""What holds of the parser of every format."""

import gzip
import io
import random
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.comments.importing.formats.detection import HEAD_BYTES, PARSERS, detect
from chalicelib.comments.importing.shapes import (
    MAX_SAMPLE_CHARACTERS,
    ImportedComment,
    ImportedThread,
    Item,
    Skipped,
)
from chalicelib.foreign.broken import BrokenFile
from tests.comments.importing.support.reading import comments, read, threads, written
from tests.comments.importing.support.written_discussion import discussion
from tests.comments.importing.support.written_files import NAMES, format_of

EVERY = pytest.mark.parametrize("name", NAMES)
# Formats with a comment on each line, and no sign of the last.
OPEN_ENDED = {"remark42"}
COUNT = 250


@EVERY
def test_each_comment_comes_over_whole(name: str) -> None:
    items = read(name, written(name, COUNT))

    found = comments(items)
    assert [
        (each.key, each.parent, each.posted, each.author and each.author.name, each.text)
        for each in found
    ] == [(each.key, each.parent, each.posted, each.name, each.text) for each in discussion(COUNT)]
    assert {each.state for each in found} == {"visible"}
    assert len(items) == COUNT + len(threads(items))


@EVERY
def test_a_thread_comes_before_its_comments(name: str) -> None:
    known: dict[str, str | None] = {}
    for item in read(name, written(name, COUNT)):
        if isinstance(item, ImportedThread):
            assert item.key not in known
            known[item.key] = item.url
        elif isinstance(item, ImportedComment):
            number = (int(item.key) - 1) // 100
            url = known[item.thread] or ""
            assert url.removeprefix("https://blog.example") == f"/posts/{number}/"
    assert len(known) == 3


@EVERY
def test_a_file_may_be_compressed(name: str) -> None:
    plain = written(name, 30)

    assert read(name, gzip.compress(plain)) == read(name, plain)
    assert detect(gzip.compress(plain)[:HEAD_BYTES]) == format_of(name)


@EVERY
def test_a_format_is_known_by_the_beginning_of_a_file(name: str) -> None:
    assert detect(written(name, 30)[:HEAD_BYTES]) == format_of(name)
    assert detect(written(name, 30)[:700]) == format_of(name)


@EVERY
def test_a_file_that_was_cut_off_is_broken_wherever_it_ends(name: str) -> None:
    whole = written(name, 6).rstrip()
    for end in random.Random(7).sample(range(len(whole)), min(200, len(whole))):
        if format_of(name) in OPEN_ENDED and whole[end : end + 1] == b"\n":
            continue
        with pytest.raises(BrokenFile) as fault:
            read(name, whole[:end])
        assert fault.value.where


@EVERY
def test_a_compressed_file_that_was_cut_off_is_broken(name: str) -> None:
    packed = gzip.compress(written(name, 30))
    for end in (len(packed) - 1, len(packed) // 2, 5):
        with pytest.raises(BrokenFile):
            read(name, packed[:end])


@EVERY
def test_the_memory_does_not_grow_with_the_file(name: str) -> None:
    # 4.5 MB of texts alone.
    whole = io.BytesIO(written(name, 1_500, "word " * 600))
    read(name, written(name, 10))
    tracemalloc.start()
    try:
        count = sum(isinstance(each, ImportedComment) for each in PARSERS[format_of(name)](whole))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 1_500
    assert peak < 5 << 19


@EVERY
def test_nothing_of_another_format_is_read(name: str) -> None:
    data = written(name, 3)
    for other, parse in PARSERS.items():
        if other != format_of(name):
            try:
                items = list(parse(io.BytesIO(data)))
            except BrokenFile:
                continue
            assert not comments(items), other


@EVERY
@settings(max_examples=25)
@given(data=st.data())
def test_a_damaged_file_gives_items_or_is_broken(name: str, data: st.DataObject) -> None:
    raw = bytearray(SMALL[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        part = data.draw(
            st.binary(max_size=6) | st.sampled_from([b"<", b">", b"&", b'"', b"[", b"{", b"null"])
        )
        raw[at : at + data.draw(st.integers(0, 8))] = part
        if not raw:
            raw = bytearray(b" ")
    _check(name, bytes(raw))


SMALL = {name: written(name, 4) for name in NAMES}


@EVERY
@settings(max_examples=25)
@given(raw=st.binary(max_size=200))
def test_any_bytes_give_items_or_are_broken(name: str, raw: bytes) -> None:
    _check(name, raw)


@EVERY
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" \n",
        b"\x00" * 100,
        b"\xff\xfe",
        b"null",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[[[[[[",
        b"<a>" * 100_000,
        b'"' + b"x" * 100_000,
        b"\x1f\x8b\x08\x00broken",
        b"SQLite format 3\x00" + b"\x00" * 500,
        b"1" * 10_000,
        b"NaN",
    ],
    ids=lambda raw: repr(raw[:8]),
)
def test_a_hostile_file_is_refused(name: str, raw: bytes) -> None:
    assert not comments(_check(name, raw))


def _check(name: str, raw: bytes) -> list[Item]:
    """Read a file, and check that it gives items in order, or that it is broken."""
    known: set[str] = set()
    items: list[Item] = []
    with suppress(BrokenFile):
        for item in PARSERS[format_of(name)](io.BytesIO(raw)):
            items.append(item)
            if isinstance(item, ImportedThread):
                known.add(item.key)
            elif isinstance(item, Skipped):
                assert item.reason
                assert len(item.sample) <= MAX_SAMPLE_CHARACTERS
            else:
                assert item.thread in known
                assert item.key
                assert item.posted.utcoffset() is not None
                (item.text + (item.author.name if item.author else "")).encode()
    return items
