"""Files that cost much work at their reading: Python's steps are bounded, whatever a file says."""

import struct
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from chalicelib.assets import images, jpeg, kinds
from chalicelib.assets.errors import UnreadableImage
from chalicelib.assets.shapes import CHUNKS, UPLOADS, WASTE
from chalicelib.assets.upkeep import sweep_uploads, sweep_waste
from chalicelib.runtime import Runtime
from tests.assets.support import files
from tests.assets.support.files import box, chunk, segment
from tests.assets.support.uploading import Uploader, orphans
from tests.support.clock import Clock

SIZE = 8 * 1024 * 1024
# Each of 4,000 segments takes some twenty lines, at most twice.
MOST_LINES = 250_000

_JPEG = b"\xff\xd8\xff\xe0\0\x02"
_FRAME = segment(0xC0, struct.pack(">BHHB", 8, 4, 4, 1) + b"\x01\x11\0")
_SCAN = segment(0xDA, b"\x01\x01\0\0\x3f\0")
_ENTRIES = b"MM\0\x2a" + struct.pack(">IH", 8, 5_400) + bytes(12) * 5_400
_EXIF = segment(0xE1, b"Exif\0\0" + _ENTRIES)
_PNG = files.png(4, 4)[:33]
_AVIF = box(b"ftyp", b"avif" + bytes(4) + b"avifmif1")
_PRIMARY = box(b"pitm", bytes(4) + b"\0\x01")


