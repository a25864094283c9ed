"""Owed work: one worker at a time has a row, and its task stays owed until it is done."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.comments.spam_check.origins import ORIGINS, WORK, Origin
from chalicelib.jobs.resending import lease_end
from chalicelib.jobs.work import WHILE_OWED
from chalicelib.runtime import Runtime
from tests.support.clock import Clock

ID = "harbour:moon/1"
KEY = {"_id": ID}
WORKERS = 8


def owe(runtime: Runtime, id_: str = ID) -> None:
    """Store a row with a task."""
    now = runtime.now()
    row: Origin = {
        "_id": id_,
        "node_id": "harbour:moon",
        "comment_id": id_.rpartition("/")[2],
        "person": "ann",
        "address": "192.0.2.1",
        "agent": "",
        "at": now,
        "expires": now,
        "tries": 0,
        "answer": None,
        "task": "check",
        "due": lease_end(runtime),
        "resends": 0,
    }
    ORIGINS.of(runtime.database).insert_one(row)


def take(runtime: Runtime) -> Origin:
    taken = WORK.take(runtime, KEY)
    assert taken is not None
    return taken


def stored(runtime: Runtime) -> Any:
    return ORIGINS.of(runtime.database).find_one(KEY)


def lease(runtime: Runtime) -> dict[str, int]:
    return {"milliseconds": runtime.settings.lease_ms}


def test_of_workers_at_once_one_has_the_row(runtime: Runtime) -> None:
    owe(runtime)
    meeting = threading.Barrier(WORKERS)

    def work(_number: int) -> Origin | None:
        meeting.wait()
        return WORK.take(runtime, KEY, {"$inc": {"tries": 1}})

    with ThreadPoolExecutor(WORKERS) as pool:
        taken = [each for each in pool.map(work, range(WORKERS)) if each]

    assert [each["tries"] for each in taken] == [1]
    assert stored(runtime) == taken[0]


def test_a_row_without_a_task_is_taken_by_nobody(runtime: Runtime) -> None:
    owe(runtime)
    assert WORK.finish(runtime, take(runtime), {"answer": "ham"})

    assert WORK.take(runtime, KEY) is None
    assert not {*WHILE_OWED, "task"} & {*stored(runtime)}
    assert stored(runtime)["answer"] == "ham"


def test_a_row_is_taken_again_once_its_lease_is_over_and_no_earlier(
    runtime: Runtime, clock: Clock
) -> None:
    owe(runtime)
    first = take(runtime)
    clock.advance(milliseconds=runtime.settings.lease_ms - 1)
    assert WORK.take(runtime, KEY) is None
    clock.advance(milliseconds=1)

    assert take(runtime)["taken_by"] != first["taken_by"]


@pytest.mark.parametrize("call", ["renew", "release", "finish"])
def test_a_worker_whose_row_another_has_changes_nothing(
    runtime: Runtime, clock: Clock, call: str
) -> None:
    owe(runtime)
    late = take(runtime)
    clock.advance(**lease(runtime))
    take(runtime)
    before = stored(runtime)
    calls = {
        "renew": lambda: WORK.renew(runtime, late, {"$set": {"answer": "ham"}}),
        "release": lambda: WORK.release(runtime, late),
        "finish": lambda: WORK.finish(runtime, late, {"answer": "ham"}),
    }

    assert calls[call]() is False
    assert stored(runtime) == before


def test_a_lease_that_is_renewed_holds_from_then_on(runtime: Runtime, clock: Clock) -> None:
    owe(runtime)
    row = take(runtime)
    clock.advance(milliseconds=runtime.settings.lease_ms - 1)
    assert WORK.renew(runtime, row, {"$set": {"answer": "ham"}, "$inc": {"tries": 1}})

    clock.advance(milliseconds=runtime.settings.lease_ms - 1)
    assert WORK.take(runtime, KEY) is None
    assert (stored(runtime)["answer"], stored(runtime)["tries"]) == ("ham", 1)


def test_a_row_that_is_released_is_free_at_once(runtime: Runtime) -> None:
    owe(runtime)
    first = take(runtime)
    assert WORK.release(runtime, first)

    assert take(runtime)["taken_by"] != first["taken_by"]


def test_a_task_that_is_noted_anew_outlives_the_worker_of_the_old_one(runtime: Runtime) -> None:
    owe(runtime)
    row = take(runtime)
    anew = {"$set": {"task": "spam"}, "$unset": {"taken_by": "", "leased_until": ""}}
    ORIGINS.of(runtime.database).update_one(KEY, anew)

    assert not WORK.finish(runtime, row, {"answer": "ham"})
    assert take(runtime)["task"] == "spam"


def test_messages_of_overdue_rows_alone_are_sent_again(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    def send(*messages: Any) -> bool:
        sent.extend(each.comment for each in messages)
        return True

    monkeypatch.setattr(type(runtime.queues), "send", lambda _queues, *messages: send(*messages))
    for number in ("1", "2", "3"):
        owe(runtime, f"harbour:moon/{number}")
    WORK.sweep(runtime)
    assert sent == []

    clock.advance(**lease(runtime))
    WORK.take(runtime, {"_id": "harbour:moon/2"})
    WORK.finish(runtime, take(runtime), {"answer": "ham"})
    WORK.sweep(runtime)

    assert sent == ["harbour:moon/3"]
