"""One function of several schedules: each run is its own, whatever becomes of another."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.jobs.schedules import Counts, ScheduledJob, UnknownSchedule, declare, event_of
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

MINUTE = timedelta(minutes=1)


def handler(runtime: Runtime, *schedules: ScheduledJob) -> Any:
    """Return the handler of a function that runs these schedules."""
    app = Chalice("plaza", configure_logs=False)
    declare(app, runtime, "tending", schedules)
    assert app.pure_lambda_functions[0].handler_string == "app.tending"
    return app.handler_map["tending"]


def counting(name: str, ran: list[str]) -> ScheduledJob:
    def run(_runtime: Runtime) -> Counts:
        ran.append(name)
        return {"done": len(ran)}

    return ScheduledJob(name, MINUTE, run)


def test_an_event_runs_the_schedule_that_it_names_and_no_other(runtime: Runtime) -> None:
    ran: list[str] = []
    call = handler(runtime, counting("one", ran), counting("two", ran))

    assert call(event_of("two"), None) == {"done": 1}
    assert call(event_of("one"), None) == {"done": 2}
    assert ran == ["two", "one"]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({}, "tending: an event without a schedule; its schedules are one, two"),
        (None, "tending: an event without a schedule; its schedules are one, two"),
        ([], "tending: an event without a schedule; its schedules are one, two"),
        ("one", "tending: an event without a schedule; its schedules are one, two"),
        ({"schedule": None}, "tending: an event without a schedule; its schedules are one, two"),
        ({"schedule": "three"}, "tending: no schedule 'three'; its schedules are one, two"),
        ({"schedule": ""}, "tending: no schedule ''; its schedules are one, two"),
        ({"schedule": ["one"]}, r"tending: no schedule \['one'\]; its schedules are one, two"),
        ({"source": "aws.events"}, "tending: an event without a schedule"),
    ],
)
def test_an_event_that_names_none_runs_nothing(runtime: Runtime, event: Any, told: str) -> None:
    ran: list[str] = []
    call = handler(runtime, counting("one", ran), counting("two", ran))

    with pytest.raises(UnknownSchedule, match=told):
        call(event, None)

    assert ran == []


def test_two_schedules_run_at_once_and_one_that_fails_takes_no_other_along(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    """In containers of their own, as threads are here: each waits for the other to have begun."""
    caplog.set_level("INFO", logger=log.name)
    both = threading.Barrier(2)

    def fail(_runtime: Runtime) -> Counts:
        both.wait(timeout=30)
        raise ZeroDivisionError

    def succeed(_runtime: Runtime) -> Counts:
        both.wait(timeout=30)
        return {"done": 1}

    call = handler(
        runtime, ScheduledJob("fails", MINUTE, fail), ScheduledJob("works", MINUTE, succeed)
    )
    with ThreadPoolExecutor(2) as pool:
        failing, working = (pool.submit(call, event_of(each), None) for each in ("fails", "works"))

    assert isinstance(failing.exception(), ZeroDivisionError)
    assert working.result() == {"done": 1}
    (record,) = caplog.records
    fields = record.fields  # type: ignore[attr-defined]
    assert (fields["function"], fields["schedule"], fields["done"]) == ("tending", "works", 1)
