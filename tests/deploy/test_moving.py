"""The pages about moving: each command brings a file of its system over."""

import gzip
import io
import re
import shlex
from pathlib import Path

import pytest

from chalicelib.comments.importing.formats.detection import PARSERS
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from deploy.declared import ROOT
from tests.comments.importing.support.written_files import write
from tests.deploy.test_discussions import Plaza

pytestmark = pytest.mark.processes

FOLDER = ROOT / "docs" / "moving"
# Pages about other things than comments: tests/deploy/test_imports.py.
OTHERS = {"shopify"}
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.stem not in {"README", *OTHERS})
COMMAND = re.compile(r"^script/plaza (import .*)$", re.MULTILINE)
COUNT = 3


def test_each_foreign_format_has_its_page() -> None:
    linked = re.findall(r"\]\((\w+)\.md\)", (FOLDER / "README.md").read_text())

    assert sorted(linked) == sorted([*(page.stem for page in PAGES), *OTHERS])
    assert {*linked} == {*PARSERS} - {"plaza"} | OTHERS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.stem))
def test_the_command_of_a_page_brings_a_file_over(
    page: Path, settings: Settings, runtime: Runtime, tmp_path: Path
) -> None:
    del runtime  # empties the collections
    (command,) = COMMAND.findall(page.read_text())
    arguments = shlex.split(command)
    whole = io.BytesIO()
    write("isso-sqlite" if page.stem == "isso" else page.stem, COUNT, whole)
    name = arguments[-1]
    packed = gzip.compress(whole.getvalue()) if name.endswith("gz") else whole.getvalue()
    (tmp_path / name).write_bytes(packed)

    done = Plaza(settings, tmp_path)(*arguments)

    assert done.stdout == f"{COUNT} of {COUNT} comments are imported\n", done.stderr
