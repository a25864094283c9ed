"""The real package, made once."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from deploy.declared import ROOT
from deploy.template import ALARMS, DASHBOARD


def make_package(stage: str, out: Path, *options: str) -> None:
    command = [sys.executable, "-m", "deploy.package", stage, str(out), *options]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of deployment.zip, sam.json and the zip's content."""
    out = tmp_path_factory.mktemp("package")
    make_package("prod", out)
    with zipfile.ZipFile(out / "deployment.zip") as archive:
        archive.extractall(out / "content")
    return out


@pytest.fixture(scope="session")
def template(package: Path) -> Any:
    """The template of prod, as Chalice wrote and merged it."""
    return json.loads((package / "sam.json").read_text())


@pytest.fixture(scope="session")
def nested(package: Path) -> dict[str, Any]:
    """The templates of prod's nested stacks, by their files."""
    return {file: json.loads((package / file).read_text()) for file in (ALARMS, DASHBOARD)}
