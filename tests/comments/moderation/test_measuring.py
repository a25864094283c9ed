"""How much waits for moderators, and for how long, as the schedule measures it."""

import logging
from typing import Any

import pytest

from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.moderation import queue
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from tests.comments.stores.test_indexes import Explained
from tests.comments.support.discussion import LAYOUTS, Discussion
from tests.support.clock import Clock


@pytest.fixture
def discussion(runtime: Runtime) -> Discussion:
    return Discussion.make(runtime, LAYOUTS[0], moderation="before")


def measured(runtime: Runtime, caplog: pytest.LogCaptureFixture) -> dict[str, tuple[int, int]]:
    """Return the count and the seconds that are told of each queue."""
    caplog.clear()
    log.addHandler(caplog.handler)
    try:
        with caplog.at_level(logging.INFO, logger=log.name):
            queue.measure(runtime)
    finally:
        log.removeHandler(caplog.handler)
    told: list[Any] = [vars(record)["fields"] for record in caplog.records]
    return {each["queue"]: (each["waiting_comments"], each["waiting_seconds"]) for each in told}


def test_an_empty_queue_waits_for_nobody(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    assert measured(runtime, caplog) == {"pending": (0, 0), "flagged": (0, 0)}


def test_a_queue_tells_how_much_waits_and_since_when_the_oldest(
    runtime: Runtime, discussion: Discussion, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    oldest = discussion.post("one")["id"]
    clock.advance(minutes=10)
    discussion.post("two")
    clock.advance(minutes=1)
    assert measured(runtime, caplog) == {"pending": (2, 660), "flagged": (0, 0)}

    discussion.set_state(oldest, "visible")

    assert measured(runtime, caplog) == {"pending": (1, 60), "flagged": (0, 0)}


def test_the_oldest_is_found_by_the_index_of_queues(
    runtime: Runtime, discussion: Discussion
) -> None:
    for number in range(20):
        discussion.post(f"number {number}")

    with Explained(runtime.database) as explained:
        queue.measure(runtime)

    reads = [each for each in explained.queries if each["ns"].endswith(ENTRIES.name)]
    assert all("COLLSCAN" not in read["planSummary"] for read in reads)
    finds = [read for read in reads if "find" in read["command"]]
    assert len(finds) == 2
    assert all(read["keysExamined"] <= 2 for read in finds)
    assert not any(read.get("hasSortStage") for read in finds)
