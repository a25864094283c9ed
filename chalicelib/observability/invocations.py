"""What holds for every invocation, be it a request, a batch or a schedule: its ids, its time."""

import contextlib
import time
from collections.abc import Callable
from typing import Any

import pymongo
from chalice.app import Chalice, CloudWatchEvent
from chalice.app import Request as ChaliceRequest

from chalicelib.database.outages import Outage
from chalicelib.observability import logs, metrics
from chalicelib.observability.logs import log

# What is left of an invocation when the database has had its time: to answer, and to log.
MARGIN_SECONDS = 2.0
# A function that may run for longer is bounded by each operation's own time-out
# (`chalicelib.database`): one deadline of minutes would let a dead connection hang for minutes.
LONGEST_DEADLINE_SECONDS = 60.0


def install(app: Chalice, outage: Outage) -> None:
    """Give the app the middleware of all its functions; goes before any other middleware."""

    @app.middleware("all")
    def bounded(event: Any, get_response: Callable[[Any], Any]) -> Any:
        is_request = isinstance(event, ChaliceRequest)
        context = event.lambda_context if is_request else event.context
        invocation_id = getattr(context, "aws_request_id", None)
        # The gateway's own id of a request is the one that it answers and logs with.
        began = event.context.get("requestId", invocation_id) if is_request else invocation_id
        most = outage.patience() if is_request else LONGEST_DEADLINE_SECONDS
        deadline = _deadline(context, most)
        with logs.bound(correlation_id=began, invocation_id=invocation_id), deadline:
            return get_response(event)

    @app.middleware("scheduled")
    def logged(event: CloudWatchEvent, get_response: Callable[[Any], Any]) -> Any:
        started = time.perf_counter()
        done = get_response(event)
        _log_schedule(event, done, started)
        return done


def _deadline(context: Any, most: float) -> contextlib.AbstractContextManager[Any]:
    """Bound all that the database is asked for by what is left of the invocation.

    A request has `most` seconds of it.
    """
    if context is None:
        return contextlib.nullcontext()
    seconds = context.get_remaining_time_in_millis() / 1000 - MARGIN_SECONDS
    if seconds > LONGEST_DEADLINE_SECONDS:
        return contextlib.nullcontext()
    # The driver takes a time-out of nothing for none at all.
    return pymongo.timeout(max(min(seconds, most), 0.000_001))


def _log_schedule(event: CloudWatchEvent, done: Any, started: float) -> None:
    """Write what a schedule did: the counts that it returned."""
    fields = {
        "function": getattr(event.context, "function_name", None),
        "schedule_ms": round((time.perf_counter() - started) * 1000, 1),
        **(done or {}),
    }
    log.info("schedule", extra={"fields": fields, "metrics": metrics.SCHEDULE})
