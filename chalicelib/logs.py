"""Structured logs: one JSON line a request or batch, with ids and durations, never texts."""

import logging
import sys
import traceback
from datetime import UTC, datetime

import orjson

log = logging.getLogger("plaza")


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON; `extra={"fields": {...}}` adds members."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            line["traceback"] = _frames(record)
        return orjson.dumps(line, default=str, option=orjson.OPT_UTC_Z).decode()


def _frames(record: logging.LogRecord) -> list[str]:
    """Return where the exception came from; its message stays out, since it may quote a text."""
    frames = traceback.extract_tb(record.exc_info[2] if record.exc_info else None)
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def configure(level: str) -> None:
    """Send Plaza's log to standard output, where Lambda collects it; idempotent."""
    log.setLevel(level)
    log.propagate = False
    if not log.handlers:
        handler = logging.StreamHandler(sys.stdout)
        handler.setFormatter(JsonFormatter())
        log.addHandler(handler)
