"""A person's counts follow their comments: soon after a change, and by the schedule after posts."""

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments import jobs
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.people import counting
from chalicelib.comments.people.rows import NO_COUNTS, PEOPLE
from chalicelib.runtime import LONGEST_RUN, Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.support.clock import Clock

FLAT = Layout("documents", threaded=False)


@pytest.fixture
def discussion(runtime: Runtime) -> Discussion:
    return Discussion.make(runtime, FLAT)


def stored(runtime: Runtime) -> Any:
    found = PEOPLE.of(runtime.database).find_one({"_id": "default/ann"})
    assert found is not None
    return found


def counts(runtime: Runtime) -> dict[str, int]:
    return {name: number for name, number in stored(runtime)["counts"].items() if number}


def swept(runtime: Runtime) -> int:
    return jobs.run_due(runtime)["people_recounted"]


def test_the_schedule_counts_posts_once_they_are_over(
    discussion: Discussion, runtime: Runtime, clock: Clock
) -> None:
    for _ in range(3):
        discussion.post("x")
    assert (swept(runtime), counts(runtime)) == (0, {})

    clock.time += LONGEST_RUN
    assert (swept(runtime), counts(runtime)) == (1, {"visible": 3})

    clock.time += LONGEST_RUN
    assert swept(runtime) == 0
    assert "recount" not in stored(runtime)


def test_somebody_who_goes_on_posting_is_counted_meanwhile_and_again(
    discussion: Discussion, runtime: Runtime, clock: Clock
) -> None:
    discussion.post("x")
    clock.time += LONGEST_RUN
    discussion.post("x")

    assert (swept(runtime), counts(runtime)) == (1, {"visible": 2})
    # As if the entry of a post that runs now came only after this count.
    discussion.post("x")
    clock.time += LONGEST_RUN

    assert (swept(runtime), counts(runtime)) == (1, {"visible": 3})
    clock.time += LONGEST_RUN
    assert "recount" not in stored(runtime) or swept(runtime) == 0


def test_a_decision_is_counted_at_once(discussion: Discussion, runtime: Runtime) -> None:
    first, second, third = (discussion.post("x")["id"] for _ in range(3))

    discussion.set_state(first, "hidden")
    assert counts(runtime) == {"visible": 2, "rejected": 1}
    discussion.set_state(second, "pending")
    assert counts(runtime) == {"visible": 1, "pending": 1, "rejected": 1}
    discussion.set_state(first, "visible")
    discussion.delete(third)
    assert counts(runtime) == {"visible": 1, "pending": 1}


def test_what_died_between_a_change_and_its_count_is_counted_by_the_schedule(
    discussion: Discussion, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted = discussion.post("x")["id"]
    clock.time += LONGEST_RUN
    swept(runtime)
    clock.time += LONGEST_RUN
    swept(runtime)

    def die(*_given: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(counting, "recount", die)
        with pytest.raises(SystemExit):
            discussion.delete(posted, by="ann")
    assert counts(runtime) == {"visible": 1}
    clock.time += LONGEST_RUN

    assert (swept(runtime), counts(runtime)) == (1, {})


def test_counts_of_others_and_of_flags_stay(discussion: Discussion, runtime: Runtime) -> None:
    posted = discussion.post("x")["id"]
    discussion.post("x", by="bob")
    PEOPLE.of(runtime.database).update_one(
        {"_id": "default/ann"}, {"$set": {"counts.flags_right": 5}}
    )

    discussion.set_state(posted, "hidden")

    assert stored(runtime)["counts"] == {**NO_COUNTS, "rejected": 1, "flags_right": 5}


def test_comments_of_before_are_counted_with_their_time(
    discussion: Discussion, runtime: Runtime, clock: Clock
) -> None:
    began = clock()
    discussion.post("x")
    PEOPLE.of(runtime.database).delete_many({})
    clock.advance(days=30)
    discussion.post("x")
    clock.time += LONGEST_RUN

    swept(runtime)

    assert counts(runtime) == {"visible": 2}
    assert stored(runtime)["first_at"] == began


def test_an_older_recount_never_replaces_a_newer(
    discussion: Discussion, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slower of two has counted before the change that the faster one was made for."""
    posted = discussion.post("x")["id"]
    really = counting.count
    overtaken: list[bool] = []

    def slow(*given: Any) -> Any:
        found = really(*given)
        if not overtaken:
            overtaken.append(True)
            discussion.set_state(posted, "hidden")
        return found

    monkeypatch.setattr(counting, "count", slow)
    assert counting.recount(runtime.database, "default", "ann") is False

    assert counts(runtime) == {"rejected": 1}


def test_eight_moderators_at_once_leave_the_right_counts(
    discussion: Discussion, runtime: Runtime
) -> None:
    ids = [discussion.post(str(number))["id"] for number in range(16)]
    start = threading.Barrier(8)

    def decide(part: int) -> None:
        start.wait()
        for posted in ids[part::8]:
            discussion.set_state(posted, "hidden")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(decide, range(8)))
    # Whoever was overtaken again and again left it to the schedule.
    later = dataclasses.replace(
        runtime, now=lambda: runtime.now() + LONGEST_RUN + timedelta(seconds=1)
    )
    counting.sweep(later)

    assert counts(runtime) == {"rejected": 16}


def test_counting_reads_no_entry(discussion: Discussion, runtime: Runtime) -> None:
    for number in range(20):
        discussion.post(str(number), by="ann" if number % 2 else "bob")
    where = {"site": "default", "author_id": "ann"}
    group = {"_id": "$state", "comments": {"$sum": 1}, "first_at": {"$min": "$posted"}}
    pipeline = [{"$match": where}, {"$group": group}]

    command = {"aggregate": ENTRIES.name, "pipeline": pipeline, "cursor": {}}
    told = runtime.database.command("explain", command, verbosity="executionStats")

    stages = str(told)
    assert "COLLSCAN" not in stages
    assert "'totalDocsExamined': 0" in stages
    assert "'totalKeysExamined': 10" in stages
