"""Sweeps say for how long owed work waits for a worker, so that one alarm hears of any."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments.spam_check.origins import ORIGINS, WORK
from chalicelib.jobs.resending import MAX_DOUBLINGS
from chalicelib.runtime import Runtime
from tests.jobs.test_work import KEY, owe
from tests.support.clock import Clock
from tests.support.commands import Commands


def said(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """Return the fields of the lines about owed work since the last call."""
    found = [each for each in caplog.records if each.message == "owed work"]
    caplog.clear()
    return [vars(each)["fields"] for each in found]


@pytest.mark.usefixtures("workers")
def test_a_document_waits_from_its_first_message_on(
    runtime: Runtime, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    owe(runtime)
    clock.advance(milliseconds=runtime.settings.lease_ms)
    begun, waits = clock.time, []

    for _ in range(MAX_DOUBLINGS + 4):
        WORK.sweep(runtime)
        (line,) = said(caplog)
        assert (line["work"], line["owed"]) == (ORIGINS.name, 1)
        waits.append(timedelta(seconds=line["owed_seconds"]) - (clock.time - begun))
        clock.time = ORIGINS.of(runtime.database).find_one(KEY)["due"]  # type: ignore[index]

    assert waits == [timedelta()] * (MAX_DOUBLINGS + 4)


def test_the_longest_wait_counts_and_a_taken_document_waits_for_nobody(
    runtime: Runtime, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(3):
        owe(runtime, f"harbour:moon/{number}")
        clock.advance(seconds=10)
    clock.advance(milliseconds=runtime.settings.lease_ms)
    assert WORK.take(runtime, {"_id": "harbour:moon/0"})

    WORK.sweep(runtime)

    (line,) = said(caplog)
    assert (line["owed"], line["owed_seconds"]) == (2, 20)


def test_without_owed_work_a_sweep_reads_once_and_says_nothing(
    listened: Runtime, commands: Commands, caplog: pytest.LogCaptureFixture
) -> None:
    owe(listened)
    commands.names.clear()

    WORK.sweep(listened)

    assert (commands.names, said(caplog)) == (["find"], [])
