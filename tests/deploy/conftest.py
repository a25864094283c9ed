"""The real package, made once."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from deploy.template import ROOT


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of deployment.zip, sam.json and the zip's content."""
    out = tmp_path_factory.mktemp("package")
    command = [sys.executable, "-m", "deploy.package", "prod", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    with zipfile.ZipFile(out / "deployment.zip") as archive:
        archive.extractall(out / "content")
    return out
