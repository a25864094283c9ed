"""AVIF: the size of its primary item on a screen (ISO 23008-12, HEIF); pure.

The parser enters only the boxes that lead to the size. A file may be hostile, so each loop has a
bound. A file of another structure has no known size; this raises no error.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

# The bound of each loop over a box's children, or over items. A picture of tiles has some hundred.
MAX_STEPS = 1_000

_HEADER_BYTES, _LARGE_HEADER_BYTES = 8, 16
_REST, _LARGE = 0, 1
_FLAGS_BYTES = 4


class _Box(NamedTuple):
    name: bytes
    start: int
    end: int


def size_of(avif: bytes) -> tuple[int, int] | None:
    """Return width and height after the rotation; None if the file names no size."""
    try:
        return _size(avif)
    except (struct.error, _NoSuchBox):
        return None


class _NoSuchBox(Exception):
    """A box or item on the way to the size is missing, or beyond MAX_STEPS."""


def _size(avif: bytes) -> tuple[int, int] | None:
    meta = _child(avif, 0, len(avif), b"meta")
    inside = meta.start + _FLAGS_BYTES
    item = _primary_item(avif, _child(avif, inside, meta.end, b"pitm"))
    about = _child(avif, inside, meta.end, b"iprp")
    properties = list(_children(avif, *_child(avif, about.start, about.end, b"ipco")[1:]))
    links = _links(avif, _child(avif, about.start, about.end, b"ipma"), item)
    size, turns = None, 0
    for number in links:
        box = properties[number - 1] if 1 <= number <= len(properties) else None
        if box is not None and box.name == b"ispe":
            size = struct.unpack_from(">II", avif, box.start + _FLAGS_BYTES)
        elif box is not None and box.name == b"irot":
            (turns,) = struct.unpack_from(">B", avif, box.start)
    if size is None:
        return None
    width, height = size
    return (height, width) if turns % 2 else (width, height)


def _child(avif: bytes, start: int, end: int, name: bytes) -> _Box:
    for box in _children(avif, start, end):
        if box.name == name:
            return box
    raise _NoSuchBox


def _children(avif: bytes, start: int, end: int) -> Iterator[_Box]:
    """Yield up to MAX_STEPS boxes between two positions; raises struct.error for a cut header."""
    for _ in range(MAX_STEPS):
        if start + _HEADER_BYTES > end:
            return
        size, name = struct.unpack_from(">I4s", avif, start)
        header = _HEADER_BYTES
        if size == _LARGE:
            (size,) = struct.unpack_from(">Q", avif, start + _HEADER_BYTES)
            header = _LARGE_HEADER_BYTES
        elif size == _REST:
            size = end - start
        if size < header:
            return
        yield _Box(name, start + header, min(end, start + size))
        start += size


def _primary_item(avif: bytes, box: _Box) -> int:
    (flags,) = struct.unpack_from(">I", avif, box.start)
    version = flags >> 24
    (item,) = struct.unpack_from(">I" if version else ">H", avif, box.start + _FLAGS_BYTES)
    return int(item)


def _links(avif: bytes, box: _Box, item: int) -> list[int]:
    """Return the numbers of an item's properties, from 1."""
    flags, count = struct.unpack_from(">II", avif, box.start)
    wide_ids, wide_links = flags >> 24 >= 1, flags & 1
    at = box.start + 2 * _FLAGS_BYTES
    for _ in range(min(count, MAX_STEPS)):
        found, links = struct.unpack_from(">IB" if wide_ids else ">HB", avif, at)
        at += 5 if wide_ids else 3
        if found == item:
            numbers = struct.unpack_from(f">{links}{'H' if wide_links else 'B'}", avif, at)
            # The highest bit marks an essential property, and does not belong to the number.
            return [each & (0x7FFF if wide_links else 0x7F) for each in numbers]
        at += links * (2 if wide_links else 1)
    raise _NoSuchBox
