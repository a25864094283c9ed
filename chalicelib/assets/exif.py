"""Exif: the orientation of a picture, which browsers obey (TIFF 6.0, tag 274); pure."""

import struct

_ORIENTATION, _SHORT = 0x0112, 3
_ORIENTATIONS = range(1, 9)
_FIRST_TURNED = 5


def orientation_of(tiff: bytes) -> int | None:
    """Return the orientation in the first directory, 1 to 8; None without a valid one."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
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


def is_sideways(tiff: bytes | None) -> bool:
    """Return whether the orientation swaps width and height; False without Exif."""
    return tiff is not None and (orientation_of(tiff) or 1) >= _FIRST_TURNED


def directory_of(orientation: int) -> bytes:
    """Return a TIFF header and one directory with the orientation alone."""
    entry = struct.pack(">HHHIHHI", 1, _ORIENTATION, _SHORT, 1, orientation, 0, 0)
    return b"MM\0\x2a" + struct.pack(">I", 8) + entry
