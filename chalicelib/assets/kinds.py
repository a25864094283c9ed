"""The media types that browsers may show, found by a file's first bytes; pure.

Readers get a type found here as itself, so each signature leaves no room for markup: no SVG and no
HTML. Everything else is a download.
"""

import re

# The part of a file that shows its type and its size.
HEAD_BYTES = 65_536
ANY = "application/octet-stream"
IMAGES = ("image/avif", "image/gif", "image/jpeg", "image/png", "image/webp")
SHOWN = ("application/pdf", "audio/mpeg", *IMAGES, "video/mp4")

_SIGNATURES = (
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF....WEBP", re.DOTALL)),
    ("application/pdf", re.compile(rb"%PDF-[12]\.\d")),
    # An ID3 tag, or a frame of MPEG 1 or 2, layer III, with a bit rate and a sampling rate.
    ("audio/mpeg", re.compile(rb"ID3[\x02-\x04]")),
    ("audio/mpeg", re.compile(rb"\xff[\xf2\xf3\xfa\xfb](?![\xf0-\xff])[\x10-\xef]")),
)
# The major brand, then its version, then the compatible brands (ISO 14496-12).
_FILE_TYPE = re.compile(rb"\x00\x00..ftyp(.{4}).{4}", re.DOTALL)
_AVIF = {b"avif", b"avis"}
_MP4 = {b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"M4V ", b"MSNV"}


def sniff(head: bytes) -> str:
    """Return the media type of a file's first bytes; ANY for a type that browsers may not show."""
    for media_type, signature in _SIGNATURES:
        if signature.match(head):
            return media_type
    file_type = _FILE_TYPE.match(head)
    if file_type is None:
        return ANY
    if file_type[1] in _AVIF:
        return "image/avif"
    return "video/mp4" if file_type[1] in _MP4 else ANY


def is_shown(media_type: str) -> bool:
    """Return whether a browser shows files of this type, rather than storing them."""
    return media_type in SHOWN
