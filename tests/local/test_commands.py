"""The commands of script/: each says what it is for, and none does anything when asked for help."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from deploy.declared import ROOT

pytestmark = pytest.mark.processes

COMMANDS = sorted(
    each.name for each in (ROOT / "script").iterdir() if each.is_file() and os.access(each, os.X_OK)
)


def run(*command: str, folder: Path = ROOT) -> str:
    """Return what a command prints, which must end well."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("name", [each for each in COMMANDS if each != "help"])
def test_a_command_helps(name: str, tmp_path: Path) -> None:
    """Also from another folder, where it leaves nothing."""
    told = run(str(ROOT / "script" / name), "--help", folder=tmp_path)

    assert told.startswith(f"usage: script/{name}")
    what = told.partition("\n\n")[2]
    assert len(what.split()) > 5, "it says how to call it, and not what it does"
    assert list(tmp_path.iterdir()) == []


def test_all_commands_are_listed_each_with_a_line() -> None:
    for option in ([], ["--help"]):
        lines = re.findall(r"^script/(\S+) +(.+)$", run("script/help", *option), re.MULTILINE)
        assert [name for name, _ in lines] == COMMANDS
        for name, purpose in lines:
            assert re.fullmatch(r"[A-Z].{20,85}\.", purpose), name


def test_bootstrap_without_a_module_is_refused() -> None:
    for arguments in ([], ["--server"]):
        done = subprocess.run(
            ["script/bootstrap", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert done.stdout.startswith("usage: script/bootstrap")


def test_a_long_run_lengthens_every_test_that_can_be_longer() -> None:
    lengths = set()
    for file in (ROOT / "tests").rglob("*.py"):
        lengths |= set(
            re.findall(r'environ\.get\("(PLAZA_TEST_\w+)", "[\d.]+"\)', file.read_text())
        )
    set_by_long = re.findall(r"(PLAZA_TEST_\w+)=", (ROOT / "script/test").read_text())

    assert sorted(lengths) == sorted(set_by_long)
