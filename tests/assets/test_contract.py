"""What every store of blobs does, at the edges of its parts and chunks."""

import hashlib
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.assets.blobs import BlobGone, Blobs, hash_of, part_count, part_length, pieces, write
from chalicelib.assets.blobs.gridfs import CHUNK_BYTES
from chalicelib.runtime import Runtime
from tests.assets.support.stores import STORES

LARGE = 8 * 1024 * 1024 + CHUNK_BYTES + 1


@pytest.fixture(params=STORES)
def blobs(request: pytest.FixtureRequest, runtime: Runtime) -> Blobs:
    return STORES[request.param](runtime)


@pytest.fixture(scope="module")
def content() -> bytes:
    """More than a part of any store, of bytes that do not repeat."""
    return b"".join(hashlib.sha256(n.to_bytes(4)).digest() for n in range(LARGE // 32 + 1))[:LARGE]


def edges(blobs: Blobs) -> Iterator[int]:
    for edge in (CHUNK_BYTES, blobs.part_bytes):
        yield from (edge - 1, edge, edge + 1)


def test_bytes_come_back_at_every_edge(blobs: Blobs, content: bytes) -> None:
    for length in (1, *edges(blobs), LARGE):
        blob = f"blob-{length}"
        write(blobs, blob, "text/csv", [content[:length]], length)
        assert b"".join(pieces(blobs, blob, length)) == content[:length]


def test_every_finished_blob_is_named(blobs: Blobs) -> None:
    for name in ("one", "other"):
        write(blobs, name, "text/csv", [b"bytes"], 5)
    blobs.drop("other")

    assert list(blobs.names()) == ["one"]


def test_a_blob_is_written_from_pieces_of_any_size(blobs: Blobs, content: bytes) -> None:
    sizes = (CHUNK_BYTES + 1, 1, 0, blobs.part_bytes)
    cut, at = [], 0
    for size in sizes:
        cut.append(content[at : at + size])
        at += size
    cut.append(content[at:])

    write(blobs, "blob", "text/csv", cut, LARGE)

    assert hash_of(pieces(blobs, "blob", LARGE)) == hashlib.sha256(content).hexdigest()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_range_is_a_slice(blobs: Blobs, content: bytes, data: st.DataObject) -> None:
    if not blobs_written(blobs):
        write(blobs, "blob", "text/csv", [content], LARGE)
    near = [edge + by for edge in edges(blobs) for by in (-1, 0, 1)]
    ends = st.one_of(st.sampled_from([0, 1, LARGE - 1, *near]), st.integers(0, LARGE - 1))
    start, last = sorted((data.draw(ends), data.draw(ends)))

    assert blobs.read("blob", start, last + 1) == content[start : last + 1]


def blobs_written(blobs: Blobs) -> bool:
    try:
        return bool(blobs.read("blob", 0, 1))
    except BlobGone:
        return False


def test_parts_come_in_any_order_and_twice(blobs: Blobs, content: bytes) -> None:
    length = blobs.part_bytes + 5
    parts = [content[: blobs.part_bytes], content[blobs.part_bytes : length]]
    handle = blobs.begin("blob", "text/csv")
    assert blobs.present("blob", handle, length) == set()
    with pytest.raises(BlobGone):
        blobs.finish("blob", handle, length)

    for number in (1, 1, 0, 1):
        with_one = blobs.present("blob", handle, length)
        blobs.part("blob", handle, number, parts[number])
        assert blobs.present("blob", handle, length) == {number, *with_one}
    for _ in range(2):
        blobs.finish("blob", handle, length)
        assert blobs.present("blob", handle, length) == {0, 1}

    assert blobs.read("blob", 0, length) == content[:length]


def test_what_is_dropped_is_gone_however_far_it_was(blobs: Blobs) -> None:
    write(blobs, "whole", "text/csv", [b"first"], 5)
    handle = blobs.begin("begun", "text/csv")
    blobs.part("begun", handle, 0, b"first")
    write(blobs, "other", "text/csv", [b"other"], 5)
    for _ in range(2):
        for blob in ("whole", "begun", "never"):
            blobs.drop(blob)
            with pytest.raises(BlobGone):
                blobs.read(blob, 0, 1)

    assert blobs.present("begun", handle, 5) == set()
    assert blobs.read("other", 0, 5) == b"other"


def test_bytes_beyond_the_end_are_no_bytes(blobs: Blobs) -> None:
    write(blobs, "blob", "text/csv", [b"first"], 5)

    for start, end in ((0, 6), (5, 6), (CHUNK_BYTES, CHUNK_BYTES + 1)):
        with pytest.raises(BlobGone):
            blobs.read("blob", start, end)


def test_a_file_of_the_largest_size_has_a_bounded_number_of_parts(blobs: Blobs) -> None:
    count = part_count(blobs, blobs.max_bytes)

    assert count <= 1_000
    assert part_length(blobs, count - 1, blobs.max_bytes) > 0
    assert part_length(blobs, count, blobs.max_bytes) <= 0
