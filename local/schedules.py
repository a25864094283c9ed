"""EventBridge's schedules: each handler at its rate, and once when the stack starts."""

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chalice.app import Chalice, ScheduledEventConfig, ScheduleExpression

from chalicelib.observability.logs import log
from deploy.declared import rate_seconds
from local.failures import StartupFailure
from local.queues import lambda_context


@dataclass(frozen=True)
class Schedule:
    """A declared schedule: its handler's name and how often it runs."""

    name: str
    every_seconds: int


def declared_schedules(app: Chalice) -> list[Schedule]:
    """Return the app's schedules; raises StartupFailure for one that is not a rate."""
    return [
        Schedule(source.name, _rate_seconds(source.schedule_expression))
        for source in app.event_sources
        if isinstance(source, ScheduledEventConfig)
    ]


def _rate_seconds(expression: str | ScheduleExpression) -> int:
    try:
        return rate_seconds(expression)
    except ValueError as error:
        raise StartupFailure(f"{error}, which is all that runs here") from None


def run_schedules(app: Chalice, stop: threading.Event) -> None:
    """Run every schedule now and then at its rate, one at a time, until told to stop.

    The run at the start replaces those missed while the stack was down.
    """
    schedules = declared_schedules(app)
    due = dict.fromkeys(schedules, time.monotonic())
    while due and not stop.is_set():
        schedule = min(due, key=due.__getitem__)
        if stop.wait(max(0.0, due[schedule] - time.monotonic())):
            return
        due[schedule] += schedule.every_seconds
        run_schedule(app, schedule.name)


def run_schedule(app: Chalice, name: str) -> None:
    """Call one schedule's handler as EventBridge would; a failure is logged."""
    handler: Callable[[dict[str, Any], object], object] = app.handler_map[name]
    try:
        handler(scheduled_event(name), lambda_context(name))
    except Exception:  # noqa: BLE001 - the next run may succeed
        log.exception("schedule failed", extra={"fields": {"schedule": name}})


def scheduled_event(name: str) -> dict[str, Any]:
    """Return the event that EventBridge sends for a schedule, now."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "123456789012",
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "region": "us-east-1",
        "resources": [f"arn:aws:events:us-east-1:123456789012:rule/{name}"],
        "detail": {},
    }