def _fill(begin: bytes, unit: bytes, end: bytes = b"") -> bytes:
    return begin + unit * ((SIZE - len(begin) - len(end)) // len(unit)) + end


def _in_meta(properties: bytes, links: bytes) -> bytes:
    iprp = box(b"iprp", box(b"ipco", properties) + box(b"ipma", links))
    return _AVIF + box(b"meta", bytes(4) + _PRIMARY + iprp)


def _nest() -> bytes:
    count = SIZE // 8
    return _AVIF + b"".join(struct.pack(">I4s", 8 * (count - n), b"meta") for n in range(count))


HOSTILE: dict[str, Callable[[], bytes]] = {
    "restarts outside a scan": lambda: _fill(_JPEG, b"\xff\xd0"),
    "tiny segments": lambda: _fill(_JPEG, b"\xff\xe1\0\x02"),
    "tiny tables": lambda: _fill(_JPEG, b"\xff\xdb\0\x02", b"\xff\xd9"),
    "fill bytes": lambda: _fill(_JPEG, b"\xff"),
    "stuffed bytes": lambda: _fill(_JPEG + _FRAME + _SCAN, b"\xff\0", b"\xff\xd9"),
    "restarts in a scan": lambda: _fill(_JPEG + _FRAME + _SCAN, b"\xff\xd0", b"\xff\xd9"),
    "fill bytes in a scan": lambda: _fill(_JPEG + _FRAME + _SCAN, b"\xff", b"\xd9"),
    "tiny scans": lambda: _fill(_JPEG + _FRAME, _SCAN, b"\xff\xd9"),
    "large directories": lambda: _fill(_JPEG + _FRAME, _EXIF, b"\xff\xd9"),
    "tiny chunks": lambda: _fill(_PNG, chunk(b"tEXt", b"")),
    "a directory in a chunk": lambda: _fill(_PNG + chunk(b"eXIf", _ENTRIES * 20), b"\0"),
    "tiny blocks": lambda: _fill(files.gif()[:13], b"\x21\xfe\x01x\0"),
    "tiny RIFF chunks": lambda: _fill(files.webp(), b"ABCD\0\0\0\0"),
    "tiny boxes": lambda: _fill(_AVIF, box(b"free", b"")),
    "empty boxes": lambda: _fill(_AVIF, bytes(8)),
    "boxes in boxes": _nest,
    "tiny properties": lambda: _in_meta(
        _fill(b"", box(b"free", b"")),
        bytes(4) + struct.pack(">I", 1) + b"\0\x01\xff" + b"\1" * 255,
    ),
    "tiny links": lambda: _in_meta(
        box(b"free", b""), _fill(bytes(4) + struct.pack(">I", 2**32 - 1), b"\0\x02\0")
    ),
    "many brands": lambda: _fill(b"\0\0\xff\xfcftypmif1", b"abcd"),
    "tiny boxes of a film": lambda: _fill(box(b"ftyp", b"dash" + bytes(4)), box(b"free", b"")),
}


def _read(content: bytes) -> None:
    kind = kinds.sniff(content[: kinds.HEAD_BYTES])
    try:
        if kind == "image/jpeg":
            jpeg.strip(content)
        if kind in kinds.IMAGES:
            images.size_of(content)
    except UnreadableImage:
        return


def _count_lines(work: Callable[[], None]) -> int:
    """Return the number of lines that Python runs, in all functions."""
    lines = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        if lines > MOST_LINES:
            pytest.fail(f"more than {MOST_LINES} lines")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_takes_a_bounded_number_of_steps(name: str) -> None:
    content = HOSTILE[name]()
    assert len(content) > SIZE - 100_000

    assert 0 < _count_lines(lambda: _read(content)) <= MOST_LINES


@pytest.mark.parametrize(
    "picture",
    [
        _JPEG + b"\xff\xd0\0\2" + _FRAME + _SCAN + b"\xff\xd9",
        _JPEG + b"\xff\x01\0\2" + _FRAME + _SCAN + b"\xff\xd9",
        _JPEG + b"\xff\xd8\0\2" + _FRAME + _SCAN + b"\xff\xd9",
        _JPEG + segment(0xDB, b"") * jpeg.MAX_SEGMENTS + _FRAME + _SCAN + b"\xff\xd9",
    ],
)
def test_a_jpeg_with_a_misplaced_marker_or_too_many_segments_is_refused(picture: bytes) -> None:
    with pytest.raises(UnreadableImage):
        jpeg.strip(picture)
    with pytest.raises(UnreadableImage):
        images.size_of(picture)


@pytest.mark.bounds(assets={"unfinished_uploads": 1})
def test_a_refusal_is_final_and_costs_no_second_reading(
    editor: Uploader, runtime: Runtime, clock: Clock
) -> None:
    hostile = _JPEG + b"\xff\xd0" * 1_000
    begun = editor.begin(hostile, "image/jpeg").json
    editor.send(begun, hostile)
    first = editor.finish(begun)
    assert (first.status, first.code) == (422, "unreadable_image")

    # Without a byte to read, the answer is the same.
    CHUNKS.of(runtime.database).delete_many({})
    again = editor.finish(begun)

    assert (again.status, again.json) == (first.status, first.json)
    # It holds no place of the owner's unfinished uploads.
    assert editor.begin(files.png(), "image/png").status == 201
    clock.advance(days=1, minutes=20)
    assert (sweep_uploads(runtime), sweep_waste(runtime)) == (2, 3)
    assert orphans(runtime) == set()


def test_refused_bytes_are_removed_long_before_their_upload(
    editor: Uploader, runtime: Runtime, clock: Clock
) -> None:
    begun = editor.begin(b"<svg/>", "image/png").json
    editor.send(begun, b"<svg/>")
    for _ in range(2):
        assert editor.finish(begun).code == "wrong_content"
    assert WASTE.of(runtime.database).count_documents({}) == 1

    clock.advance(minutes=15)
    sweep_waste(runtime)

    assert CHUNKS.of(runtime.database).count_documents({}) == 0
    assert UPLOADS.of(runtime.database).count_documents({}) == 1
    assert editor.finish(begun).code == "wrong_content"


def test_a_refused_upload_takes_no_part(editor: Uploader, runtime: Runtime, clock: Clock) -> None:
    """Its bytes count in no quota any more."""
    begun = editor.begin(b"<svg/>", "image/png").json
    editor.send(begun, b"<svg/>")
    assert editor.finish(begun).code == "wrong_content"
    clock.advance(minutes=15)
    sweep_waste(runtime)

    assert editor.put(begun["parts"][0]["url"], b"<svg/>").code == "upload_finished"

    assert CHUNKS.of(runtime.database).count_documents({}) == 0
