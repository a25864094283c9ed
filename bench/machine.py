"""The machine and versions of a run: figures mean nothing without them."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from pymongo.database import Database

from chalicelib.database import Document

_PACKAGES = ("pymongo", "chalice", "pydantic", "orjson")
_GIGABYTE = 2**30


def machine(database: Database[Document]) -> dict[str, str]:
    """Return the processor, memory, system and versions; how busy others kept the machine, too."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIGABYTE
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{memory:.1f} GiB",
        "system": platform.platform(),
        "load before the run": f"{os.getloadavg()[0]:.2f}",
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
