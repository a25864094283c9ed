"""Files made byte by byte: pictures whose headers say what a test wants."""

import struct
import zlib
from collections.abc import Sequence

GPS = b"GPS 54.7936 N 9.4317 E"


def png(width: int = 3, height: int = 2) -> bytes:
    """Return a PNG with a header, no pixels and an end."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IEND", b"")


def chunk(name: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + checksum


def gif(width: int = 3, height: int = 2) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def webp(width: int = 3, height: int = 2) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    content = b"VP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + sides
    return b"RIFF" + struct.pack("<I", len(content) + 4) + b"WEBP" + content


def avif(width: int = 3, height: int = 2) -> bytes:
    ispe = box(b"ispe", bytes(4) + struct.pack(">II", width, height))
    ipma = box(b"ipma", bytes(4) + struct.pack(">IHBB", 1, 1, 1, 1))
    pitm = box(b"pitm", bytes(4) + struct.pack(">H", 1))
    iprp = box(b"iprp", box(b"ipco", ispe) + ipma)
    meta = box(b"meta", bytes(4) + pitm + iprp)
    return box(b"ftyp", b"avif" + bytes(4) + b"avifmif1") + meta + box(b"mdat", bytes(9_000))


def box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content) + 8) + name + content


def segment(marker: int, content: bytes) -> bytes:
    return bytes((0xFF, marker)) + struct.pack(">H", len(content) + 2) + content


def exif(orientation: int, order: str = ">") -> bytes:
    """Return an Exif segment with an orientation, a GPS directory and a thumbnail's bytes."""
    mark = b"MM" if order == ">" else b"II"
    entries = struct.pack(f"{order}HHIHH", 0x0112, 3, 1, orientation, 0)
    entries += struct.pack(f"{order}HHII", 0x8825, 4, 1, 26)
    directory = struct.pack(f"{order}H", 2) + entries + bytes(4)
    tiff = mark + struct.pack(f"{order}HI", 42, 8) + directory + GPS
    return segment(0xE1, b"Exif\0\0" + tiff)


JFIF = segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0")
ICC = segment(0xE2, b"ICC_PROFILE\0\x01\x01" + b"colours")
ADOBE = segment(0xEE, b"Adobe\0\x64\0\0\0\0\x01")
XMP = segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x>" + GPS + b"</x>")
IPTC = segment(0xED, b"Photoshop 3.0\0" + GPS)
COMMENT = segment(0xFE, GPS)
# Coded data with a stuffed byte, a restart and a fill byte; then a second scan, as in a
# progressive picture.
SCANS = (
    segment(0xDA, b"\x01\x01\0\0\x3f\0")
    + b"\x12\xff\x00\x34\xff\xd0\x56\xff"
    + segment(0xC4, b"\0" * 17)
    + segment(0xDA, b"\x01\x01\0\0\x3f\0")
    + b"\x78"
)


def jpeg(
    width: int = 3, height: int = 2, before: Sequence[bytes] = (), after: bytes = b""
) -> bytes:
    """Return a JPEG of two scans, with segments before its frame and bytes after its end."""
    frame = struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\0"
    parts = (b"\xff\xd8", *before, segment(0xDB, b"\0" * 65), segment(0xC0, frame), SCANS)
    return b"".join((*parts, b"\xff\xd9", after))
