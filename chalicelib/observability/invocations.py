"""Every invocation (request, batch or schedule): its ids in the logs, and its deadline."""

import contextlib
import math
import time
from collections.abc import Callable
from typing import Any

import pymongo
from chalice.app import Chalice, CloudWatchEvent
from chalice.app import Request as ChaliceRequest

from chalicelib import deadlines
from chalicelib.database import outages
from chalicelib.database.outages import Outage
from chalicelib.observability import logs, metrics
from chalicelib.observability.logs import log

# Seconds kept of an invocation after its deadline: to answer, and to log.
MARGIN_SECONDS = 2.0
# In a function that may run for longer, each operation has its own time-out
# (`chalicelib.database`): one deadline of minutes would let a dead connection hang for minutes.
LONGEST_DEADLINE_SECONDS = 60.0


def install(app: Chalice, outage: Outage) -> None:
    """Give the app the middleware of all its functions; goes before any other middleware."""

    @app.middleware("all")
    def bounded(event: Any, get_response: Callable[[Any], Any]) -> Any:
        is_request = isinstance(event, ChaliceRequest)
        context = event.lambda_context if is_request else event.context
        invocation_id = getattr(context, "aws_request_id", None)
        # The gateway's request id: it is in the answer and in the gateway's logs.
        began = event.context.get("requestId", invocation_id) if is_request else invocation_id
        most = outage.patience() if is_request else LONGEST_DEADLINE_SECONDS
        ids = logs.bound(correlation_id=began, invocation_id=invocation_id)
        with ids, _deadline(context, is_request=is_request), _database_deadline(most):
            return get_response(event)

    @app.middleware("scheduled")
    def logged(event: CloudWatchEvent, get_response: Callable[[Any], Any]) -> Any:
        started = time.perf_counter()
        done = get_response(event)
        _log_schedule(event, done, started)
        return done


def _deadline(context: Any, *, is_request: bool) -> contextlib.AbstractContextManager[None]:
    """Bound an invocation by its time, and a request by the gateway's patience as well."""
    if context is None:
        return contextlib.nullcontext()
    seconds = context.get_remaining_time_in_millis() / 1000 - MARGIN_SECONDS
    most = outages.REQUEST_SECONDS if is_request else math.inf
    return deadlines.bounded(min(seconds, most), is_request=is_request)


def _database_deadline(most: float) -> contextlib.AbstractContextManager[Any]:
    """Bound all database operations by the time that is left of the invocation, and by `most`."""
    seconds = deadlines.remaining()
    if seconds > LONGEST_DEADLINE_SECONDS:
        return contextlib.nullcontext()
    # The driver reads a time-out of zero as none.
    return pymongo.timeout(max(min(seconds, most), 0.000_001))


def _log_schedule(event: CloudWatchEvent, done: Any, started: float) -> None:
    """Write what a schedule did: the counts that it returned."""
    fields = {
        "function": getattr(event.context, "function_name", None),
        "schedule_ms": round((time.perf_counter() - started) * 1000, 1),
        **(done or {}),
    }
    log.info("schedule", extra={"fields": fields, "metrics": metrics.SCHEDULE})
