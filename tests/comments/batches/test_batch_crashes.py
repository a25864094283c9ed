"""Workers of a batch that end at any point, or meet, do each decision once and count it once."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest

from chalicelib.comments.acts import upkeep
from chalicelib.comments.batches import running, starting
from chalicelib.comments.batches.forms import BatchStart
from chalicelib.comments.log.rows import BATCHES, LOG, Batch
from chalicelib.comments.marking import flags
from chalicelib.comments.marking.flag_forms import CommentFlag
from chalicelib.identity import Principal
from chalicelib.marks.shapes import MARKS
from chalicelib.runtime import Runtime
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.discussion import LAYOUTS, Discussion
from tests.support.clock import Clock

MO = Principal("mo", "Mo", frozenset({"moderator"}))


@pytest.fixture
def discussion(runtime: Runtime) -> Discussion:
    """One in the first store: what a decision does in each is tested with the log."""
    return Discussion.make(runtime, LAYOUTS[0])


def begin(runtime: Runtime, state: str) -> Batch:
    wanted = BatchStart.model_validate({"site": "default", "state": state, "person": "ann"})
    return starting.begin(runtime, wanted, MO)


def end(runtime: Runtime, clock: Clock, batch: Batch) -> Batch:
    """Go on with a batch as its message does that is sent again; return it as it is then."""
    clock.advance(milliseconds=runtime.settings.lease_ms + 1)
    running.run(runtime, batch["_id"])
    found = BATCHES.of(runtime.database).find_one({"_id": batch["_id"]})
    assert found is not None
    return found


def figures(batch: Batch) -> tuple[int, int, int, int]:
    return batch["total"], batch["changed"], batch["unchanged"], batch["left"]


def told(runtime: Runtime, clock: Clock, batch: Batch) -> list[Any]:
    """Return the comments of a batch's rows in the log, once the schedule has cleared it."""
    clock.advance(minutes=16)
    upkeep.sweep(runtime)
    rows = LOG.of(runtime.database).find({"batch": batch["_id"], "open": None})
    return sorted(row["comment_id"] for row in rows)


def test_a_batch_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    ids = sorted(discussion.post(text, by="ann")["id"] for text in ("one", "two"))
    states = ["hidden", "visible"]
    batch = begin(runtime, states[0])

    def call(ending: Runtime) -> None:
        running.run(ending, batch["_id"])

    for _ in crash_everywhere(runtime, mongodb_uri, call):
        done = end(runtime, clock, batch)
        assert (done["status"], figures(done)) == ("done", (2, 2, 0, 0))
        assert [discussion.stored()[each]["state"] for each in ids] == [states[0]] * 2
        assert told(runtime, clock, batch) == ids
        states.reverse()
        batch = begin(runtime, states[0])


def test_a_batch_that_ends_anywhere_settles_the_flags(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    (comment,) = (discussion.post("one", by="ann")["id"],)
    readers = (Principal(f"reader{number}", "A reader") for number in count())

    def prepare() -> Batch:
        if discussion.stored()[comment]["state"] == "hidden":
            end(runtime, clock, begin(runtime, "visible"))
        said = CommentFlag(reason="abuse")
        flags.flag(runtime, discussion.node_id, comment, next(readers), said)
        return begin(runtime, "hidden")

    batch = prepare()

    def call(ending: Runtime) -> None:
        running.run(ending, batch["_id"])

    for _ in crash_everywhere(runtime, mongodb_uri, call):
        assert figures(end(runtime, clock, batch)) == (1, 1, 0, 0)
        outcomes = MARKS.of(runtime.database).distinct("flag.outcome", {})
        waiting = MARKS.of(runtime.database).count_documents({"flag.outcome": {"$exists": False}})
        assert (outcomes, waiting) == (["right"], 0)
        batch = prepare()


def test_the_undoing_of_a_batch_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    ids = [discussion.post(text, by="ann")["id"] for text in ("one", "two")]
    states = ["visible", "hidden"]
    done = end(runtime, clock, begin(runtime, "hidden"))
    batch = starting.undo(runtime, done["_id"], MO)

    def call(ending: Runtime) -> None:
        running.run(ending, batch["_id"])

    for _ in crash_everywhere(runtime, mongodb_uri, call):
        done = end(runtime, clock, batch)
        assert (done["status"], figures(done)) == ("done", (2, 2, 0, 0))
        assert [discussion.stored()[each]["state"] for each in ids] == [states[0]] * 2
        states.reverse()
        batch = starting.undo(runtime, done["_id"], MO)


@pytest.mark.bounds(comments={"batch_items_at_once": 3})
def test_workers_at_once_share_a_batch(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    ids = sorted(discussion.post(f"number {number}", by="ann")["id"] for number in range(20))
    batch = begin(runtime, "hidden")

    def work(_number: int) -> None:
        found: Any = batch
        while found["status"] == "running":
            running.run(runtime, batch["_id"])
            found = BATCHES.of(runtime.database).find_one({"_id": batch["_id"]})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))

    done = BATCHES.of(runtime.database).find_one({"_id": batch["_id"]})
    assert done is not None
    assert figures(done) == (20, 20, 0, 0)
    assert told(runtime, clock, batch) == ids
