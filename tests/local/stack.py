"""The local server as a process of its own."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from local.processes import command_lines

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_SECONDS = 60


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """Return the condition's first true value; fail when it takes too long."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)  # between two looks; the deadline decides
    raise AssertionError(f"never happened: {what}")


@dataclass(frozen=True)
class Stack:
    """A server process, the leader of a process group of its own, and what it printed."""

    process: "subprocess.Popen[bytes]"
    output: Path

    def printed(self) -> str:
        return self.output.read_text()

    def wait_until_running(self) -> str:
        """Return its URL once it says that it is running."""

        def url() -> str | None:
            assert self.process.poll() is None, self.printed()
            found = re.search(r"is running;.*?(http://[^\s/]+)", self.printed(), re.DOTALL)
            return found[1] if found else None

        return str(wait_until(url, "the server is running"))

    def token(self) -> str:
        """Return the admin's token that it printed."""
        found = re.search(r"^  Token +(ey\S+)$", self.printed(), re.MULTILINE)
        assert found, self.printed()
        return found[1]

    def signal(self, number: int) -> int:
        """Send a signal to the server alone; return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(DEADLINE_SECONDS)

    def kill_group(self) -> None:
        """Kill the server's whole process group, as a closed terminal or a power cut does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(DEADLINE_SECONDS)


def server(
    folder: Path, *options: str, **environment: str
) -> contextlib.AbstractContextManager[Stack]:
    """Start a server that says what runs; it is killed on leaving, if it still runs."""
    return started(folder, ("--verbose", *options), environment)


@contextlib.contextmanager
def started(
    folder: Path, options: Sequence[str] = (), environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Stack]:
    """Start a server whose data lie in `folder`; it is killed on leaving, if it still runs."""
    folder.mkdir(exist_ok=True)
    output = folder / f"output-{len(list(folder.glob('output-*')))}"
    own = {name: value for name, value in os.environ.items() if not name.startswith("PLAZA_")}
    with output.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "local.server", "--port", "0", *options],
            cwd=ROOT,
            env={
                **own,
                "PLAZA_LOCAL_FOLDER": str(folder / "data"),
                # Tests write faster than people.
                "PLAZA_LIMITS": "off",
                "PLAZA_PREPAYMENT": "false",
                **environment,
            },
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Stack(process, output)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def call(
    method: str, url: str, token: str | None = None, body: object = None, agent: str | None = None
) -> tuple[int, Any]:
    """Make an HTTP call; return the status and the JSON answer."""
    request = urllib.request.Request(url, method=method)  # noqa: S310 - the server's own URL
    if agent:
        request.add_header("User-Agent", agent)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    if body is not None:
        request.add_header("Content-Type", "application/json")
        request.data = json.dumps(body).encode()
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as answer:  # noqa: S310
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or b"null")


def databases_over(folder: Path) -> list[str]:
    """Return the command lines of the mongod processes whose data lie below the folder."""
    return [line for line in command_lines().values() if f"--dbpath={folder}" in line]
