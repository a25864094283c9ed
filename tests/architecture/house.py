"""The modules of the package, their rooms, and what they import from each other."""

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.architecture.floors import FLOORS

PACKAGE = Path(__file__).parents[2] / "chalicelib"
# In a room's docstring: the modules that other rooms may import, in backquotes.
REFERENCE = re.compile(r"chalicelib\.([\w.]+):(\w+)")
FACE = re.compile(r"Public face: ([^.]+)\.")


class Import(NamedTuple):
    """An import of one of the project's modules by another."""

    importer: str
    imported: str
    name: str
    line: int


def module_name(file: Path) -> str:
    """Return a file's dotted name below the package, with nothing for `__init__`."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {module_name(file): file for file in sorted(PACKAGE.rglob("*.py"))}
FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor}


def room_of(module: str) -> str:
    """Return the room of a module: the longest name among the floors that it begins with."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in FLOOR_OF), module)


def imports_of(module: str) -> Iterator[Import]:
    """Give every import of the project's own modules in a module, wherever it is.

    A reference, `module:name`, is an import that waits for its use.
    """
    yield from _imports(module, ast.walk(_tree(module)))
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Constant) and (found := REFERENCE.fullmatch(str(node.value))):
            yield Import(module, found[1], found[2], node.lineno)


def loaded_with(module: str) -> set[str]:
    """Return the project's modules that the import of a module executes before its end."""
    return set(imports_in_order(module))


def imports_in_order(module: str) -> list[str]:
    """Return the project's modules that a module's lines import when it is imported, in order."""
    found = (each.imported for each in _imports(module, _executed(_tree(module))))
    return [each for each in found if each != module]


def _tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Give the nodes that an import executes: not those of functions or for the type checker."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from _executed(child)


def _imports(module: str, nodes: Iterable[ast.AST]) -> Iterator[Import]:
    for node in nodes:
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("chalicelib"):
            continue
        package = (node.module or "").removeprefix("chalicelib").removeprefix(".")
        for alias in node.names:
            inside = f"{package}.{alias.name}".removeprefix(".")
            imported, name = (inside, "") if inside in MODULES else (package, alias.name)
            yield Import(module, imported, name, node.lineno)


@functools.cache
def imports_between_rooms() -> list[Import]:
    """Return the imports that lead from one room into another."""
    return [
        each
        for module in MODULES
        for each in imports_of(module)
        if each.imported and room_of(module) != room_of(each.imported)
    ]


def face_of(room: str) -> set[str] | None:
    """Return the modules that a room's docstring offers; None for a room of one file."""
    file = MODULES.get(room)
    if file is None or file.name != "__init__.py":
        return None
    stated = FACE.search(ast.get_docstring(ast.parse(file.read_text())) or "")
    return set(re.findall(r"`(\w+)`", stated[1])) if stated else set()


def purpose_of(room: str) -> str:
    """Return the first sentence of a room's docstring."""
    text = ast.get_docstring(ast.parse(MODULES[room].read_text())) or ""
    return text.split("\n\n")[0].replace("\n", " ")
