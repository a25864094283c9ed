"""Folders in memory, where a server's files cost no disk."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder in memory, where there is one
# What two servers with their data take, twice; a container often has 64 MB.
_ROOM_BYTES = 4 * 2**30
_OWNER = re.compile(r"plaza-[a-z]+-(\d+)-")


def memory_folder(room_bytes: int = _ROOM_BYTES) -> Path | None:
    """Return a folder in memory with that much room, in which programs may run; else None."""
    if not os.access(_SHARED_MEMORY, os.W_OK):
        return None
    if os.statvfs(_SHARED_MEMORY).f_flag & os.ST_NOEXEC:
        return None
    has_room = shutil.disk_usage(_SHARED_MEMORY).free >= room_bytes
    return _SHARED_MEMORY if has_room else None


@contextlib.contextmanager
def servers_folder(kind: str) -> Iterator[Path]:
    """A new folder for a server's files, in memory where there is room, removed at the end.

    Its name has the process, so that a later run removes the folder of a killed one.
    """
    prefix = f"plaza-{kind}-{os.getpid()}-"
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=memory_folder()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def remove_abandoned(memory: Path = _SHARED_MEMORY) -> None:
    """Remove the folders of test runs that were killed: they hold memory until a restart."""
    for folder in memory.glob("plaza-*"):
        owner = _OWNER.match(folder.name)
        if owner and _has_ended(int(owner[1])):
            shutil.rmtree(folder, ignore_errors=True)
    # pytest deletes its lock when it ends, and takes a lock that was left for three days as held.
    for lock in memory.glob("pytest-of-*/pytest-*/.lock"):
        owner_id = _owner_of(lock)
        if owner_id is not None and _has_ended(owner_id):
            shutil.rmtree(lock.parent, ignore_errors=True)


def _owner_of(lock: Path) -> int | None:
    """Return the process of a lock; None: it is gone, or its process has not written its number."""
    try:
        return int(lock.read_text())
    except (OSError, ValueError):
        return None


def _has_ended(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False  # another user's
    return False
