"""The tests of rooms that changed: `script/test --changed`."""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from tests.architecture.house import MODULES, PACKAGE, imports_of, module_name, room_of

ROOT = PACKAGE.parent
# Folders outside the package, and their tests.
_BESIDE = {
    "bench": "tests/bench",
    "contract": "tests/contract",
    "deploy": "tests/deploy",
    "docs": "tests/test_docs.py",
    "local": "tests/local",
    "script": "tests/local/test_commands.py",
}


def main() -> None:
    """Print the paths of tests for pytest, one a line."""
    base = sys.argv[1] if len(sys.argv) > 1 else _git("merge-base", "main", "HEAD")[0]
    changed = _git("diff", "--name-only", base)
    changed += _git("ls-files", "--others", "--exclude-standard")
    print(*tests_of(changed), sep="\n")


def tests_of(files: Iterable[str]) -> list[str]:
    """Return the tests of changed files, and of the rooms that import a changed module.

    A folder stands for the tests in it. Files that no test is near to are left out.
    """
    found = {path for file in files for path in _tests_of(file)}
    parents = {path: {each.as_posix() for each in Path(path).parents} for path in found}
    return sorted(path for path in found if not parents[path] & found)


def _tests_of(file: str) -> Iterator[str]:
    path, top = ROOT / file, file.partition("/")[0]
    if top == "chalicelib" and path.suffix == ".py":
        for room in _rooms_near(module_name(path)):
            yield from _tests_of_room(room)
    elif top == "tests":
        is_test = path.name.startswith("test_") and path.suffix == ".py"
        nearest = path if is_test else _tested_folder(path.parent)
        if nearest.exists():
            yield nearest.relative_to(ROOT).as_posix()
    elif top == "web":
        name = re.compile(rf"\b(?:plaza-)?{re.escape(path.stem)}\b")
        pages = sorted((ROOT / "tests/web").rglob("test_*.py"))
        yield from (
            each.relative_to(ROOT).as_posix() for each in pages if name.search(each.read_text())
        )
    elif file in {"README.md", "docs/tour.md"}:
        yield "tests/test_readme.py"
    elif top in _BESIDE or path.suffix == ".md":
        yield _BESIDE.get(top, "tests/test_docs.py")


def _tested_folder(folder: Path) -> Path:
    """Return the nearest folder above a support file that has tests of its own."""
    while folder != ROOT and not any(folder.glob("test_*.py")):
        folder = folder.parent
    return folder


def _rooms_near(module: str) -> set[str]:
    """Return the rooms of a module and of all that import it."""
    return {room_of(each) for each in (module, *_importers()[module]) if each}


@cache
def _importers() -> Mapping[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for importer in MODULES:
        for each in imports_of(importer):
            found[each.imported].add(importer)
    return found


def _tests_of_room(room: str) -> Iterator[str]:
    *above, name = room.split(".")
    folder = ROOT.joinpath("tests", *above)
    if (folder / name).is_dir():
        yield (folder / name).relative_to(ROOT).as_posix()
    else:
        files = folder.glob(f"test_{name}*.py")
        yield from (each.relative_to(ROOT).as_posix() for each in files)


def _git(*arguments: str) -> list[str]:
    command = ["git", *arguments]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"script/test --changed: {run.stderr.strip()}; name a BASE that git knows")
    return run.stdout.split("\n")[:-1]


if __name__ == "__main__":
    main()
