"""Stand-ins for other servers, in a thread of the process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer


@contextmanager
def answering(server: BaseServer) -> Iterator[None]:
    """Have a server answer while the block runs, however the block ends.

    A server that is closed before its thread has ended may take another file's number for its
    own, and the thread never ends.
    """
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
