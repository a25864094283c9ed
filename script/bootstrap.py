"""Make .venv hold exactly what the requirements say, then run a module in it.

Runs on the machine's own Python, so it uses the standard library alone.
"""

import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NoReturn

import progress

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / ".installed"
# What the server needs is a part of what development needs.
SERVER, DEVELOPMENT = ROOT / "requirements-local.txt", ROOT / "requirements-dev.txt"
# Only files whose hash the requirements name are installed, and nothing is built, since a build
# would fetch unverified packages.
VERIFIED = ("--require-hashes", "--only-binary=:all:", "--no-deps")
SYNC = ("pip", "sync", "--system-certs", "--require-hashes", "--no-build")
# The first one with --python.
_LEAST_PIP = (22, 3)
USAGE = """usage: script/bootstrap [--server] MODULE [ARGUMENT ...]

Run a Python module of the project in .venv, which is made and filled first where needed: with
what development needs or, after --server, at least with what the server needs. Every other
command of script/ calls this one; script/help lists them."""


def main() -> NoReturn:
    """Install if something changed, then become `python -m MODULE ARGUMENT ...`."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    arguments = sys.argv[1:]
    needed = SERVER if arguments[:1] == ["--server"] else DEVELOPMENT
    module = arguments[1:] if needed == SERVER else arguments
    if not module or module[0].startswith("-"):
        print(USAGE)
        sys.exit(0 if module[:1] in (["-h"], ["--help"]) else 2)
    os.environ["PLAZA_CALLED_FROM"] = os.getcwd()  # noqa: PTH109 - for paths that users name
    os.chdir(ROOT)
    # One at a time: the server and the tests may be started together in a new clone.
    with DEVELOPMENT.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _up_to_date(needed):
            # Who has once installed what development needs keeps it.
            _install(needed if _installed()[0] in {"", SERVER.name} else DEVELOPMENT)
    os.execv(PYTHON, [str(PYTHON), "-m", *module])  # noqa: S606 - becoming it is the point


def _installed() -> tuple[str, str]:
    """Return the name and the digest of the requirements that .venv holds; empty if unknown."""
    name, _, digest = STAMP.read_text().partition(" ") if STAMP.exists() else ("", "", "")
    return name, digest


def _digest(requirements: Path) -> str:
    return hashlib.sha256(sys.version.encode() + requirements.read_bytes()).hexdigest()


def _up_to_date(needed: Path) -> bool:
    return os.access(PYTHON, os.X_OK) and any(
        _installed() == (each.name, _digest(each)) for each in (needed, DEVELOPMENT)
    )


def _install(requirements: Path) -> None:
    started = time.monotonic()
    purpose = "the server needs" if requirements == SERVER else "development needs"
    print(f"Installing what {purpose} into .venv, once ...", file=sys.stderr, flush=True)
    # The installer takes a tenth of pip's time, from where pip would take the packages.
    if "PIP_INDEX_URL" in os.environ:
        os.environ.setdefault("UV_DEFAULT_INDEX", os.environ["PIP_INDEX_URL"])
    if STAMP.exists():
        # Without a digest, which says that all of it is there.
        STAMP.write_text(requirements.name)
    ways: tuple[Callable[[Path], bool], ...] = (_by_uv_of_the_machine, _by_pinned_uv, _by_pip)
    if not any(way(requirements) for way in ways):
        sys.exit("Plaza could not install the requirements; the lines above say why.")
    STAMP.write_text(f"{requirements.name} {_digest(requirements)}")
    print(f"Installed in {time.monotonic() - started:.0f} s.", file=sys.stderr, flush=True)


def _by_uv_of_the_machine(requirements: Path) -> bool:
    """Install by a uv that is on the PATH, which makes .venv without waiting for pip's."""
    uv = shutil.which("uv")
    if uv is None:
        return False
    if not _usable():
        venv = [uv, "venv", "--clear", "--no-project", "--python", sys.executable, str(VENV)]
        if progress.run("environment", venv):
            return False
    return _synced([uv], requirements)


def _by_pinned_uv(requirements: Path) -> bool:
    """Install by the uv that the requirements pin, which pip installs and verifies."""
    found = re.search(r"^uv==.*(\n .*)*", requirements.read_text(), re.MULTILINE)
    if found is None:
        return False
    pip = _pip_of_venv()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as installer:
        installer.write(found[0])
        installer.flush()
        if _installed_by(pip, "installer, uv", installer.name):
            return False
    return _synced([str(PYTHON), "-m", "uv"], requirements)


def _by_pip(requirements: Path) -> bool:
    """Install by pip alone: where uv does not run, or a mirror is known to pip alone."""
    title = "packages, by pip instead, which is slower"
    return _installed_by(_pip_of_venv(), title, str(requirements)) == 0


def _synced(uv: list[str], requirements: Path) -> bool:
    command = [*uv, *SYNC, "--python", str(PYTHON), str(requirements)]
    return progress.run("packages", command) == 0


def _installed_by(pip: list[str], title: str, requirements: str) -> int:
    command = [*pip, "--disable-pip-version-check", "--no-input", "install", *VERIFIED]
    return progress.run(title, [*command, "--requirement", requirements])


def _pip_of_venv() -> list[str]:
    """Return the command of a pip that installs into .venv, which is made unless it is complete.

    Exits with one line where it cannot be made.
    """
    own = [str(PYTHON), "-m", "pip"]
    if _usable():
        return own
    venv = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    # The machine's own pip spares some seconds, in which .venv would get another one.
    if _has_pip() and progress.run("environment", [*venv, "--without-pip"]) == 0:
        return [sys.executable, "-m", "pip", "--python", str(PYTHON)]
    if progress.run("environment", venv):
        sys.exit(
            "Plaza could not make .venv; on Debian and Ubuntu, `apt install python3-venv` "
            "mends this."
        )
    return own


def _has_pip() -> bool:
    """Return whether this Python has a pip that installs for another one."""
    try:
        numbers = version("pip").split(".")
    except PackageNotFoundError:
        return False
    return tuple(int(each) for each in numbers[:2] if each.isdecimal()) >= _LEAST_PIP


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


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
