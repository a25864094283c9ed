"""Pictures: their size on a screen, by their headers; pure.

These functions decode no pixels. They read a bounded number of headers, whatever the file says.
"""

import struct
from typing import NamedTuple

from chalicelib.assets import avif, jpeg, kinds
from chalicelib.assets.errors import UnreadableImage
from chalicelib.assets.exif import is_sideways

MAX_PIXELS = 100_000_000
MAX_SIDE = 65_535

# The most chunks to read of a PNG; writers put about a dozen before the pixels.
MAX_CHUNKS = 1_000

_PNG = b"\x89PNG\r\n\x1a\n"
# Length, name and checksum.
_CHUNK_FRAME = 12
_MOST_EXIF = 65_535
_KEY_FRAME = b"\x9d\x01\x2a"
_LOSSLESS = 0x2F


class PixelSize(NamedTuple):
    """A picture's width and height in pixels."""

    width: int
    height: int


def size_of(picture: bytes) -> PixelSize | None:
    """Return a picture's size; None for a GIF or an AVIF without a known size.

    Raises UnreadableImage for a header without a size, and for a size over the limits.
    """
    try:
        found = _size_of(picture)
    except struct.error:
        raise UnreadableImage("Its header is cut") from None
    if found is None:
        return None
    width, height = found
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise UnreadableImage("Its header says no size")
    if width * height > MAX_PIXELS:
        raise UnreadableImage(f"It has more than {MAX_PIXELS} pixels")
    return PixelSize(width, height)


def _size_of(picture: bytes) -> tuple[int, int] | None:
    match kinds.sniff(picture):
        case "image/jpeg":
            return jpeg.size_of(picture)
        case "image/png":
            return _png(picture)
        case "image/gif":
            return _gif(picture)
        case "image/webp":
            return _webp(picture)
        case "image/avif":
            return avif.size_of(picture)
    raise UnreadableImage


def _png(picture: bytes) -> tuple[int, int]:
    name, width, height = struct.unpack_from(">4sII", picture, 12)
    if name != b"IHDR":
        raise UnreadableImage("It does not begin with its header")
    return (height, width) if is_sideways(_exif_of(picture)) else (width, height)


def _exif_of(png: bytes) -> bytes | None:
    """Return the Exif chunk before the pixels, if it is among the first chunks."""
    at = len(_PNG)
    for _ in range(MAX_CHUNKS):
        length, name = struct.unpack_from(">I4s", png, at)
        if name in {b"eXIf", b"IDAT", b"IEND"}:
            return png[at + 8 : at + 8 + min(length, _MOST_EXIF)] if name == b"eXIf" else None
        at += _CHUNK_FRAME + length
    return None


def _gif(picture: bytes) -> tuple[int, int] | None:
    """Return the size of the screen; None if a side is 0: browsers then take the first frame's."""
    width, height = struct.unpack_from("<HH", picture, 6)
    return (width, height) if width and height else None


def _webp(picture: bytes) -> tuple[int, int]:
    """Return the size of a lossy, a lossless or an extended file (RFC 9649)."""
    chunk = picture[12:16]
    if chunk == b"VP8 " and picture[23:26] == _KEY_FRAME:
        width, height = struct.unpack_from("<HH", picture, 26)
        return width & 0x3FFF, height & 0x3FFF
    if chunk == b"VP8L" and picture[20:21] == bytes((_LOSSLESS,)):
        (bits,) = struct.unpack_from("<I", picture, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8X":
        low_width, high_width, low_height, high_height = struct.unpack_from("<HBHB", picture, 24)
        return low_width + (high_width << 16) + 1, low_height + (high_height << 16) + 1
    raise UnreadableImage("It has no picture")
