"""Separate environments, for tools whose requirements conflict with those of .venv."""

import subprocess
import sys
from pathlib import Path


def environment(folder: Path, requirements: Path) -> Path:
    """Install exactly the pinned packages of a requirements file; return the environment's `bin`.

    Only files whose hash the requirements name are installed, and nothing is built. Raises
    subprocess.CalledProcessError if that fails; uv has printed why.
    """
    stamp, wanted = folder / ".installed", requirements.read_text()
    if not (stamp.exists() and stamp.read_text() == wanted):
        print(f"Installing {requirements.name} into {folder.name} (once) ...", flush=True)
        stamp.unlink(missing_ok=True)
        python = str(folder / "bin" / "python")
        verified = ["--require-hashes", "--no-build", "--system-certs"]
        for command in (
            ["venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
            ["pip", "sync", "--quiet", *verified, "--python", python, str(requirements)],
        ):
            subprocess.run([sys.executable, "-m", "uv", *command], check=True)  # noqa: S603
        stamp.write_text(wanted)
    return folder / "bin"
