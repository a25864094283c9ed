"""EventBridge's schedules: each at its rate, and once when the stack starts."""

import threading
import time
from collections.abc import Callable
from typing import Any

from chalice.app import Chalice

from chalicelib.jobs.schedules import Functions, ScheduledJob, event_of
from chalicelib.observability.logs import log
from chalicelib.wiring.functions import SCHEDULES
from local.queues import lambda_context


def declared_schedules(functions: Functions = SCHEDULES) -> list[ScheduledJob]:
    """Return the schedules of all functions."""
    return [schedule for schedules in functions.values() for schedule in schedules]


def run_schedules(app: Chalice, stop: threading.Event, functions: Functions = SCHEDULES) -> None:
    """Run each schedule at once, then at its rate, one at a time, until `stop` is set.

    The run at the start replaces those missed while the stack was down.
    """
    due = dict.fromkeys(declared_schedules(functions), time.monotonic())
    while due and not stop.is_set():
        schedule = min(due, key=due.__getitem__)
        if stop.wait(max(0.0, due[schedule] - time.monotonic())):
            return
        # A run that takes several periods is followed by one run, not by several.
        every, now = schedule.every.total_seconds(), time.monotonic()
        is_behind = due[schedule] + every < now
        due[schedule] = every + (now if is_behind else due[schedule])
        try:
            run_schedule(app, schedule.name, functions)
        except Exception:  # noqa: BLE001 - the next run may succeed
            log.exception("schedule failed", extra={"fields": {"schedule": schedule.name}})


def run_schedule(app: Chalice, name: str, functions: Functions = SCHEDULES) -> Any:
    """Call a schedule's function as its rule would; return the counts of the run."""
    (function,) = (
        function for function, schedules in functions.items() if name in map(_name, schedules)
    )
    handler: Callable[[dict[str, str], object], Any] = app.handler_map[function]
    return handler(event_of(name), lambda_context(function))


def _name(schedule: ScheduledJob) -> str:
    return schedule.name
