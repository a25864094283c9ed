"""Any module may be the first that a function, a test or a shell imports."""

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.house import MODULES, PACKAGE, loaded_with

pytestmark = pytest.mark.processes

# A child has the libraries, and no module of Plaza. Without the collector it shares the parent's
# memory: 708 modules take half the time.
_IMPORT_EACH_ALONE = """
import gc, importlib, os, sys
import chalice.app, markdown_it, orjson, pydantic, pymongo, typing_extensions

names = sys.stdin.read().split()
gc.freeze()
gc.disable()
for name in names:
    child = os.fork()
    if not child:
        importlib.import_module(name)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name, flush=True)
"""


def test_every_module_can_be_imported_first() -> None:
    names = "\n".join(f"chalicelib.{name}".rstrip(".") for name in MODULES)

    run = subprocess.run(
        [sys.executable, "-c", _IMPORT_EACH_ALONE],
        cwd=PACKAGE.parent,
        input=names,
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout.split() == [], run.stderr


def test_no_files_import_each_other_in_a_circle() -> None:
    needs = TopologicalSorter({name: loaded_with(name) for name in MODULES})

    try:
        needs.prepare()
    except CycleError as error:
        pytest.fail(f"move what these need to a file of its own: {' -> '.join(error.args[1])}")
