"""The processes of this machine."""

import contextlib
import subprocess
from pathlib import Path

_PROC = Path("/proc")


def command_lines() -> dict[int, str]:
    """Return the command line of each process by its number.

    From /proc where there is one, since a small Linux image may lack `ps`.
    """
    if (_PROC / "self").exists():
        return _from_proc()
    listing = subprocess.run(
        ["/bin/ps", "-wwaxo", "pid=,command="], capture_output=True, text=True, check=True
    )
    rows = (line.split(maxsplit=1) for line in listing.stdout.splitlines())
    return {int(pid): command for pid, command in rows}


def _from_proc() -> dict[int, str]:
    commands = {}
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            # It may end while we look.
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
                commands[int(folder.name)] = b" ".join(words).decode(errors="replace")
    return commands
