"""Any module may be the first that a function, a test or a shell imports."""

import json
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.house import MODULES, PACKAGE, imports_in_order, loaded_with

pytestmark = pytest.mark.processes

# A child has the libraries, its module, and no other module of Plaza but those that its module
# imports. Before all others it executes its module's first import, so it is forked from the process
# of that module: the steps are those of an import alone, and most are shared.
_IMPORT_EACH_ALONE = """
import gc, importlib, json, os, sys
import chalice.app, markdown_it, orjson, pydantic, pymongo, typing_extensions

children = json.load(sys.stdin)

def import_alone(name):
    child = os.fork()
    if not child:
        if name:
            importlib.import_module(name)
        fine = [import_alone(each) for each in children.get(name, ())]
        os._exit(not all(fine))
    is_fine = not os.waitpid(child, 0)[1]
    print(name, "imported" if is_fine else "FAILED", flush=True)
    return is_fine

gc.freeze()
gc.disable()
import_alone("")
"""


def test_every_module_can_be_imported_first() -> None:
    children: dict[str, list[str]] = {}
    for name in MODULES:
        first = _first_import_of(name)
        children.setdefault(first and f"chalicelib.{first}", []).append(
            f"chalicelib.{name}".rstrip(".")
        )

    run = subprocess.run(
        [sys.executable, "-c", _IMPORT_EACH_ALONE],
        cwd=PACKAGE.parent,
        input=json.dumps(children),
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout.count("imported") == len(MODULES) + 1, run.stdout + run.stderr
    assert "FAILED" not in run.stdout, run.stderr


def _first_import_of(name: str) -> str:
    """Return the module that is executed whole before a module's own lines, or nothing."""
    parts = name.split(".")
    packages = [".".join(parts[:length]) for length in range(1, len(parts))]
    for each in (*packages, name):
        for imported in imports_in_order(each):
            is_within = imported.startswith(f"{name}.")
            return each if each != name else "" if is_within else imported
    return ""


def test_no_files_import_each_other_in_a_circle() -> None:
    needs = TopologicalSorter({name: loaded_with(name) for name in MODULES})

    try:
        needs.prepare()
    except CycleError as error:
        pytest.fail(f"move what these need to a file of its own: {' -> '.join(error.args[1])}")
