"""Many marks of a comment whose node moves to another id: in several transactions, none lost."""

import dataclasses
from typing import Any

import pytest

from chalicelib.comments.entries import carrying
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.lifecycle import relocation
from chalicelib.database import in_transaction
from chalicelib.marks.shapes import MARKS
from chalicelib.runtime import Runtime
from chalicelib.wiring import marks
from tests.comments.marking.test_pages import decide, react, vote
from tests.comments.support.crashes import Crash
from tests.comments.support.discussion import LAYOUTS, Discussion
from tests.comments.support.entries import entries

TO = "there"
VOTERS = [f"voter-{number}" for number in range(12)]


@pytest.fixture
def voted(runtime: Runtime) -> Discussion:
    """A discussion of three comments, one of which many have voted on."""
    decide(runtime)
    discussion = Discussion.make(runtime, LAYOUTS[0])
    ids = [discussion.post(str(number))["id"] for number in range(3)]
    for number, voter in enumerate(VOTERS):
        vote(discussion, ids[1], by=voter, value=-1 if number % 4 == 0 else 1)
    react(discussion, ids[1], by=VOTERS[0])
    vote(discussion, ids[2], by="cy")
    return discussion


def counted(discussion: Discussion) -> list[tuple[int, int, dict[str, int]]]:
    found = entries(discussion).values()
    return sorted((each["up"], each["down"], each["reactions"]) for each in found)


def at_once(runtime: Runtime, most: int) -> Runtime:
    """Return a runtime that carries so many marks in one transaction."""
    marks = dataclasses.replace(runtime.bounds.marks, carried_at_once=most)
    return dataclasses.replace(runtime, bounds=dataclasses.replace(runtime.bounds, marks=marks))


def here(runtime: Runtime) -> list[Any]:
    """Return the entries at the old id."""
    where = {"site": "default", "_id": {"$gte": "a-page/", "$lt": "a-page0"}}
    return list(ENTRIES.of(runtime.database).find(where))


def assert_exact(runtime: Runtime) -> None:
    found = marks.verify(runtime, "comment")
    assert (found["wrong"], found["owed"]) == (0, 0), found


@pytest.mark.parametrize("most", [1, 2, 5, 12, 13, 1_000])
def test_marks_are_carried_some_at_a_time(
    voted: Discussion, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    runtime, numbers = at_once(voted.runtime, most), list[int]()
    monkeypatch.setattr(carrying, "in_transaction", _noting(in_transaction, numbers))
    before = counted(voted)

    relocation.request(runtime, voted.node_id, TO)

    assert counted(Discussion(runtime, TO)) == before
    assert MARKS.of(runtime.database).count_documents({}) == len(VOTERS) + 1
    assert not here(runtime)
    assert_exact(runtime)
    assert max(numbers) <= most


@pytest.mark.parametrize("transactions", [1, 2, 3, 4])
def test_a_crash_leaves_counts_and_marks_agreeing_at_both_ids(
    voted: Discussion, monkeypatch: pytest.MonkeyPatch, transactions: int
) -> None:
    runtime, before = at_once(voted.runtime, 4), counted(voted)
    node, left = voted.node, iter(range(transactions))

    def some(database: Any, work: Any) -> Any:
        if next(left, None) is None:
            raise Crash
        return in_transaction(database, work)

    with monkeypatch.context() as patched:
        patched.setattr(carrying, "in_transaction", some)
        with pytest.raises(Crash):
            relocation.relocate(runtime, voted.node_id, TO)
    assert_exact(runtime)
    there = Discussion(runtime, TO)
    comment = next(row["id"] for row in there.page()["comments"] if row["text"] == "1")
    # They have voted at the old id already: the later one stays, whichever has been carried.
    vote(there, comment, by=VOTERS[-1], value=-1)

    carrying.carry(runtime, node, TO)

    assert_exact(runtime)
    (up, down, reactions) = max(before)
    assert max(counted(there)) == (up - 1, down + 1, reactions)
    assert not here(runtime)


def _noting(run: Any, numbers: list[int]) -> Any:
    """Have each transaction note by how many marks it left the old id."""

    def noted(database: Any, work: Any) -> Any:
        here = {"_id": {"$regex": "^comment:default/a-page/"}}
        before = MARKS.of(database).count_documents(here)
        done = run(database, work)
        numbers.append(before - MARKS.of(database).count_documents(here))
        return done

    return noted
