"""The log of Plaza and its web server, in a file; Lambda collects it from standard output."""

import logging
from pathlib import Path

from chalicelib.observability.logs import JsonFormatter, log


def log_to(file: Path) -> None:
    """Append all log lines from now on to a file."""
    handler = logging.FileHandler(file)
    handler.setFormatter(JsonFormatter())
    # The server warns of each request that waits for a thread, which says nothing to a user.
    for each in (log, logging.getLogger("waitress")):
        each.handlers = [handler]
        each.propagate = False
