"""Names and sizes of the package: a class name has one meaning, a function fits on a screen."""

import ast
from collections import defaultdict

from tests.architecture.house import MODULES

MOST_LINES = 40


def test_a_public_class_name_exists_once() -> None:
    files = defaultdict(list)
    for module, file in MODULES.items():
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].append(module)

    assert {name for name, found in files.items() if len(found) > 1} == set()


def test_a_function_has_forty_lines_at_most() -> None:
    found = {
        f"{module}.{node.name}"
        for module, file in MODULES.items()
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= MOST_LINES
    }

    assert found == set()
