"""The command that plants slips: what it makes of each kind of them, and what it leaves alone."""

import sys
from pathlib import Path

import pytest

from tests.mutants.__main__ import ROOT, main
from tests.mutants.slips import read_slips, stale

CODE = """
MOST = 3


class Box:
    def fits(self, number):
        return number <= MOST


class Bag:
    def fits(self, number):
        return number <= MOST
"""
TESTS = """
from chalicelib.things import Box


def test_a_box_holds_three():
    assert Box().fits(3)
"""


def slip(name: str, definition: str, before: str, after: str, **more: str) -> str:
    fields = {"name": name, "definition": definition, "before": before, "after": after, **more}
    lines = [f'{key} = "{value}"' for key, value in fields.items()]
    return "\n".join(["[[slip]]", *lines, 'tests = ["tests/test_things.py"]', ""])


CAUGHT = slip("holds-one-less", "Box.fits", "<=", "<")
SURVIVES = slip("holds-one-more", "MOST", "3", "4")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one module, one test and no slips."""
    for path, text in (("chalicelib/things.py", CODE), ("tests/test_things.py", TESTS)):
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    (tmp_path / "tests/mutants").mkdir()
    return tmp_path


def run(project: Path, *slips: str, options: tuple[str, ...] = ()) -> int:
    (project / "tests/mutants/things.toml").write_text("\n".join(slips))
    return main(["--jobs", "2", *options], project)


def test_every_slip_has_one_place_in_the_code_and_its_tests_are_there() -> None:
    assert stale(read_slips(ROOT / "tests/mutants"), ROOT) == []


def test_too_few_slips_that_a_test_notices_fail_the_command(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(project, CAUGHT, SURVIVES, options=("--bar", "0.6")) == 1

    said = capsys.readouterr().out
    assert "1 of 2 that change something are noticed (50.0%)" in said
    assert "test_a_box_holds_three" in said
    assert "survived: holds-one-more" in said


def test_enough_slips_pass_chosen_by_definition_and_the_project_is_as_it_was(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(project, CAUGHT, SURVIVES, options=("Box.*", "--no-baseline")) == 0

    assert "1 of 1 that change something" in capsys.readouterr().out
    assert (project / "chalicelib/things.py").read_text() == CODE


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (slip("gone", "Box.fits", "number < MOST", ""), "0 times"),
        (slip("renamed", "Crate.fits", "<=", "<"), "no such definition"),
        (slip("ambiguous", "Box.fits", "number", "n"), "2 times"),
    ],
)
def test_a_slip_without_exactly_one_place_is_stale(
    project: Path, capsys: pytest.CaptureFixture[str], bad: str, reason: str
) -> None:
    assert run(project, bad, options=("--check",)) == 2
    assert reason in capsys.readouterr().out


def test_a_slip_whose_tests_are_gone_is_stale(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(project, CAUGHT.replace("test_things.py", "test_things.py::test_none")) == 2
    assert "there is no tests/test_things.py::test_none" in capsys.readouterr().out


def test_tests_that_fail_without_a_slip_notice_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "tests/test_things.py").write_text(TESTS.replace("(3)", "(4)"))

    assert run(project, CAUGHT) == 2
    assert "the tests fail without a slip" in capsys.readouterr().out


def test_what_changes_nothing_counts_neither_way_unless_a_test_notices_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = slip("same", "Box.fits", "number <= MOST", "not number > MOST", equivalent="integers")

    wrong = CAUGHT + 'equivalent = "wrong"\n'

    assert run(project, same, options=("--no-baseline",)) == 0
    assert "0 of 0 that change something are noticed (100.0%), 1 change nothing" in (
        capsys.readouterr().out
    )
    assert run(project, wrong, options=("--no-baseline",)) == 2


def test_a_slip_that_hangs_is_noticed_in_time(project: Path) -> None:
    hanging = slip("hangs", "Box.fits", "return number", "while True: pass\\n        return number")

    assert run(project, hanging, options=("--timeout", "1", "--no-baseline")) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a group alone is ended")
@pytest.mark.parametrize(
    ("before", "after"),
    [("<=", "<"), ("return number", "while True: pass\\n        return number")],
    ids=["fails", "hangs"],
)
def test_what_a_test_has_started_ends_with_it(project: Path, before: str, after: str) -> None:
    """In another session, too: it would go on beside the tests of the next slip."""
    note = project / "started"
    test = f"""
import subprocess
from pathlib import Path

from chalicelib.things import Box


def test_a_box_holds_three():
    started = subprocess.Popen(["sleep", "600"], start_new_session=True)
    Path({str(note)!r}).write_text(str(started.pid))
    assert Box().fits(3)
"""
    (project / "tests/test_things.py").write_text(test)

    planted = slip("changed", "Box.fits", before, after)
    assert run(project, planted, options=("--timeout", "1", "--no-baseline")) == 0

    assert not Path(f"/proc/{note.read_text()}").exists()
