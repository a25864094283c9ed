"""A stand-in of Akismet's API on this machine, which also answers badly."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import parse_qsl

from tests.support.stand_ins import answering

KEY = "the-key-of-the-stand-in"
THANKS = "Thanks for making the web a better place."
Mood = Literal["well", "garbage", "failing", "trickling", "hanging up"]


class AkismetStandIn:
    """What it was asked, what it says of each text, and how it is doing."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.spam: set[str] = set()
        self.discarded: set[str] = set()
        self.mood: Mood = "well"
        self.is_over = threading.Event()

    def operations(self) -> list[tuple[str, str]]:
        """Return what it was asked of which texts."""
        return [(operation, form["comment_content"]) for operation, form in self.asked]


class _Handler(BaseHTTPRequestHandler):
    akismet: AkismetStandIn

    def do_POST(self) -> None:
        akismet = self.akismet
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        form = dict(parse_qsl(body))
        operation = self.path.removeprefix("/1.1/")
        akismet.asked.append((operation, form))
        match akismet.mood:
            case "hanging up":
                self.close_connection = True
            case "trickling":
                self._trickle()
            case "garbage":
                self._say(200, "<html>Sign in to the hotel's network</html>")
            case "failing":
                self._say(500, "true")
            case "well":
                self._answer(operation, form)

    def _answer(self, operation: str, form: dict[str, str]) -> None:
        text = form["comment_content"]
        if form["api_key"] != KEY:
            self._say(200, "invalid")
        elif operation != "comment-check":
            self._say(200, THANKS)
        else:
            is_sure = text in self.akismet.discarded
            is_spam = is_sure or text in self.akismet.spam
            self._say(200, "true" if is_spam else "false", "discard" if is_sure else None)

    def _say(self, status: int, word: str, tip: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(word)))
        if tip:
            self.send_header("X-akismet-pro-tip", tip)
        self.end_headers()
        self.wfile.write(word.encode())

    def _trickle(self) -> None:
        """Send a header that never ends, a byte at a time."""
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
            while not self.akismet.is_over.wait(0.02):
                self.wfile.write(b"x")
        except OSError:
            self.close_connection = True

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@contextmanager
def running() -> Iterator[AkismetStandIn]:
    """Run the stand-in while the block runs."""
    akismet = AkismetStandIn()
    handler = type("Handler", (_Handler,), {"akismet": akismet})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    akismet.url = f"http://127.0.0.1:{server.server_address[1]}"
    with answering(server):
        try:
            yield akismet
        finally:
            akismet.is_over.set()
