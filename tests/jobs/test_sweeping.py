"""Sweeps do the work of overdue documents: in order, within bounds, and each once."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, TypedDict

import pytest
from pymongo import ASCENDING, IndexModel

from chalicelib import deadlines
from chalicelib.database import Collection
from chalicelib.jobs.functions import load
from chalicelib.jobs.sweeping import Sweep
from chalicelib.observability.metrics import OWED
from chalicelib.runtime import LONGEST_RUN, Runtime
from chalicelib.wiring import functions
from deploy.declared import declared_functions
from tests.jobs.test_lag import said
from tests.support.clock import Clock
from tests.support.commands import Commands

MOST, SWEEPERS = 10, 8
WAIT = timedelta(minutes=10)


class Chore(TypedDict):
    """A document that a sweep handles."""

    _id: int
    work: dict[str, datetime]


CHORES = Collection("test.chore", Chore, indexes=(IndexModel([("work.due", ASCENDING)]),))
SWEEP = Sweep(CHORES, "work.due", after=WAIT)


@pytest.fixture(autouse=True)
def _without_chores(runtime: Runtime) -> None:
    # No part of the schema, so no test empties it.
    CHORES.of(runtime.database).delete_many({})


@pytest.fixture
def now(runtime: Runtime, clock: Clock) -> datetime:
    """Return the time, with a chore whose wait is over since `n` seconds for n of 1 to 3."""
    insert(runtime, {number: clock.time - WAIT - timedelta(seconds=number) for number in (2, 3, 1)})
    return clock.time


def insert(runtime: Runtime, dues: dict[int, datetime | None]) -> None:
    rows: list[Any] = [{"_id": number, "work": {"due": due}} for number, due in dues.items()]
    CHORES.of(runtime.database).insert_many(rows)


def sweep_ids(runtime: Runtime, most: int = MOST, sweep: Sweep[Chore] = SWEEP) -> list[int]:
    return [row["_id"] for row in sweep.find(runtime, most)]


@pytest.mark.usefixtures("now")
def test_the_longest_overdue_come_first_and_a_run_is_bounded(runtime: Runtime) -> None:
    assert sweep_ids(runtime) == [3, 2, 1]
    assert sweep_ids(runtime, most=2) == [3, 2]


def test_a_document_is_due_after_its_wait(runtime: Runtime, clock: Clock) -> None:
    insert(runtime, {1: clock.time})
    clock.time += WAIT - timedelta(milliseconds=1)

    before = sweep_ids(runtime)
    clock.advance(milliseconds=1)

    assert (before, sweep_ids(runtime)) == ([], [1])


def test_a_document_without_a_time_is_never_due(runtime: Runtime, clock: Clock) -> None:
    insert(runtime, {1: None})
    CHORES.of(runtime.database).insert_one({"_id": 2, "work": {}})
    clock.advance(days=1_000)

    assert sweep_ids(runtime) == []


@pytest.mark.usefixtures("now")
def test_a_condition_leaves_documents_out(runtime: Runtime) -> None:
    odd = Sweep(CHORES, "work.due", where={"_id": {"$mod": [2, 1]}}, fields={"work.due": 1})

    assert sweep_ids(runtime, sweep=odd) == [3, 1]


@pytest.mark.usefixtures("now")
def test_a_sweep_leaves_half_of_the_time_to_the_next(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = 30.0
    monkeypatch.setattr(deadlines, "remaining", lambda: left)
    handled = []

    for row in SWEEP.find(runtime, MOST):
        handled.append(row["_id"])
        left -= 8

    assert handled == [3, 2]
    assert left == 14


@pytest.mark.usefixtures("now")
def test_without_time_a_sweep_handles_nothing_and_outside_a_function_it_has_no_end(
    runtime: Runtime,
) -> None:
    with deadlines.bound(0):
        assert sweep_ids(runtime) == []
    assert sweep_ids(runtime) == [3, 2, 1]


def test_a_sweep_ends_at_its_end(runtime: Runtime, clock: Clock, now: datetime) -> None:
    handled = []

    for row in SWEEP.find(runtime, MOST, until=now + timedelta(seconds=2)):
        handled.append(row["_id"])
        clock.advance(seconds=1)

    assert handled == [3, 2]


@pytest.mark.usefixtures("now")
def test_of_sweeps_at_once_one_takes_a_document(runtime: Runtime) -> None:
    meeting = threading.Barrier(SWEEPERS)

    def sweep(_number: int) -> list[int]:
        found = list(SWEEP.find(runtime, MOST))
        meeting.wait()
        return [row["_id"] for row in found if SWEEP.take(runtime, row, WAIT)]

    with ThreadPoolExecutor(SWEEPERS) as pool:
        taken = [number for each in pool.map(sweep, range(SWEEPERS)) for number in each]

    assert sorted(taken) == [1, 2, 3]


@pytest.mark.usefixtures("now")
def test_a_taken_document_is_due_again_after_its_lease(runtime: Runtime, clock: Clock) -> None:
    lease = timedelta(minutes=1)
    taken = [SWEEP.take(runtime, row, lease) for row in SWEEP.find(runtime, MOST)]

    clock.time += WAIT + lease - timedelta(milliseconds=1)
    before = sweep_ids(runtime)
    clock.advance(milliseconds=1)

    assert taken == [True] * 3
    assert (before, len(sweep_ids(runtime))) == ([], 3)


@pytest.mark.usefixtures("now")
def test_the_lag_counts_from_the_time_at_which_a_document_was_due(
    runtime: Runtime, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    clock.advance(seconds=60)
    sweep_ids(runtime, most=2)

    (record,) = (each for each in caplog.records if each.message == "owed work")
    assert vars(record)["metrics"] is OWED
    assert said(caplog) == [{"work": CHORES.name, "owed": 2, "owed_seconds": 63}]


def test_a_sweep_without_work_reads_once_and_says_nothing(
    listened: Runtime, commands: Commands, caplog: pytest.LogCaptureFixture
) -> None:
    commands.names.clear()

    assert sweep_ids(listened) == []
    assert (commands.names, said(caplog)) == (["find"], [])


def sweeps() -> dict[str, Sweep[Any]]:
    """Return the sweeps of all schedules by their modules."""
    for declared in functions.SCHEDULES.values():
        load(*(job.run for job in declared))
    modules = [module for name, module in sys.modules.items() if name.startswith("chalicelib.")]
    return {
        f"{module.__name__}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Sweep)
    }


def stages(plan: Any) -> set[str]:
    """Return the stages of a plan."""
    inner = [plan.get("inputStage"), *plan.get("inputStages", ())]
    return {plan["stage"]}.union(*(stages(each) for each in inner if each))


def test_each_sweep_reads_its_documents_in_order_from_an_index(runtime: Runtime) -> None:
    found = {}
    for name, sweep in sweeps().items():
        rows = sweep.collection.of(runtime.database)
        cursor = rows.find(sweep.due_filter(runtime), sweep.fields).sort(sweep.at, ASCENDING)
        found[name] = stages(cursor.limit(MOST).explain()["queryPlanner"]["winningPlan"])

    assert len(found) > 15
    assert {name: plan for name, plan in found.items() if plan & {"COLLSCAN", "SORT"}} == {}


def test_no_function_runs_longer_than_the_longest_run() -> None:
    import app

    for stage in ("dev", "prod"):
        seconds = [each.timeout_seconds for each in declared_functions(app.app, stage)]
        assert timedelta(seconds=max(seconds)) == LONGEST_RUN
