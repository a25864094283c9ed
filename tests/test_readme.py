"""The README is short and true, and the tour works to the letter."""

import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import chalicelib
from chalicelib.http.document import FILE
from tests.local.stack import ROOT, server

pytestmark = pytest.mark.processes

# What differs from run to run: ids, times, and what is random by design.
VOLATILE = {
    *("id", "slug", "posted_at", "edited_at", "editable_until", "ts", "since"),
    *("parent_id", "next", "period", "until"),
}
MARK = "--- end of command ---"
README, TOUR = ROOT / "README.md", ROOT / "docs" / "tour.md"


def tour() -> list[tuple[str, str]]:
    """Return the tour's commands, each with the output that it shows."""
    text = TOUR.read_text()
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


def test_every_command_of_the_tour_prints_the_output_that_it_shows(tmp_path: Path) -> None:
    with server(tmp_path) as stack:
        url = stack.wait_until_running()
        steps = tour()
        commands = [re.sub(r"^URL=\S+", f"URL={url}", command) for command, _ in steps]
        outputs = run_in_one_shell(commands, PLAZA_LOCAL_FOLDER=str(tmp_path / "data"))
        stack.signal(signal.SIGTERM)

    assert len(outputs) == len(steps) > 20
    for (command, shown), output in zip(steps, outputs, strict=True):
        assert comparable(output) == comparable(shown), command


@pytest.mark.parametrize("page", [README, TOUR], ids=lambda page: page.name)
def test_every_script_that_a_page_names_is_there(page: Path) -> None:
    for name in set(re.findall(r"(?<!\w)script/[\w-]+", page.read_text())):
        assert os.access(ROOT / name, os.X_OK), name


def test_every_file_that_the_readme_links_to_is_there() -> None:
    prose = re.sub(r"^```.*?^```", "", README.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", prose):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_the_readme_is_read_in_a_few_minutes() -> None:
    assert len(README.read_text().splitlines()) <= 200


def test_one_sentence_says_everywhere_what_plaza_is() -> None:
    said = "omments, an ad network, a social feed, content, analytics and a shop for any website"

    places = {
        "README.md": README.read_text(),
        "chalicelib": chalicelib.__doc__ or "",
        "openapi.json": json.loads(FILE.read_text())["info"]["summary"],
        "pyproject.toml": (ROOT / "pyproject.toml").read_text(),
        "the welcome page": (ROOT / "chalicelib/web/pages/index.html").read_text(),
    }
    assert [name for name, text in places.items() if said not in " ".join(text.split())] == []
