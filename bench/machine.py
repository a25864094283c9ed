"""The machine and versions of a run: figures mean nothing without them."""

import os
import platform
import statistics
import subprocess
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from pymongo.database import Database

from chalicelib.database import Document

_PACKAGES = ("pymongo", "chalice", "pydantic", "orjson")
_GIGABYTE = 2**30
_BLOCK = b"x" * 4_096
_SYNCS = 50


def machine(database: Database[Document], folder: Path) -> dict[str, str]:
    """Return the processor, memory, system and versions; how busy others kept the machine, too.

    `folder`: where the database is, whose disk decides what a write costs.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIGABYTE
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{memory:.1f} GiB",
        "system": platform.platform(),
        "load before the run": f"{os.getloadavg()[0]:.2f}",
        "a synced block of 4 KiB": f"{_sync_ms(folder):.2f} ms, {_file_system(folder)}",
        "Python": platform.python_version(),
        "MongoDB": f"{database.client.server_info()['version']}, one member, same machine",
        **{package: version(package) for package in _PACKAGES},
    }


def commit() -> str:
    """Return the commit that is checked out, and whether anything is changed beside it."""
    try:
        found = _git("rev-parse", "--short=10", "HEAD")
        return f"{found} with changes" if _git("status", "--porcelain", "-uno") else found
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def is_code_of(commit: str) -> bool:
    """Return whether the code that ships is that of a commit."""
    try:
        _git("diff", "--quiet", commit, "--", "app.py", "chalicelib", "requirements.txt")
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def _sync_ms(folder: Path) -> float:
    """Return the median milliseconds in which a block is on the disk of a folder."""
    taken: list[float] = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(_SYNCS):
            began = time.perf_counter()
            file.write(_BLOCK)
            file.flush()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1_000


def _file_system(folder: Path) -> str:
    """Return the kind of the file system of a folder: `tmpfs` is memory."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "unknown"
    within = [(place, kind) for _, place, kind, *_ in mounts if folder.is_relative_to(place)]
    return max(within, key=lambda mount: len(mount[0]), default=("", "unknown"))[1]


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(  # noqa: S603 - fixed commands
        command, capture_output=True, text=True, check=True
    ).stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
