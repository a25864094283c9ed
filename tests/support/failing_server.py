"""Servers of this machine that fail in each way that a provider can."""

import contextlib
import itertools
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Literal

import pytest

Failure = Literal["refuses", "hangs", "does not accept", "drips", "has no address", "is slow"]
FAILURES: tuple[Failure, ...] = (
    "refuses",
    "hangs",
    "does not accept",
    "drips",
    "has no address",
    "is slow",
)
# A resolver never answers for a name of these. A server has its own: calls that an earlier test
# gave up may try again, and count for no other server.
_UNRESOLVED = (f"unresolved-{number}.example" for number in itertools.count())
# Longer than any time-out of a test, which ends it sooner.
_LONG_SECONDS = 60.0
# Longer than SQS ever takes, and shorter than it has in all.
_SLOW_SECONDS = 0.7
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


class FailingServer:
    """A server's address, its connections, the seconds before it answers, and requests answered.

    Its answer is that of an SQS that has every queue and takes every message.
    """

    def __init__(self) -> None:
        self.url = ""
        self.connections = 0
        self.answered: list[bytes] = []
        self.delay_seconds = _LONG_SECONDS
        self.is_over = threading.Event()


Answer = Callable[[FailingServer, socket.socket], None]


@contextlib.contextmanager
def running(failure: Failure, monkeypatch: pytest.MonkeyPatch) -> Iterator[FailingServer]:
    """Run a server that fails in this way; whatever it holds ends with the block."""
    server = FailingServer()
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        stack.callback(server.is_over.set)
        port = listener.getsockname()[1]
        server.url = f"http://127.0.0.1:{port}"
        server.delay_seconds = _SLOW_SECONDS if failure == "is slow" else _LONG_SECONDS
        match failure:
            case "refuses":
                listener.close()
            case "does not accept":
                _fill(listener, stack)
            case "has no address":
                name = next(_UNRESOLVED)
                server.url = f"http://{name}:{port}"
                _block_resolver(server, name, monkeypatch)
            case "hangs" | "is slow":
                _start(server, listener, _answer_late)
            case "drips":
                _start(server, listener, _drip)
        yield server


def _fill(listener: socket.socket, stack: contextlib.ExitStack) -> None:
    """Fill the backlog, so that the system drops whoever comes next."""
    for _ in range(4):
        waiting = stack.enter_context(socket.socket())
        waiting.setblocking(False)  # noqa: FBT003 - the socket's own interface
        waiting.connect_ex(listener.getsockname())


def _block_resolver(server: FailingServer, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = socket.getaddrinfo

    def resolve_all_but_one(host: Any, *given: Any, **named: Any) -> Any:
        if host == name:
            server.connections += 1
            server.is_over.wait(_LONG_SECONDS)
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return resolve(host, *given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_all_but_one)


def _start(server: FailingServer, listener: socket.socket, answer: Answer) -> None:
    threading.Thread(target=_serve, args=(server, listener, answer), daemon=True).start()


def _serve(server: FailingServer, listener: socket.socket, answer: Answer) -> None:
    with contextlib.suppress(OSError):
        while not server.is_over.is_set():
            connection, _ = listener.accept()
            server.connections += 1
            threading.Thread(target=_within, args=(connection, answer, server), daemon=True).start()


def _within(connection: socket.socket, answer: Answer, server: FailingServer) -> None:
    with connection, contextlib.suppress(OSError):
        answer(server, connection)


def _drip(server: FailingServer, connection: socket.socket) -> None:
    """Send a header that never ends; no single wait for a byte is long."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while not server.is_over.wait(0.1):
        connection.sendall(b"x")


def _answer_late(server: FailingServer, connection: socket.socket) -> None:
    with connection.makefile("rb") as sent:
        while request := _request(sent):
            server.is_over.wait(server.delay_seconds)
            server.answered.append(request)
            body = json.dumps({"QueueUrl": f"{server.url}/queue", "Successful": [], "Failed": []})
            connection.sendall(_HEAD % len(body) + body.encode())


def _request(sent: BinaryIO) -> bytes:
    """Return a whole request; nothing if there is no other."""
    head = b""
    while line := sent.readline():
        head += line
        if line == b"\r\n":
            break
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    return head + sent.read(int(length[1]) if length else 0)
