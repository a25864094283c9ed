"""A folder in memory, where a server's files cost no disk."""

import os
import shutil
from pathlib import Path

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder in memory, where there is one
# What two servers with their data take, twice; a container often has 64 MB.
_ROOM_BYTES = 4 * 2**30


def memory_folder(room_bytes: int = _ROOM_BYTES) -> Path | None:
    """Return a folder in memory with that much room, in which programs may run; else None."""
    if not os.access(_SHARED_MEMORY, os.W_OK):
        return None
    if os.statvfs(_SHARED_MEMORY).f_flag & os.ST_NOEXEC:
        return None
    has_room = shutil.disk_usage(_SHARED_MEMORY).free >= room_bytes
    return _SHARED_MEMORY if has_room else None
