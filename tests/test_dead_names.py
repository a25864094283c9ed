"""No name without a use, in the code and in the components of the API's document."""

import ast
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TypeGuard

from vulture import Vulture
from vulture.core import Item

from deploy.declared import ROOT
from tests.support.functions import deferred

EXCEPTIONS = Path(__file__).with_name("dead_names.txt")
# At the last fall. Remove a line with its reason, then lower this number.
MOST_EXCEPTIONS = 27
# Methods and attributes that a library uses by name.
CALLED_BY_LIBRARIES = ["scanDelims", "*Handler", "buffer_text", "text_factory", "response_class"]
PARTS = ("app.py", "chalicelib", "deploy", "local", "bench", "script", "contract")
DOCUMENT = ROOT / "contract" / "openapi.json"


def dead_names(root: Path, parts: Iterable[str]) -> set[str]:
    """Return `path: name` of each name that no code of the parts uses.

    Decorators register routes, validators and types of actions, and fields are read by their
    documents' names: only names without a decorator count, and variables of modules.
    """
    found = Vulture(ignore_names=CALLED_BY_LIBRARIES, ignore_decorators=["@*"])
    found.scavenge([str(root / part) for part in parts], exclude=["*/node_modules/*"])
    # Lambda functions are declared by references, `module:function`.
    found.scan("\n".join(each.reference.partition(":")[2] for each in deferred()))
    items = found.get_unused_code(min_confidence=60)
    return {
        f"{item.filename.relative_to(root)}: {item.name}"
        for item in items
        if item.typ != "variable" or _is_of_module(item)
    }


def unread_constants(root: Path, parts: Iterable[str]) -> set[str]:
    """Return `path: name` of each private constant that its module does not read.

    Vulture takes a variable whose name begins with `_` for one that nobody is to read.
    """
    found = [root / part for part in parts]
    files = [path for each in found for path in (each, *each.rglob("*.py")) if path.is_file()]
    return {f"{path.relative_to(root)}: {name}" for path in files for name in _unread(path)}


def _unread(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    names = [each for each in ast.walk(tree) if isinstance(each, ast.Name)]
    read = {each.id for each in names if isinstance(each.ctx, ast.Load)}
    targets = [target for line in tree.body for target in _targets(line)]
    made = {each.id for target in targets for each in ast.walk(target) if _is_private(each)}
    return made - read


def _targets(line: ast.stmt) -> list[ast.expr]:
    if isinstance(line, ast.Assign):
        return line.targets
    return [line.target] if isinstance(line, ast.AnnAssign) else []


def _is_private(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and bool(re.fullmatch(r"_[A-Za-z]\w*", node.id))


def _is_of_module(item: Item) -> bool:
    line = item.filename.read_text().splitlines()[item.first_lineno - 1]
    return not line[:1].isspace()


def test_every_name_is_used_or_an_exception() -> None:
    lines = EXCEPTIONS.read_text().splitlines()
    exceptions = [line for line in lines if not line.startswith("#")]

    found = dead_names(ROOT, PARTS)

    assert found - {*exceptions} == set(), "remove the names, or use them"
    assert {*exceptions} - found == set(), f"take these out of {EXCEPTIONS.name}"
    assert len(exceptions) == MOST_EXCEPTIONS, "the list may only fall"


def test_dead_names_of_each_kind_are_found(tmp_path: Path) -> None:
    text = "import os\nUSED, DEAD = 1, 2\n\n\ndef call() -> int:\n    return USED\n"
    (tmp_path / "room.py").write_text(text)

    assert dead_names(tmp_path, ["room.py"]) == {"room.py: os", "room.py: DEAD", "room.py: call"}


def test_every_private_constant_is_read() -> None:
    assert unread_constants(ROOT, PARTS) == set()


def test_an_unread_constant_is_found(tmp_path: Path) -> None:
    (tmp_path / "room.py").write_text("_USED = 1\n_DEAD: int = 2\n_A, _ = _USED, 3\n")

    assert unread_constants(tmp_path, ["room.py"]) == {"room.py: _DEAD", "room.py: _A"}


def test_every_component_is_referred_to() -> None:
    document = json.loads(DOCUMENT.read_text())
    text = json.dumps(document)
    names = [
        f"#/components/{kind}/{name}"
        for kind, components in document["components"].items()
        # Operations name these without a reference.
        if kind != "securitySchemes"
        for name in components
    ]

    assert [name for name in names if f'"{name}"' not in text] == []
