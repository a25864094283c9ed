"""The elements use the API as its document has it, by `tsc --strict`."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from contract.clients import typescript_tools, typescript_types
from contract.programs import NoNode
from deploy.declared import ROOT

pytestmark = pytest.mark.processes


def test_the_elements_fit_the_types_of_the_document(tmp_path: Path) -> None:
    try:
        tools = typescript_tools()
    except NoNode as failure:
        if "CI" in os.environ:
            raise
        pytest.skip(str(failure))
    for folder in ("console", "embed", "site"):
        shutil.copytree(ROOT / "web" / folder, tmp_path / folder)
    shutil.copy(ROOT / "web" / "tsconfig.json", tmp_path)
    types = typescript_types(tmp_path)
    types.replace(tmp_path / "embed" / "plaza-api.d.ts")

    checked = subprocess.run(
        [tools / "tsc", "-p", tmp_path], capture_output=True, text=True, check=False
    )

    assert checked.stdout == ""
