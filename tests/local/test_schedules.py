import threading
from datetime import timedelta

import pytest
from chalice.app import Chalice

from chalicelib.jobs.schedules import ScheduledJob, declare
from chalicelib.runtime import Runtime
from local.schedules import declared_schedules, run_schedule, run_schedules
from tests.support.clock import Clock

pytestmark = pytest.mark.processes

MINUTE = timedelta(minutes=1)


def test_each_runs_at_the_start_and_a_failure_stops_no_other(runtime: Runtime) -> None:
    stop = threading.Event()
    ran: list[str] = []

    def fail(_runtime: Runtime) -> None:
        ran.append("fails")
        raise ZeroDivisionError

    def last(_runtime: Runtime) -> None:
        ran.append("works")
        stop.set()

    functions = {
        "one": (ScheduledJob("fails", MINUTE, fail), ScheduledJob("idle", MINUTE, lambda _: None)),
        "other": (ScheduledJob("works", MINUTE, last),),
    }
    app = Chalice("plaza", configure_logs=False)
    for function, schedules in functions.items():
        declare(app, runtime, function, schedules)

    run_schedules(app, stop, functions)

    assert ran == ["fails", "works"]


def test_each_runs_at_its_own_rate(runtime: Runtime) -> None:
    stop = threading.Event()
    ran: list[str] = []

    def often(_runtime: Runtime) -> None:
        ran.append("often")
        if ran.count("often") == 3:
            stop.set()

    functions = {
        "both": (
            ScheduledJob("often", timedelta(milliseconds=1), often),
            ScheduledJob("seldom", timedelta(hours=1), lambda _: ran.append("seldom")),
        )
    }
    app = Chalice("plaza", configure_logs=False)
    declare(app, runtime, "both", functions["both"])

    run_schedules(app, stop, functions)

    assert (ran.count("often"), ran.count("seldom")) == (3, 1)


def test_the_schedules_of_the_app_itself_run(app: Chalice, clock: Clock) -> None:
    names = [each.name for each in declared_schedules()]
    assert len(set(names)) == len(names)
    for name in names:
        run_schedule(app, name)
    clock.advance(hours=1)
    for name in names:
        run_schedule(app, name)
