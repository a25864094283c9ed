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


def test_each_file_that_ships_is_a_module() -> None:
    """The program that makes files small does not know the whole language."""
    parse = "import vm from 'node:vm'; import fs from 'node:fs';"
    parse += "for (const file of process.argv.slice(1))"
    parse += " new vm.SourceTextModule(fs.readFileSync(file, 'utf8'), { identifier: file });"
    options = ["--experimental-vm-modules", "--no-warnings", "--input-type=module", "--eval", parse]
    files = sorted(EMBED.glob("*.js"))
    ran = subprocess.run([NODE, *options, *files], capture_output=True, text=True, check=False)

    assert len(files) > 15
    assert ran.returncode == 0, ran.stderr
