"""One function of several schedules: each run is its own, whatever becomes of another."""

import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pymongo
import pytest
from chalice.app import Chalice
from pymongo import InsertOne, _csot
from pymongo.errors import (
    AutoReconnect,
    ExecutionTimeout,
    NetworkTimeout,
    OperationFailure,
    PyMongoError,
)

from chalicelib import deadlines
from chalicelib.jobs.schedules import (
    Counts,
    RunFailed,
    ScheduledJob,
    Step,
    UnknownSchedule,
    declare,
    event_of,
    run_steps,
)
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

    assert str(failing.exception()) == "ZeroDivisionError"
    assert working.result() == {"done": 1}
    record = next(each for each in caplog.records if each.levelname == "INFO")
    fields = record.fields  # type: ignore[attr-defined]
    assert (fields["function"], fields["schedule"], fields["done"]) == ("tending", "works", 1)


def test_the_failure_that_leaves_the_function_quotes_no_document(runtime: Runtime) -> None:
    """Lambda logs it, and keeps it for the queue of failed runs."""
    rows = runtime.database["letters"]
    rows.insert_one({"_id": 1})

    def fail(_runtime: Runtime) -> None:
        rows.bulk_write([InsertOne({"_id": 1, "to": "ann@example.org"})])

    with pytest.raises(RunFailed) as left:
        handler(runtime, ScheduledJob("fails", MINUTE, fail))(event_of("fails"), None)

    assert "ann@example.org" not in "".join(traceback.format_exception(left.value))
    assert str(left.value) == "BulkWriteError"


def failing(error: Exception, ran: list[str]) -> Step:
    def run(_runtime: Runtime) -> None:
        ran.append("failed")
        raise error

    return run


def test_steps_run_in_order_and_count_by_name(runtime: Runtime) -> None:
    steps: dict[str, Step] = {
        "three": lambda _: 3,
        "none": lambda _: None,
        "more": lambda _: {"first": 1, "second": 2},
        "zero": lambda _: 0,
    }

    done = run_steps(runtime, steps)

    assert done == {"three": 3, "first": 1, "second": 2, "zero": 0}
    assert [*done] == ["three", "first", "second", "zero"]


def test_a_step_that_fails_keeps_none_behind_it_from_its_work(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[str] = []
    first, second = ValueError("the first"), KeyError("the second")
    steps: dict[str, Step] = {
        "one": failing(first, ran),
        "two": lambda _: ran.append("two"),
        "three": failing(second, ran),
        "four": lambda _: ran.append("four"),
    }

    with caplog.at_level("ERROR", log.name), pytest.raises(ValueError, match="the first"):
        run_steps(runtime, steps)

    assert ran == ["failed", "two", "failed", "four"]
    told = [(each.__dict__["fields"]["step"], each.exc_info) for each in caplog.records]
    assert [(name, info and info[1]) for name, info in told] == [("one", first), ("three", second)]


def test_a_part_of_the_time_bounds_the_database_of_a_block_alone() -> None:
    with deadlines.within(0.5):
        assert _csot.remaining() is None
    with deadlines.bound(10), pymongo.timeout(10):
        with deadlines.within(0.5):
            assert 0 < (_csot.remaining() or 0) <= 5
        assert 5 < (_csot.remaining() or 0) <= 10


def test_an_outage_ends_all_steps_at_once(runtime: Runtime) -> None:
    ran: list[str] = []
    steps = {"one": failing(AutoReconnect("no server"), ran), "two": failing(ValueError(), ran)}

    with pytest.raises(AutoReconnect):
        run_steps(runtime, steps)

    assert ran == ["failed"]


@pytest.mark.parametrize(
    "failure",
    [
        OperationFailure("bad value", 2),
        ExecutionTimeout("time limit", 50),
        NetworkTimeout("timed out"),
    ],
)
def test_a_refused_or_long_command_is_no_outage(runtime: Runtime, failure: PyMongoError) -> None:
    ran: list[str] = []
    steps: dict[str, Step] = {
        "one": failing(failure, ran),
        "two": lambda _: ran.append("two"),
    }

    with pytest.raises(type(failure)):
        run_steps(runtime, steps)

    assert ran == ["failed", "two"]
