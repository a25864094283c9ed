"""The elements' logic without a browser: `node --test` on their modules, once for all."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes
TESTS = sorted(Path(__file__).with_name("logic").glob("*.test.mjs"))


def test_the_logic_of_the_elements() -> None:
    node = shutil.which("node")
    if node is None and "CI" in os.environ:
        pytest.fail("CI has no Node.js: .ci/run installs it")
    if node is None:
        pytest.skip("node was not found; install Node.js 20 or later")
    ran = subprocess.run([node, "--test", *TESTS], capture_output=True, text=True, check=False)

    assert TESTS != []
    assert ran.returncode == 0, ran.stdout
