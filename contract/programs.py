"""The programs that only the contract needs, in environments of their own."""

import shutil
import subprocess
from pathlib import Path

from deploy.declared import ROOT
from local.environments import environment

REQUIREMENTS, ENVIRONMENT = ROOT / "requirements-contract.txt", ROOT / ".venv-contract"


class NoNode(Exception):
    """There is no npm, which packages of Node.js come by."""


def program(name: str) -> str:
    """Return the path of a program, which is installed if it is not there yet."""
    return str(environment(ENVIRONMENT, REQUIREMENTS) / name)


def node_modules(folder: Path) -> Path:
    """Install what a folder's package-lock.json pins, once; return the folder of the packages.

    Raises NoNode without npm.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise NoNode("npm was not found; install Node.js 20 or later")
    modules, lock = folder / "node_modules", (folder / "package-lock.json").read_text()
    stamp = modules / ".installed"
    if not (stamp.exists() and stamp.read_text() == lock):
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, check=True, cwd=folder)  # noqa: S603 - pinned by its lock
        stamp.write_text(lock)
    return modules
