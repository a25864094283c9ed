"""Running the tests nearest to a slip, in a copy of the project that it is planted in."""

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Literal, NamedTuple

from tests.mutants.slips import Slip, definitions, locate

Outcome = Literal["caught", "survived", "timed out", "broken"]
_OUTCOMES: dict[int | None, Outcome] = {0: "survived", 1: "caught", None: "timed out"}
_WORKER = Path(__file__).with_name("worker.py")
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".plaza", "build", "__pycache__", ".*_cache", ".hypothesis"
)


class Finding(NamedTuple):
    """What the tests said of a slip; `line` is their first failure, or why there is none."""

    outcome: Outcome
    seconds: float
    line: str


class Copy(NamedTuple):
    """A copy of a project, and the worker that runs tests in it."""

    root: Path
    worker: "subprocess.Popen[str]"

    def run_tests(self, tests: Sequence[str], timeout_seconds: int) -> Finding:
        """Run tests until one fails, for a bounded time each and together."""
        started = time.monotonic()
        assert self.worker.stdin is not None
        assert self.worker.stdout is not None
        self.worker.stdin.write(json.dumps([tests, timeout_seconds]) + "\n")
        self.worker.stdin.flush()
        line = self.worker.stdout.readline()
        if not line:
            return Finding("broken", time.monotonic() - started, "the worker has died")
        code, said = json.loads(line)
        outcome = _OUTCOMES.get(code, "broken")
        return Finding(outcome, time.monotonic() - started, _line(said))

    def examine(self, slip: Slip, timeout_seconds: int) -> Finding:
        """Plant a slip, run its tests, and take it back; raises Stale."""
        place = locate(slip, definitions(self.root))
        whole = place.path.read_text()
        end = place.offset + len(slip.before)
        _write(place.path, whole[: place.offset] + slip.after + whole[end:])
        try:
            return self.run_tests(slip.tests, timeout_seconds)
        finally:
            _write(place.path, whole)


class Copies:
    """Copies of a project, so that several slips are planted at once and the project has none."""

    def __init__(self, copies: Sequence[Copy]) -> None:
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            self._free.put(copy)

    @contextlib.contextmanager
    def one(self) -> Iterator[Copy]:
        """Lend a copy, waiting for one that is free."""
        copy = self._free.get()
        try:
            yield copy
        finally:
            self._free.put(copy)


@contextlib.contextmanager
def copies_of(root: Path, number: int) -> Iterator[Copies]:
    """Give so many copies of a project, each with a worker; all are removed afterwards."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="plaza-mutants-")))
        # A worker sees its own path without links.
        folder = folder.resolve()
        yield Copies([stack.enter_context(_copy(root, folder / str(n))) for n in range(number)])


@contextlib.contextmanager
def _copy(root: Path, copy: Path) -> Iterator[Copy]:
    shutil.copytree(root, copy, ignore=_LEFT_OUT)
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    with subprocess.Popen(
        [sys.executable, "-P", _WORKER],
        cwd=copy,
        env={**own, "PYTHONPATH": str(copy)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as worker:
        # It ends with its input, which closing this end is.
        yield Copy(copy, worker)


def _write(path: Path, text: str) -> None:
    """Write a module; bytecode of the last text would pass for this one's, being as new."""
    path.write_text(text)
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def _line(said: str) -> str:
    """Return the first failure that pytest names, or else its last line."""
    lines = said.strip().splitlines() or ["pytest said nothing"]
    named = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return named[0] if named else lines[-1]
