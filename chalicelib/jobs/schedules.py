"""Jobs that the clock runs: features declare them as data, and Lambda functions run them."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from chalice.app import Chalice
from pymongo.errors import ExecutionTimeout, NetworkTimeout, PyMongoError

from chalicelib.database import is_outage
from chalicelib.errors import Problem
from chalicelib.observability import metrics
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

Counts = Mapping[str, int]
# The schedules of each Lambda function, by the function's name.
Functions = Mapping[str, tuple["ScheduledJob", ...]]


@dataclass(frozen=True)
class ScheduledJob:
    """A job that the clock runs; a run may happen twice at once, or not at all.

    `run` returns counts for the log, or None.
    """

    name: str
    every: timedelta
    run: Callable[[Runtime], Counts | None]


Result = TypeVar("Result")
# A step of a job; a returned number counts under the step's name.
Step = Callable[[Runtime], Counts | int | None]


class RunFailed(Exception):
    """A run that failed; the message names the type of the failure, and the log has more."""


class UnknownSchedule(ValueError):
    """An event that names no schedule of its function; the message lists them."""


def declare(
    app: Chalice, runtime: Runtime, function: str, schedules: tuple[ScheduledJob, ...]
) -> None:
    """Declare a Lambda function that runs these schedules, each by an event that names it."""

    def run_schedule(event: Any, _context: object) -> Counts | None:
        return run_named(runtime, function, schedules, event)

    # Lambda knows a handler by this name.
    run_schedule.__name__ = function
    app.lambda_function(name=function)(run_schedule)


def event_of(schedule: str) -> dict[str, str]:
    """Return the event that runs a schedule."""
    return {"schedule": schedule}


def run_named(
    runtime: Runtime, function: str, schedules: tuple[ScheduledJob, ...], event: Any
) -> Counts | None:
    """Run the schedule that an event names, and log its counts; raises UnknownSchedule."""
    schedule = _find(function, schedules, event)
    started = time.perf_counter()
    with quoting_nothing():
        done = schedule.run(runtime)
    fields = {
        "function": function,
        "schedule": schedule.name,
        "schedule_ms": round((time.perf_counter() - started) * 1000, 1),
        **(done or {}),
    }
    log.info("schedule", extra={"fields": fields, "metrics": metrics.SCHEDULE})
    return done


@contextlib.contextmanager
def quoting_nothing() -> Iterator[None]:
    """Log a failure of the block, and raise RunFailed with its type alone; Problems pass.

    Lambda logs the message of what leaves a function, and stores it for failed runs. A driver's
    message may quote whole documents, with texts and addresses.
    """
    try:
        yield
    except Problem:
        raise
    except Exception as failure:  # noqa: BLE001 - whatever it is, its message must not leave
        log.exception("run failed")
        raise RunFailed(type(failure).__name__) from None


def run_steps(runtime: Runtime, steps: Mapping[str, Step]) -> dict[str, int]:
    """Run the steps of a job as `run_all`; return their counts by name."""
    counts: dict[str, int] = {}
    for name, done in run_all((name, partial(step, runtime)) for name, step in steps.items()):
        counts |= {name: done} if isinstance(done, int) else done or {}
    return counts


def run_all(steps: Iterable[tuple[str, Callable[[], Result]]]) -> list[tuple[str, Result]]:
    """Run named steps in their order; return their results, each with its step's name.

    A failing step does not stop the steps behind it: a document that fails each time, or a query
    that takes too long, would hold them up for ever. Raises the first failure after the last step,
    so that the run fails and rings its alarm. Raises an outage of the database at once: it would
    stop every step.
    """
    results: list[tuple[str, Result]] = []
    failures: list[Exception] = []
    for name, step in steps:
        try:
            results.append((name, step()))
        except Exception as failure:
            if _is_of_all_steps(failure):
                raise
            log.exception("step failed", extra={"fields": {"step": name}})
            failures.append(failure)
    if failures:
        raise failures[0]
    return results


@contextlib.contextmanager
def skip_failing(message: str, **fields: str) -> Iterator[None]:
    """Log a Problem or database error of the block, so that the next document has its turn.

    Raises an outage of the database, and any other error.
    """
    try:
        yield
    except (Problem, PyMongoError) as failure:
        if _is_of_all_steps(failure):
            raise
        told = {**fields, "reason": type(failure).__name__}
        log.warning(message, exc_info=True, extra={"fields": told})


def _is_of_all_steps(failure: Exception) -> bool:
    """Return whether a failure is an outage, which stops all steps.

    A query that takes too long is none: the server or the driver ends it. If the servers are gone,
    the next step finds none and fails with an outage.
    """
    is_long = isinstance(failure, ExecutionTimeout | NetworkTimeout)
    return isinstance(failure, PyMongoError) and is_outage(failure) and not is_long


def _find(function: str, schedules: tuple[ScheduledJob, ...], event: Any) -> ScheduledJob:
    named = event.get("schedule") if isinstance(event, dict) else None
    for schedule in schedules:
        if schedule.name == named:
            return schedule
    known = ", ".join(schedule.name for schedule in schedules)
    missing = "an event without a schedule" if named is None else f"no schedule {named!r}"
    raise UnknownSchedule(f"{function}: {missing}; its schedules are {known}")
