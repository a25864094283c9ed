"""Make .venv hold exactly what the requirements say, then run a module in it.

Runs on the machine's own Python, so it uses the standard library alone.
"""

import fcntl
import hashlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / ".installed"
REQUIREMENTS = ROOT / "requirements-dev.txt"
# Only files whose hash the requirements name are installed, and nothing is built, since a build
# would fetch unverified packages.
VERIFIED = ("--require-hashes", "--only-binary=:all:", "--no-deps")
SYNC = ("pip", "sync", "--quiet", "--system-certs", "--require-hashes", "--no-build")
_FAILED = "could not install the requirements; the lines above say why"


def main() -> NoReturn:
    """Install if something changed, then become `python -m MODULE ARGUMENT ...`."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    os.environ["PLAZA_CALLED_FROM"] = os.getcwd()  # noqa: PTH109 - for paths that users name
    os.chdir(ROOT)
    # One at a time: the server and the tests may be started together in a new clone.
    with REQUIREMENTS.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _up_to_date():
            _install()
    os.execv(PYTHON, [str(PYTHON), "-m", *sys.argv[1:]])  # noqa: S606 - becoming it is the point


def _wanted() -> str:
    digest = hashlib.sha256(sys.version.encode())
    digest.update(REQUIREMENTS.read_bytes())
    return digest.hexdigest()


def _up_to_date() -> bool:
    return STAMP.exists() and STAMP.read_text() == _wanted() and os.access(PYTHON, os.X_OK)


def _install() -> None:
    print("Installing Plaza's requirements into .venv (half a minute, once) ...", flush=True)
    STAMP.unlink(missing_ok=True)
    if not _usable():
        _run(
            [sys.executable, "-m", "venv", "--clear", str(VENV)],
            "could not make .venv; on Debian and Ubuntu, `apt install python3-venv` mends this",
        )
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as installer:
        installer.write(_installer())
        installer.flush()
        pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        _run([*pip, *VERIFIED, "--requirement", installer.name], _FAILED)
    # The installer does the rest, fifteen times as fast as pip, from where pip would take it.
    if "PIP_INDEX_URL" in os.environ:
        os.environ.setdefault("UV_DEFAULT_INDEX", os.environ["PIP_INDEX_URL"])
    _run([str(PYTHON), "-m", "uv", *SYNC, str(REQUIREMENTS)], _FAILED)
    STAMP.write_text(_wanted())


def _installer() -> str:
    """Return the lines of the requirements that pin the installer, with its hashes."""
    found = re.search(r"^uv==.*(\n .*)*", REQUIREMENTS.read_text(), re.MULTILINE)
    if found is None:
        sys.exit(f"Plaza could not find uv in {REQUIREMENTS}; script/lock writes it there.")
    return found[0]


def _usable() -> bool:
    """Return whether .venv is complete and of this Python; a killed start leaves a part."""
    probe = "import pip, sys; print(sys.version)"
    try:
        found = subprocess.run(  # noqa: S603 - a fixed command
            [PYTHON, "-c", probe], capture_output=True, text=True, check=False
        )
    except OSError:
        return False
    return found.stdout.strip() == sys.version.strip()


def _run(command: Sequence[str], failure: str) -> None:
    """Run a command that ends with us; exit with one line where it fails."""
    # A group of its own, so that what the command itself has started ends with it.
    with subprocess.Popen(command, process_group=0) as process:  # noqa: S603 - commands of ours
        try:
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    if code:
        sys.exit(f"Plaza {failure}.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
