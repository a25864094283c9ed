"""A process in a copy of the project that runs tests again and again, without starting anew.

It has imported what is not the project's own, and has a server running: each run is a fork of
it, which imports the project as it is then.
"""

import contextlib
import ctypes
import importlib
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

_POLL_SECONDS = 0.05
# What pytest takes to begin and to end, beside the tests.
_BESIDE_TESTS_SECONDS = 60
_LEFT_SECONDS = 10
# Of `prctl`: whoever loses their parent becomes a child of this process.
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Answer each line `[tests, timeout_seconds]` with `[exit code or null, what was said]`."""
    _adopt_orphans()
    with _server():
        _forget(Path.cwd())
        _await_threads()
        for line in sys.stdin:
            named, timeout_seconds = json.loads(line)
            sys.stdout.write(json.dumps(_run(named, timeout_seconds)) + "\n")
            sys.stdout.flush()


@contextlib.contextmanager
def _server() -> Iterator[None]:
    """Have a server running for all runs; a project without a conftest.py needs none."""
    if not Path("tests/conftest.py").exists():
        yield
        return
    # For what it imports, most of which is not the project's own. Go's runtime in `minify`
    # hangs after a fork: each run loads its own.
    sys.modules["minify"] = ModuleType("minify")
    importlib.import_module("tests.conftest")
    del sys.modules["minify"]
    from local.mongod import running_mongod
    from tests.support.isolation import acknowledge_unjournaled
    from tests.support.memory import servers_folder

    with (
        servers_folder("mutants") as data,
        running_mongod(data, "--setParameter=ttlMonitorEnabled=false") as uri,
    ):
        acknowledge_unjournaled(uri)
        os.environ["PLAZA_TEST_MONGODB_URI"] = uri
        yield


def _forget(folder: Path) -> None:
    """Forget the modules of a folder, so that they are read again."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and file and Path(file).is_relative_to(folder):
            del sys.modules[name]
    for name in ("tests", "local", "bench", "deploy"):
        sys.modules.pop(name, None)


def _adopt_orphans() -> None:
    """Have Linux make orphans children of this process, so that a run ends with all of them."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _await_threads() -> None:
    """Wait for the threads of closed clients: a fork would copy a lock that one of them holds."""
    deadline = time.monotonic() + _LEFT_SECONDS
    while threading.active_count() > 1 and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _run(named: Sequence[str], timeout_seconds: int) -> tuple[int | None, str]:
    """Run tests in a fork, for a bounded time each and together; None if that was not enough."""
    kept = _descendants()
    with tempfile.TemporaryFile() as said:
        process = os.fork()
        if not process:
            _test(named, timeout_seconds, said.fileno())
        code = _wait(process, timeout_seconds + _BESIDE_TESTS_SECONDS)
        _end_others(kept)
        said.seek(0)
        return code, said.read().decode(errors="replace")


def _test(named: Sequence[str], timeout_seconds: int, output: int) -> NoReturn:
    code: int = pytest.ExitCode.INTERNAL_ERROR
    os.setpgid(0, 0)
    for stream in (1, 2):
        os.dup2(output, stream)
    options = ["-x", "-q", "-rfE", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
    # What the parent has imported already is not rewritten, and needs not be.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning", f"--timeout={timeout_seconds}"]
    try:
        code = pytest.main([*options, *named])
        sys.stdout.flush()
    finally:
        os._exit(code)


def _wait(process: int, seconds: int) -> int | None:
    """Return the exit code of a fork, or None after ending it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_POLL_SECONDS)
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def _end_others(kept: set[int]) -> None:
    """End what a run has started and left, in whichever group and session it is."""
    deadline = time.monotonic() + _LEFT_SECONDS
    while (left := _descendants() - kept) and time.monotonic() < deadline:
        for each in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(each, os.WNOHANG)
        time.sleep(_POLL_SECONDS)


def _descendants() -> set[int]:
    """Return the processes that this one has started, and theirs; none without `/proc`."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name before it may have blanks and brackets.
            above = stat.read_text().rpartition(")")[2].split()[1]
            parents[int(stat.parent.name)] = int(above)
    found: set[int] = set()
    new = {os.getpid()}
    while new:
        new = {each for each, above in parents.items() if above in new} - found
        found |= new
    return found


if __name__ == "__main__":
    main()
