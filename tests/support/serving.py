"""An app behind a socket, as the local stack serves it."""

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import waitress
from chalice.app import Chalice
from waitress import wasyncore

from local.gateway import Gateway, wsgi_application

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication


@contextlib.contextmanager
def served(app: Chalice) -> Iterator[str]:
    """Serve an app as the local stack does, on a free port; give its address."""
    with served_application(wsgi_application(Gateway(app))) as address:
        yield address


@contextlib.contextmanager
def served_application(application: "WSGIApplication") -> Iterator[str]:
    """Serve a WSGI application on a free port; give its address."""
    sockets: dict[int, Any] = {}
    options = {"host": "127.0.0.1", "port": 0, "threads": 4, "ident": None}
    server = waitress.create_server(application, map=sockets, **options)
    is_over = threading.Event()

    def serve() -> None:
        while not is_over.is_set():
            wasyncore.loop(timeout=1, map=sockets, count=1)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        # Its threads would wait for ever, each with the app and all that a test made.
        server.task_dispatcher.shutdown(timeout=30)
        is_over.set()
        server.trigger.pull_trigger()
        thread.join(timeout=10)
        # Behind the loop, which closes nothing by itself: it would close what wakes it.
        wasyncore.close_all(sockets, ignore_all=True)
