"""The elements' logic without a browser: `node --test` on their modules, once for all."""

import subprocess
from pathlib import Path

import playwright
import pytest

from chalicelib.web.files import EMBED

pytestmark = pytest.mark.processes
TESTS = sorted(Path(__file__).with_name("logic").glob("*.test.mjs"))
# Playwright's wheel has a Node.js of its own, so that none is installed.
NODE = Path(playwright.__file__).parent / "driver" / "node"


def test_the_logic_of_the_elements() -> None:
    ran = subprocess.run([NODE, "--test", *TESTS], capture_output=True, text=True, check=False)

    assert TESTS != []
    assert ran.returncode == 0, ran.stdout
