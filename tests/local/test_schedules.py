import threading
from datetime import timedelta
from types import SimpleNamespace

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


def test_a_run_of_many_periods_is_followed_by_one_run(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    ran: list[float] = []

    class EndsWithAWait(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            return bool(timeout)

    def slow(_runtime: Runtime) -> None:
        ran.append(now[0])
        if len(ran) == 1:
            now[0] += 900

    monkeypatch.setattr("local.schedules.time", SimpleNamespace(monotonic=lambda: now[0]))
    functions = {"one": (ScheduledJob("slow", timedelta(minutes=1), slow),)}
    app = Chalice("plaza", configure_logs=False)
    declare(app, runtime, "one", functions["one"])

    run_schedules(app, EndsWithAWait(), functions)

    assert ran == [0, 900]


def test_the_schedules_of_the_app_itself_run(app: Chalice, clock: Clock) -> None:
    names = [each.name for each in declared_schedules()]
    assert len(set(names)) == len(names)
    for name in names:
        run_schedule(app, name)
    clock.advance(hours=1)
    for name in names:
        run_schedule(app, name)
