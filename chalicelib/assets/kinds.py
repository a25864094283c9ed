"""Media types that browsers may show, recognised by a file's first bytes; pure.

Plaza serves a file with its recognised type, so no signature matches markup (SVG or HTML). A file
of an unrecognised type is a download.
"""

import re

# Bytes of a file's beginning that callers pass to `sniff`.
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
    # An ID3 tag, or a frame of MPEG 1, 2 or 2.5, layer III, with a bit rate and a sampling rate.
    ("audio/mpeg", re.compile(rb"ID3[\x02-\x04]")),
    ("audio/mpeg", re.compile(rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb](?![\xf0-\xff])[\x10-\xef]")),
)
# The major brand, its version, and the compatible brands (ISO 14496-12).
_FILE_TYPE = re.compile(rb"\x00\x00(..)ftyp(.{4}).{4}", re.DOTALL)
_BRAND_BYTES, _FIRST_COMPATIBLE, _LAST_COMPATIBLE = 4, 16, 256
_AVIF = frozenset({b"avif", b"avis"})
# Major brands of HEIF (ISO 23008-12): the file is AVIF if a compatible brand is in `_AVIF`.
_HEIF = frozenset({b"mif1", b"mif2", b"msf1", b"miaf", b"MiPr", b"MiAn", b"1pic"})
_MP4 = frozenset(
    {
        *(b"isom", b"iso2", b"iso3", b"iso4", b"iso5", b"iso6", b"iso7", b"iso8", b"iso9"),
        *(b"mp41", b"mp42", b"mp71", b"M4V ", b"M4VH", b"M4VP", b"MSNV", b"F4V "),
        *(b"avc1", b"avc3", b"hvc1", b"hev1", b"av01", b"dash", b"cmfc", b"cmf2"),
    }
)


def sniff(head: bytes) -> str:
    """Return the media type of a file's first bytes; ANY for a type that browsers may not show."""
    for media_type, signature in _SIGNATURES:
        if signature.match(head):
            return media_type
    file_type = _FILE_TYPE.match(head)
    if file_type is None:
        return ANY
    major, end = file_type[2], int.from_bytes(file_type[1])
    starts = range(_FIRST_COMPATIBLE, min(end, len(head), _LAST_COMPATIBLE), _BRAND_BYTES)
    compatible = (head[start : start + _BRAND_BYTES] for start in starts)
    if major in _AVIF or (major in _HEIF and not _AVIF.isdisjoint(compatible)):
        return "image/avif"
    return "video/mp4" if major in _MP4 else ANY


def kind_of(media_type: str) -> str:
    """Return the kind of a type: "image", "audio", "video", "document" or "download".

    All versions of an asset have the same kind.
    """
    if not is_shown(media_type):
        return "download"
    return media_type.split("/", maxsplit=1)[0].replace("application", "document")


def is_shown(media_type: str) -> bool:
    """Return whether Plaza serves this type for display, not as an attachment."""
    return media_type in SHOWN
