"""Slips kept as data: where each is planted, and the tests nearest to it."""

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

PACKAGE = "chalicelib"


class Slip(BaseModel):
    """A small fault of the kind that gets past a review.

    `definition` is the qualified name of a function, class or module-level name, in whichever
    file of the package it is: moving it makes no slip stale. `before` has to occur exactly once
    in it. `equivalent` says why a slip changes no behaviour; no test can notice such a one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    definition: str
    before: str
    after: str
    tests: tuple[str, ...]
    equivalent: str = ""


class Place(NamedTuple):
    """Where a slip is planted: a file, and the offset of the text that it replaces."""

    path: Path
    offset: int


class Stale(Exception):
    """A slip no longer fits the code or the tests; says how."""


class Definition(NamedTuple):
    """A part of a file, from `start` up to `end`."""

    path: Path
    start: int
    end: int


def read_slips(folder: Path) -> list[Slip]:
    """Return the slips of the folder's TOML files, each a list of tables called `slip`."""
    files = sorted(folder.glob("*.toml"))
    tables = (table for file in files for table in tomllib.loads(file.read_text())["slip"])
    slips = [Slip.model_validate(table) for table in tables]
    names = [slip.name for slip in slips]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise Stale(f"two slips are called {', '.join(sorted(repeated))}")
    return slips


def definitions(root: Path) -> dict[str, list[Definition]]:
    """Return all definitions of the package by qualified name, without that of the module."""
    found: dict[str, list[Definition]] = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        text = path.read_text()
        starts = _line_starts(text)
        for name, node in _named(ast.parse(text), ""):
            assert node.end_lineno is not None
            part = Definition(path, starts[node.lineno - 1], starts[node.end_lineno])
            found.setdefault(name, []).append(part)
    return found


def locate(slip: Slip, known: Mapping[str, list[Definition]]) -> Place:
    """Return where a slip is planted; raises Stale unless that is exactly one place."""
    places = [
        Place(part.path, part.start + offset)
        for part in known.get(slip.definition, [])
        for offset in _offsets(part.path.read_text()[part.start : part.end], slip.before)
    ]
    if len(places) != 1:
        what = "no such definition" if slip.definition not in known else f"{len(places)} times"
        raise Stale(f"{slip.name}: its text is to be found once in {slip.definition}: {what}")
    return places[0]


def check_tests(slip: Slip, root: Path) -> None:
    """Raise Stale for a slip whose tests are not there."""
    for test in slip.tests:
        path, _, name = test.partition("::")
        file = root / path
        if not file.is_file() or (name and f"def {name}(" not in file.read_text()):
            raise Stale(f"{slip.name}: there is no {test}")


def stale(slips: Iterable[Slip], root: Path) -> list[str]:
    """Return what keeps slips from being planted, a line each."""
    known, found = definitions(root), []
    for slip in slips:
        try:
            locate(slip, known)
            check_tests(slip, root)
        except Stale as problem:
            found.append(str(problem))
    return found


def _named(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.FunctionDef(name=name):
                yield prefix + name, child
            case ast.ClassDef(name=name):
                yield prefix + name, child
                yield from _named(child, f"{prefix}{name}.")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield prefix + name, child


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _offsets(text: str, fragment: str) -> Iterator[int]:
    offset = text.find(fragment)
    while offset >= 0:
        yield offset
        offset = text.find(fragment, offset + 1)
