"""JPEG: its segments, its size on a screen, and its bytes without metadata; pure.

A file may be hostile, so Python visits each segment once, and a bounded number of segments. The
searches within coded data run in C. A JPEG keeps the segments that its pixels need. Without its
metadata it reveals neither the place, the time nor the camera of the picture.
"""

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from chalicelib.assets.errors import UnreadableImage
from chalicelib.assets.exif import directory_of, is_sideways, orientation_of

# A progressive picture with a colour profile has some hundred.
MAX_SEGMENTS = 4_000

_START = b"\xff\xd8"
_BEGINS, _AGAIN, _END, _SCAN = 0xFF, 0xD8, 0xD9, 0xDA
_LENGTH_BYTES, _FRAME_BYTES = 2, 4
_METADATA, _COMMENT = 0xE1, 0xFE
_APPLICATION = range(0xE0, 0xF0)
# Frames: the size of the picture (ITU T.81, table B.1); the three others in the range name no size.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Markers without a length: TEM, and the restarts. They stand within coded data alone.
_BARE = frozenset({0x01, *range(0xD0, 0xD8)})
_MISPLACED = _BARE | {0x00, _AGAIN}
_FILL = re.compile(rb"\xff+")
# In coded data, 0xFF before a zero or a bare marker is no end; before any other byte it ends the
# scan. `_CLASSES` maps 0xFF to itself, zero and bare markers to 0, and all other bytes to 1.
_MARKER = b"\xff\x01"
_CLASSES = bytes(
    each if each == _BEGINS else 0 if each == 0 or each in _BARE else 1 for each in range(256)
)

_EXIF = b"Exif\0\0"
# The segments of applications that change the look of pixels: the density (JFIF), a colour profile
# (ICC), and the colour transform of Adobe.
_KEPT = ((0xE0, b"JFIF\0"), (0xE2, b"ICC_PROFILE\0"), (0xEE, b"Adobe"))


class _Segment(NamedTuple):
    marker: int
    start: int
    end: int


def size_of(jpeg: bytes) -> tuple[int, int]:
    """Return width and height on a screen, after the orientation; raises UnreadableImage."""
    size, exif = None, None
    for segment in _segments(jpeg, before_scans=True):
        if segment.marker == _METADATA and exif is None:
            exif = _exif_of(jpeg, segment)
        elif segment.marker in _FRAMES:
            size = jpeg[segment.start + 5 : segment.end][:_FRAME_BYTES]
    if size is None or len(size) < _FRAME_BYTES:
        raise UnreadableImage("It has no frame")
    height, width = struct.unpack(">HH", size)
    return (height, width) if is_sideways(exif) else (width, height)


def strip(jpeg: bytes) -> bytes:
    """Return a JPEG without metadata except its orientation, and without bytes after its end.

    Raises UnreadableImage.
    """
    parts, exif = [_START], None
    for segment in _segments(jpeg):
        if segment.marker == _METADATA and exif is None:
            exif = _exif_of(jpeg, segment)
            if exif is not None and (orientation := orientation_of(exif)) is not None:
                parts.append(_exif(orientation))
        elif _is_kept(segment.marker, jpeg[segment.start + 4 : segment.end]):
            parts.append(jpeg[segment.start : segment.end])
    return b"".join(parts)


def _is_kept(marker: int, content: bytes) -> bool:
    if marker in _APPLICATION:
        return any(marker == kept and content.startswith(name) for kept, name in _KEPT)
    return marker != _COMMENT


def _segments(jpeg: bytes, *, before_scans: bool = False) -> Iterator[_Segment]:
    """Yield the segments after the start, up to the end; with `before_scans`, up to the first scan.

    A scan includes its coded data. Raises UnreadableImage.
    """
    if not jpeg.startswith(_START):
        raise UnreadableImage
    at, classes = len(_START), b""
    for _ in range(MAX_SEGMENTS):
        segment = _segment_at(jpeg, at)
        if segment.marker == _SCAN:
            if before_scans:
                return
            classes = classes or jpeg.translate(_CLASSES)
            segment = segment._replace(end=classes.find(_MARKER, segment.end))
        at = segment.end
        if at < 0:
            raise UnreadableImage("It has no end")
        yield segment
        if segment.marker == _END:
            return
    raise UnreadableImage(f"It has more than {MAX_SEGMENTS} segments")


def _segment_at(jpeg: bytes, at: int) -> _Segment:
    """Return the segment from its marker on; a marker may have fill bytes before it."""
    fill = _FILL.match(jpeg, at)
    if fill is None or fill.end() >= len(jpeg):
        raise UnreadableImage("It ends within a segment")
    start, marker = fill.end() - 1, jpeg[fill.end()]
    if marker in _MISPLACED:
        raise UnreadableImage("It has a marker outside its place")
    end = start + 2
    if marker != _END:
        length = int.from_bytes(jpeg[end : end + _LENGTH_BYTES])
        end += length
        if length < _LENGTH_BYTES or end > len(jpeg):
            raise UnreadableImage("It ends within a segment")
    return _Segment(marker, start, end)


def _exif_of(jpeg: bytes, segment: _Segment) -> bytes | None:
    """Return the directories of an Exif segment; None for another segment."""
    content = jpeg[segment.start + 4 : segment.end]
    return content[len(_EXIF) :] if content.startswith(_EXIF) else None


def _exif(orientation: int) -> bytes:
    """Return an Exif segment with the orientation alone."""
    content = _EXIF + directory_of(orientation)
    return b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content
