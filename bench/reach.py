"""Modules that a function loads and never reaches: each makes its cold starts longer.

A function loads the modules that the import of its handler executes. It reaches the definitions
that its handler names, those that these name, and so on. Both are read from the source: nodes of
the graph are functions, classes and module-level names. A class is reached with all its methods.
"""

import ast
import functools
import json
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from chalicelib.jobs.functions import Deferred
from chalicelib.wiring import functions

ROOT = Path(__file__).parents[1]
# The most unreached modules of each function. `script/cold-start --record` lowers them; a higher
# number is written by hand, with its reason in the commit.
BUDGETS = Path(__file__).with_name("unreached.json")
_OURS = frozenset({"app", "chalicelib"})
# Pydantic loads it by itself.
_PARTS = frozenset({"typing_extensions"})
_API = ("chalicelib.http.middleware:", "chalicelib.wiring.routes:ROUTES")
# Each container runs these, whatever it serves.
FRAME = ("app:_frame", "app:_runtime", "chalicelib.wiring.functions:declare_one")


class Name(NamedTuple):
    """A name in a module; without a name, the whole module."""

    module: str
    name: str = ""


@dataclass
class Source:
    """A module: the statements that define its names, its other statements, and its imports."""

    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    effects: list[ast.stmt] = field(default_factory=list)
    bindings: dict[str, Name] = field(default_factory=dict)


def unreached_by_function() -> dict[str, list[str]]:
    """Return the unreached modules of Plaza and libraries of the API, each worker and schedules."""
    return {name: find_unreached((*FRAME, *roots)) for name, roots in handler_roots()}


def faults(found: Mapping[str, list[str]], budgets: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each function with a library that it never reaches, or above its budget."""
    for name, modules in found.items():
        most = budgets.get(name, 0)
        libraries = [each for each in modules if each.partition(".")[0] not in _OURS]
        if libraries:
            yield f"{name} loads libraries for nothing: {', '.join(libraries)}"
        if len(modules) > most:
            yield (
                f"{name} loads {len(modules)} modules for nothing, and {most} at most are allowed:"
                f" {', '.join(modules)}"
            )


def read_budgets() -> dict[str, int]:
    """Return the most unreached modules of each function."""
    budgets: dict[str, int] = json.loads(BUDGETS.read_text())
    return budgets


def lower_budgets(found: Mapping[str, list[str]]) -> None:
    """Write the present numbers where they are lower, or new."""
    before = read_budgets()
    least = {name: min(len(each), before.get(name, len(each))) for name, each in found.items()}
    BUDGETS.write_text(json.dumps(least, indent=2) + "\n")


def find_unreached(roots: Iterable[str]) -> list[str]:
    """Return the modules that roots, as `module:name`, load and never reach."""
    begin = [Name(*root.split(":")) for root in roots]
    needed = {_package(each.module) for each in reach(begin)}
    needed |= {parent for module in needed for parent in _parents(module)}
    return sorted(load(each.module for each in begin) - needed - _PARTS)


def handler_roots() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each function with the references that its container loads."""
    yield "app", _API
    for worker in functions.WORKERS:
        yield worker.name, (*_references(worker.handle),)
    for name, jobs in functions.SCHEDULES.items():
        yield name, tuple(each for job in jobs for each in _references(job.run))


def _references(call: object) -> Iterator[str]:
    if isinstance(call, Deferred):
        yield from filter(None, (call.reference, call.adapter))


def _package(module: str) -> str:
    """Return a module of Plaza, or the top package of a library."""
    first = module.partition(".")[0]
    return module if first in _OURS else first


def _parents(module: str) -> Iterator[str]:
    while module := module.rpartition(".")[0]:
        yield module


def load(begin: Iterable[str]) -> set[str]:
    """Return the modules and libraries, without Python's own, that some imports execute."""
    found: set[str] = set()
    waiting = [*begin]
    while waiting:
        module = _package(waiting.pop())
        if module in found or module in sys.stdlib_module_names:
            continue
        found.add(module)
        if module in sources():
            bound = sources()[module].bindings.values()
            waiting += [*_parents(module), *(each.module for each in bound)]
    return found


def reach(begin: Iterable[Name], but: Container[str] = ()) -> set[Name]:
    """Return all names that some names lead to, these included; not through the modules `but`."""
    found: set[Name] = set()
    waiting = [*begin]
    while waiting:
        name = waiting.pop()
        if name not in found and name.module not in but:
            found.add(name)
            waiting += next_names(name)
    return found


@functools.cache
def next_names(name: Name) -> frozenset[Name]:
    """Return the names that the statements of a name use."""
    source = sources().get(name.module)
    if source is None:
        return frozenset()
    bound = {source.bindings[name.name]} if name.name in source.bindings else set()
    names = [name.name] if name.name else [*source.definitions]
    defined = [part for each in names for part in source.definitions.get(each, ())]
    used = {each for part in (*defined, *source.effects) for each in _uses(name.module, part)}
    return frozenset(bound | used)


def _uses(module: str, statement: ast.stmt) -> Iterator[Name]:
    """Yield the names that a statement of a module uses, by its own imports, too."""
    source, nodes = sources()[module], [*ast.walk(statement)]
    own = {name: Name(module, name) for name in source.definitions}
    inside = (pair for node in nodes for pair in _bind(node))
    known = {**own, **source.bindings, **dict(inside)}
    members: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            bound = known.get(node.value.id)
            if bound is not None and not bound.name:
                members.add(node.value)
                yield Name(bound.module, node.attr)
    for node in nodes:
        if isinstance(node, ast.Name) and node not in members and node.id in known:
            yield known[node.id]


@functools.cache
def files() -> Mapping[str, Path]:
    """Return the files of `app`, of the package and of the bench by module."""
    found = {"app": ROOT / "app.py"}
    for file in (*(ROOT / "chalicelib").rglob("*.py"), *(ROOT / "bench").glob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = file
    return found


@functools.cache
def sources() -> Mapping[str, Source]:
    """Return the modules as they are read."""
    return {module: _read(ast.parse(file.read_text())) for module, file in files().items()}


def _read(tree: ast.Module) -> Source:
    source = Source(bindings=dict(pair for node in _walk_executed(tree) for pair in _bind(node)))
    for statement in tree.body:
        names = [*_define(statement)]
        for name in names:
            source.definitions.setdefault(name, []).append(statement)
        if not names and not isinstance(statement, ast.Import | ast.ImportFrom | ast.If):
            source.effects.append(statement)
    return source


def _walk_executed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that an import executes: not those of functions or for the type checker."""
    for child in ast.iter_child_nodes(node):
        is_for_types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        if not is_for_types and not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield child
            yield from _walk_executed(child)


def _define(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        inside = (node for target in targets for node in ast.walk(target))
        yield from (node.id for node in inside if isinstance(node, ast.Name))


def _bind(node: ast.AST) -> Iterator[tuple[str, Name]]:
    """Yield the names that an import binds, each with its meaning."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0], Name(alias.name)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            named = Name(whole) if whole in files() else Name(node.module, alias.name)
            yield alias.asname or alias.name, named
