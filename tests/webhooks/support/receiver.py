"""A receiver of webhooks on this machine, which answers as a test says."""

import base64
import contextlib
import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import orjson

from tests.support.stand_ins import answering


class Received(NamedTuple):
    """A call that came: its path, its headers in lower case, and its body."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> str:
        """The header `webhook-id`."""
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return orjson.loads(self.body)

    def is_signed_with(self, secret: str) -> bool:
        """Return whether a signature is of this secret, by the words of the standard."""
        key = base64.b64decode(secret.removeprefix("whsec_"))
        stamp = self.headers["webhook-timestamp"]
        signed = b".".join([self.event.encode(), stamp.encode(), self.body])
        wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return f"v1,{wanted}" in self.headers["webhook-signature"].split(" ")


class Receiver:
    """A server, the calls that came, and the status of its answers."""

    def __init__(self) -> None:
        self.url = ""
        self.calls: list[Received] = []
        self.status: Callable[[], int] = lambda: 204
        self.headers: dict[str, str] = {}
        # Sends an answer's body, if a test sets it.
        self.write: Callable[[Any], None] | None = None

    @property
    def kinds(self) -> list[str]:
        """The kinds of the events that came, in their order."""
        return [each.json["type"] for each in self.calls]


@contextlib.contextmanager
def running() -> Iterator[Receiver]:
    """Run a receiver."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            names = {name.lower(): value for name, value in self.headers.items()}
            receiver.calls.append(Received(self.path, names, body))
            self.send_response(receiver.status())
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if receiver.write is not None:
                with contextlib.suppress(OSError):
                    receiver.write(self.wfile)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook?of=plaza"
    with answering(server):
        yield receiver
