"""Tables that are older than the code they measure: their regions say so.

A part measures the modules that its calls lead to, as its source names them. `measured.json` has a
digest of each at the last measurement. Comments, docstrings and layout do not count.
"""

import ast
import functools
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench import reach
from bench.page import REGION
from bench.reach import ROOT, Name

MEASURED = Path(__file__).with_name("measured.json")
PAGES = (ROOT / "docs" / "performance.md", ROOT / "docs" / "scale.md")
# Digests by module of each part.
Digests = Mapping[str, Mapping[str, str]]
# A region of the whole run.
_WHOLE = "run"
_MARK = re.compile(r"\n\*Older than its code: [^\n]*\*\n")
# It makes the data's place, by all that a deployment runs.
_NOT_MEASURED = frozenset({"app", "bench.stage"})
_SHOWN = 6


def mark_pages() -> None:
    """Mark the older regions of all pages."""
    for file in PAGES:
        file.write_text(mark(file.read_text(), read_measured()))


def mark(text: str, measured: Digests) -> str:
    """Return a page whose older regions say so, and no others."""

    def region(match: re.Match[str]) -> str:
        body = _MARK.sub("", match["body"], count=1)
        rooms = changed_rooms(match["name"], measured)
        return f"{match['begin']}{_sentence(rooms) if rooms else ''}{body}{match['end']}"

    return REGION.sub(region, text)


def faults(text: str, measured: Digests) -> Iterator[str]:
    """Yield the names of regions that are older and do not say so, or say so and are not."""
    for match in REGION.finditer(text):
        is_older = bool(changed_rooms(match["name"], measured))
        if is_older != bool(_MARK.match(match["body"])):
            yield match["name"]


def changed_rooms(region: str, measured: Digests) -> list[str]:
    """Return the rooms with a module that has changed, come or gone since a measurement."""
    parts = measured if region == _WHOLE else measured.keys() & {region}
    changed = {
        module for part in parts for module, _ in measured[part].items() ^ digests_of(part).items()
    }
    return sorted({".".join(module.split(".")[1:3]) for module in changed})


def record(parts: Iterable[str]) -> None:
    """Store the digests of the code that parts measure now."""
    known = {**read_measured(), **{part: digests_of(part) for part in parts}}
    MEASURED.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def read_measured() -> dict[str, dict[str, str]]:
    """Return the digests of the last measurement."""
    found: dict[str, dict[str, str]] = json.loads(MEASURED.read_text())
    return found


def digests_of(part: str) -> dict[str, str]:
    """Return the digest of each module of Plaza that a part measures."""
    names = reach.reach([Name(f"bench.{part}")], but=_NOT_MEASURED)
    modules = {each.module for each in names if each.module.startswith("chalicelib")}
    return {module: _digest_of(module) for module in modules & reach.files().keys()}


@functools.cache
def _digest_of(module: str) -> str:
    return digest(reach.files()[module].read_text())


def digest(source: str) -> str:
    """Return ten characters for what a module does."""
    text = json.dumps(_plain(ast.parse(source)))
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _plain(node: Any) -> Any:
    """Return a tree as lists, without docstrings and without the fields that nothing is in."""
    if isinstance(node, list):
        return [_plain(each) for each in node if not _is_docstring(each)]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
    return [type(node).__name__, *([name, _plain(value)] for name, value in fields)]


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _sentence(rooms: list[str]) -> str:
    shown = ", ".join(f"`{room}`" for room in rooms[:_SHOWN])
    more = f" and {len(rooms) - _SHOWN} more rooms" if len(rooms) > _SHOWN else ""
    return f"\n*Older than its code: {shown}{more} changed after the measurement.*\n"
