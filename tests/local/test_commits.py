"""`script/commits`: a message says room, effect and reason."""

import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.declared import ROOT

pytestmark = pytest.mark.processes

REASON = "\n\nA renewal passed the end."


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of its own, with the command in it and one commit of the old form."""
    (tmp_path / "script").mkdir()
    shutil.copy(ROOT / "script/commits", tmp_path / "script")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path, "End holds", date="2026-11-24T00:00:00Z")
    return tmp_path


def git(folder: Path, *arguments: str, **more: str) -> None:
    author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", *author, *arguments], cwd=folder, check=True, env=more or None)


def commit(folder: Path, message: str, date: str = "2026-12-01T00:00:00Z") -> None:
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message, **dates)


def check(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [str(folder / "script/commits"), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.strip()


@pytest.mark.parametrize("subject", ["shop: end a hold", "web/embed: " + "x" * 61])
def test_a_good_message_passes(repository: Path, subject: str) -> None:
    commit(repository, subject + REASON)

    assert check(repository) == (0, "")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("End a hold" + REASON, 'not "room: effect"'),
        ("shop: end a hold." + REASON, 'not "room: effect"'),
        ("Shop: end a hold" + REASON, 'not "room: effect"'),
        ("shop: end a hold", "no reason in the body"),
        ("shop: " + "x" * 67 + REASON, "more than 72 characters"),
    ],
)
def test_a_message_of_another_form_is_refused(repository: Path, message: str, reason: str) -> None:
    commit(repository, message)
    commit(repository, "shop: show a hold" + REASON)

    code, output = check(repository)

    assert code == 1
    assert output.endswith(f"{message.partition(chr(10))[0]}: {reason}")


def test_a_range_is_checked_whatever_its_dates(repository: Path) -> None:
    assert check(repository, "HEAD")[0] == 1
    assert check(repository)[0] == 0


def test_a_range_that_git_does_not_know_is_no_good_one(repository: Path) -> None:
    command = [str(repository / "script/commits"), "nonsense..HEAD"]

    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)

    assert (done.returncode, "nonsense" in done.stderr) == (2, True)
