"""Structured logs: one JSON line a request or batch, with ids and durations, never texts.

A line has the ids of its work:
- `correlation_id`: the id of the request that began the work; its messages carry the id on;
- `invocation_id`: Lambda's request id, as in its REPORT line;
- `trace_id`: X-Ray's.
A record's `metrics` put its line into CloudWatch's embedded metric format
(`chalicelib.observability.metrics`).
"""

import contextlib
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import orjson

from chalicelib.observability.metrics import Metrics

log = logging.getLogger("plaza")

_NONE: Mapping[str, str] = MappingProxyType({})
_ids: ContextVar[Mapping[str, str]] = ContextVar("ids", default=_NONE)


@contextlib.contextmanager
def bind(**ids: str | None) -> Iterator[None]:
    """Add ids to every line of this context within the block; None removes an id."""
    known = {**_ids.get(), **ids}
    token = _ids.set({name: value for name, value in known.items() if value is not None})
    try:
        yield
    finally:
        _ids.reset(token)


def correlation_id() -> str | None:
    """Return the id of the request that began the current work; None: no request did."""
    return _ids.get().get("correlation_id")


def _trace_id() -> dict[str, str]:
    """Return the X-Ray trace id as a field, or {}; Lambda puts it only into the environment."""
    header = os.environ.get("_X_AMZN_TRACE_ID")
    if not header:
        return {}
    parts = dict(part.partition("=")[::2] for part in header.split(";"))
    return {"trace_id": parts["Root"]} if "Root" in parts else {}


class JsonFormatter(logging.Formatter):
    """Formats a record as a line of JSON.

    `extra={"fields": {...}}` adds members. `extra={"metrics": Metrics(...)}` marks some of
    these members as CloudWatch metrics in this formatter's namespace.
    """

    def __init__(self, metrics_namespace: str = "Plaza") -> None:
        super().__init__()
        self._namespace = metrics_namespace

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname,
            "message": record.getMessage(),
            **_ids.get(),
            **_trace_id(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line |= _failure(record.exc_info[1])
        metrics: Metrics | None = getattr(record, "metrics", None)
        if metrics is not None:
            line["_aws"] = self._metadata(metrics, record)
        return orjson.dumps(line, default=str, option=orjson.OPT_UTC_Z).decode()

    def _metadata(self, metrics: Metrics, record: logging.LogRecord) -> dict[str, Any]:
        """Return the member `_aws` of a line, as the embedded metric format specifies it."""
        directive = {
            "Namespace": self._namespace,
            "Dimensions": metrics.dimensions,
            "Metrics": [{"Name": name, "Unit": unit} for name, unit in metrics.units.items()],
        }
        return {"Timestamp": int(record.created * 1000), "CloudWatchMetrics": [directive]}


def _failure(error: BaseException) -> dict[str, Any]:
    """Return the type, the traceback and the causes of an exception.

    Omit the messages: a message may quote a person's text.
    """
    failure: dict[str, Any] = {"exception": type(error).__name__, "traceback": _frames(error)}
    if error.__cause__ is not None:
        failure["cause"] = _failure(error.__cause__)
    return failure


def _frames(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def configure(level: str, metrics_namespace: str) -> None:
    """Send Plaza's log to standard output, where Lambda collects it; idempotent."""
    log.setLevel(level)
    log.propagate = False
    # No line names its calling function, thread or process. Finding them takes a third of a line's
    # time; Python's documentation of `logging` ("Optimization") recommends these ways to skip them.
    logging._srcfile = None  # noqa: SLF001
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    if not log.handlers:
        handler = logging.StreamHandler(sys.stdout)
        handler.setFormatter(JsonFormatter(metrics_namespace))
        log.addHandler(handler)
