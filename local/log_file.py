"""Plaza's log in a file, in place of the standard output that Lambda collects."""

import logging
from pathlib import Path

from chalicelib.observability.logs import JsonFormatter, log


def log_to(file: Path) -> None:
    """Append all log lines from now on to a file."""
    handler = logging.FileHandler(file)
    handler.setFormatter(JsonFormatter())
    log.handlers = [handler]
    log.propagate = False
