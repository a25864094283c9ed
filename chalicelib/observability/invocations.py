"""The frame of every invocation (request, batch or schedule): ids in its logs, and a deadline."""

import contextlib
import math
from collections.abc import Callable
from typing import Any

import pymongo
from chalice.app import Chalice
from chalice.app import Request as ChaliceRequest

from chalicelib import deadlines
from chalicelib.deadlines import Outage
from chalicelib.observability import logs

# Seconds reserved after the deadline, to answer and log.
MARGIN_SECONDS = 2.0
# An invocation with more seconds left than this sets no deadline for the database: a deadline of
# minutes would let a dead connection hang for minutes. Each operation then has its own time-out
# (`chalicelib.database`).
LONGEST_DEADLINE_SECONDS = 60.0


def install(app: Chalice, outage: Outage) -> None:
    """Install the middleware of all functions; call it before installing other middleware."""

    @app.middleware("all")
    def bound_invocation(event: Any, get_response: Callable[[Any], Any]) -> Any:
        is_request = isinstance(event, ChaliceRequest)
        context = event.lambda_context if is_request else event.context
        invocation_id = getattr(context, "aws_request_id", None)
        # The gateway's request id is in the answer and in the gateway's logs.
        began = event.context.get("requestId", invocation_id) if is_request else invocation_id
        most = outage.patience() if is_request else LONGEST_DEADLINE_SECONDS
        ids = logs.bind(correlation_id=began, invocation_id=invocation_id)
        with ids, _deadline(context, is_request=is_request), _database_deadline(most):
            return get_response(event)


def _deadline(context: Any, *, is_request: bool) -> contextlib.AbstractContextManager[None]:
    """Bound an invocation by its remaining time, and a request by `REQUEST_SECONDS`, too.

    Subtract `MARGIN_SECONDS` from the remaining time. Without a context, set no bound.
    """
    if context is None:
        return contextlib.nullcontext()
    seconds = context.get_remaining_time_in_millis() / 1000 - MARGIN_SECONDS
    most = deadlines.REQUEST_SECONDS if is_request else math.inf
    return deadlines.bound(min(seconds, most), is_request=is_request)


def _database_deadline(most: float) -> contextlib.AbstractContextManager[Any]:
    """Bound all database operations by the invocation's remaining time and by `most` seconds.

    With more than `LONGEST_DEADLINE_SECONDS` left, set no bound.
    """
    seconds = deadlines.remaining()
    if seconds > LONGEST_DEADLINE_SECONDS:
        return contextlib.nullcontext()
    # The driver reads zero as no time-out.
    return pymongo.timeout(max(min(seconds, most), 0.000_001))
