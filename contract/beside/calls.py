"""Calls to a server of another system on this machine, and its process."""

import contextlib
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from waitress.server import create_server

from local.mongod import stop

_START_TIMEOUT_SECONDS = 60


class Answer(NamedTuple):
    """An answer: its status, its headers and its JSON, or its text where it has none."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Refused(Exception):
    """A system answers a call otherwise than its documentation says."""


def call(method: str, url: str, body: Any = None, **headers: str) -> Answer:
    """Send a call and return its answer; raises Refused for a status of 400 or more."""
    data = None if body is None else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", **headers}
    asked = urllib.request.Request(url, data, sent, method=method)  # noqa: S310 - on this machine
    try:
        with urllib.request.urlopen(asked, timeout=30) as reply:  # noqa: S310 - on this machine
            raw, status, told = reply.read(), reply.status, dict(reply.headers)
    except urllib.error.HTTPError as error:
        raise Refused(f"{method} {url}: {error.code} {error.read()[:300]!r}") from None
    text = raw.decode()
    with contextlib.suppress(ValueError):
        return Answer(status, told, json.loads(text))
    return Answer(status, told, text)


def next_millisecond() -> None:
    """Wait until a millisecond has begun in which nothing was posted."""
    begun = time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 == begun:
        pass


@contextlib.contextmanager
def serving(command: Sequence[str], probe: str, folder: Path, **environment: str) -> Iterator[None]:
    """Run a server until the end of the block; raises Refused if it does not answer in time."""
    log = folder / "server.log"
    own = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    with (
        log.open("ab") as out,
        subprocess.Popen(  # noqa: S603 - a pinned package
            command,
            cwd=folder,
            env={**own, **environment},
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
        ) as process,
    ):
        try:
            _wait(process, probe, log)
            yield
        finally:
            stop(process)


def _wait(process: "subprocess.Popen[bytes]", probe: str, log: Path) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            call("GET", probe)
        except OSError:
            time.sleep(0.1)
        except Refused:
            return
        else:
            return
    raise Refused(f"the server did not start:\n{log.read_text()[-2_000:]}")


@contextlib.contextmanager
def answering(body: Any) -> Iterator[str]:
    """Run a server that answers every GET with a JSON; give its URL."""

    def application(_: object, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    server = create_server(application, host="127.0.0.1", port=0)
    Thread(target=server.run, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}/"
    finally:
        server.close()
