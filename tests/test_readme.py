"""The README's tour works to the letter: each command is run, each output compared."""

import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.local.stack import ROOT, server

pytestmark = pytest.mark.processes

# What differs from run to run: ids, times, and what is random by design.
VOLATILE = {
    *("id", "slug", "posted_at", "edited_at", "editable_until", "ts", "since"),
    *("parent_id", "next", "period", "until"),
}
MARK = "--- end of command ---"


def tour() -> list[tuple[str, str]]:
    """Return the tour's commands, each with the output that the README shows."""
    text = (ROOT / "README.md").read_text()
    steps: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], ""))
            elif line.startswith("> "):
                command, output = steps.pop()
                steps.append((f"{command}\n{line[2:]}", output))
            else:
                command, output = steps.pop()
                steps.append((command, f"{output}{line}\n"))
    return steps


def run_in_one_shell(commands: list[str], **environment: str) -> list[str]:
    """Run commands one after the other in one bash; return what each of them printed."""
    script = "".join(f"{command}\necho {shlex.quote(MARK)}\n" for command in commands)
    result = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert not result.stderr, result.stderr
    return result.stdout.split(f"{MARK}\n")[:-1]


def masked(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: (each is not None and "volatile") if name in VOLATILE else masked(each)
                for name, each in value.items()
            }
        case list():
            return [masked(each) for each in value]
        case _:
            return value


def comparable(output: str) -> list[Any]:
    """Return the output's lines, JSON parsed and masked where a line is JSON."""
    return [
        masked(json.loads(line)) if line.startswith("{") else line for line in output.splitlines()
    ]


def test_every_command_of_the_tour_prints_what_the_readme_shows(tmp_path: Path) -> None:
    with server(tmp_path) as stack:
        url = stack.wait_until_running()
        steps = tour()
        commands = [re.sub(r"^URL=\S+", f"URL={url}", command) for command, _ in steps]
        outputs = run_in_one_shell(commands, PLAZA_LOCAL_FOLDER=str(tmp_path / "data"))
        stack.signal(signal.SIGTERM)

    assert len(outputs) == len(steps) > 20
    for (command, shown), output in zip(steps, outputs, strict=True):
        assert comparable(output) == comparable(shown), command


def test_every_script_that_the_readme_names_is_there() -> None:
    for name in set(re.findall(r"(?<!\w)script/[\w-]+", (ROOT / "README.md").read_text())):
        assert os.access(ROOT / name, os.X_OK), name


def test_every_file_that_the_readme_links_to_is_there() -> None:
    prose = re.sub(
        r"^```.*?^```", "", (ROOT / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL
    )
    for target in re.findall(r"\]\(([^)#]+)\)", prose):
        assert target.startswith("https://") or (ROOT / target).exists(), target
