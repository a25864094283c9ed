"""An app behind a socket, as the local stack serves it."""

import contextlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import waitress
from chalice.app import Chalice

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
    server = waitress.create_server(application, host="127.0.0.1", port=0, threads=4, ident=None)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        # Its threads would wait for ever, each with the app and all that a test made. They go
        # first: a thread that has answered wakes the loop, which would close what wakes it.
        server.task_dispatcher.shutdown()
        # Ends the loop of the server's thread at its next turn.
        server.trigger.pull_trigger(server.close)
        thread.join(timeout=10)
