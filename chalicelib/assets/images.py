"""Pictures: their size from their header, and JPEG without metadata; pure.

These functions decode no pixels. A JPEG keeps the segments that its pixels need. Without its
metadata it reveals neither the place, the time nor the camera of the picture.
"""

import io
import struct
from collections.abc import Iterator
from typing import NamedTuple

from chalicelib.assets.errors import UnreadableImage

MAX_PIXELS = 100_000_000
MAX_SIDE = 65_535

_BEGINS, _END, _SCAN, _FILL = 0xFF, 0xD9, 0xDA, 0xFF
_START = b"\xff\xd8"
_LENGTH_BYTES = 2
_METADATA = 0xE1
# Markers without a length: TEM, and the restarts within a scan.
_BARE = frozenset({0x01, *range(0xD0, 0xD8)})
_COMMENT = 0xFE
_APPLICATION = range(0xE0, 0xF0)
_ORIENTATION, _SHORT = 0x0112, 3
_ORIENTATIONS = range(1, 9)
_EXIF = b"Exif\0\0"
# The segments of applications that change the look of pixels: the density (JFIF), a colour profile
# (ICC), and the colour transform of Adobe.
_KEPT = ((0xE0, b"JFIF\0"), (0xE2, b"ICC_PROFILE\0"), (0xEE, b"Adobe"))


class PixelSize(NamedTuple):
    """A picture's width and height in pixels."""

    width: int
    height: int


class _Segment(NamedTuple):
    marker: int
    start: int
    end: int


def size_of(head: bytes) -> PixelSize:
    """Return a picture's size from its first bytes; raises UnreadableImage."""
    # Late: it brings the readers of XML and of URLs, which few containers need.
    import imagesize

    # The size on a screen, after the orientation; -1 for an unreadable header.
    width, height = imagesize.get(io.BytesIO(head))
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise UnreadableImage("Its header says no size")
    if width * height > MAX_PIXELS:
        raise UnreadableImage(f"It has more than {MAX_PIXELS} pixels")
    return PixelSize(int(width), int(height))


def strip(jpeg: bytes) -> bytes:
    """Return a JPEG without metadata except its orientation, and without bytes after its end.

    Raises UnreadableImage.
    """
    parts, orientation = [_START], None
    for segment in _segments(jpeg):
        whole = jpeg[segment.start : segment.end]
        if segment.marker == _METADATA and orientation is None:
            orientation = _orientation(whole[4:])
            if orientation is not None:
                parts.append(_exif(orientation))
        elif _is_kept(segment.marker, whole[4:]):
            parts.append(whole)
    return b"".join(parts)


def _is_kept(marker: int, content: bytes) -> bool:
    if marker in _APPLICATION:
        return any(marker == kept and content.startswith(name) for kept, name in _KEPT)
    return marker != _COMMENT


def _segments(jpeg: bytes) -> Iterator[_Segment]:
    """Yield the segments after the start, up to the end; a scan includes its coded data."""
    at = 2
    if not jpeg.startswith(_START):
        raise UnreadableImage
    while True:
        start = at
        # A marker may have any number of fill bytes before it.
        while jpeg[at : at + 2] == b"\xff\xff":
            at += 1
        if at + 2 > len(jpeg) or jpeg[at] != _BEGINS:
            raise UnreadableImage("It ends within a segment")
        marker = jpeg[at + 1]
        start, at = at, at + 2
        if marker not in {_END, *_BARE}:
            size = int.from_bytes(jpeg[at : at + _LENGTH_BYTES])
            at += size
            if size < _LENGTH_BYTES or at > len(jpeg):
                raise UnreadableImage("It ends within a segment")
        if marker == _SCAN:
            at = _end_of_scan(jpeg, at)
        yield _Segment(marker, start, at)
        if marker == _END:
            return


def _end_of_scan(jpeg: bytes, at: int) -> int:
    """Return the position of the next marker; zeros and restarts after 0xFF belong to the scan."""
    while (at := jpeg.find(b"\xff", at)) >= 0 and at + 1 < len(jpeg):
        following = jpeg[at + 1]
        if following and following not in _BARE and following != _FILL:
            return at
        at += 1 if following == _FILL else 2
    raise UnreadableImage("It has no end")


def _orientation(content: bytes) -> int | None:
    """Return the orientation of an Exif segment, 1 to 8 (TIFF 6.0, tag 274), or None."""
    tiff = content[len(_EXIF) :]
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if not content.startswith(_EXIF) or order is None:
        return None
    try:
        (directory,) = struct.unpack_from(f"{order}I", tiff, 4)
        (count,) = struct.unpack_from(f"{order}H", tiff, directory)
        for number in range(count):
            tag, kind, _, value = struct.unpack_from(
                f"{order}HHIH", tiff, directory + 2 + 12 * number
            )
            if tag == _ORIENTATION and kind == _SHORT and value in _ORIENTATIONS:
                return int(value)
    except struct.error:
        return None
    return None


def _exif(orientation: int) -> bytes:
    """Return an Exif segment with the orientation alone."""
    directory = struct.pack(">HHHIHHI", 1, _ORIENTATION, _SHORT, 1, orientation, 0, 0)
    content = _EXIF + b"MM\0\x2a" + struct.pack(">I", 8) + directory
    return b"\xff\xe1" + struct.pack(">H", len(content) + 2) + content
