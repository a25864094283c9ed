"""A thing that is marked often is counted by batch, by itself, and falls back when it is quiet."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.marks import placing
from chalicelib.marks.changes import React, Vote
from chalicelib.marks.folded import fold
from chalicelib.marks.jobs import resend_overdue
from chalicelib.marks.shapes import MARKS
from chalicelib.marks.verification import verify
from chalicelib.runtime import Runtime
from tests.marks.conftest import Folder
from tests.marks.support.things import KIND, KINDS, THINGS, counts, read
from tests.support.clock import Clock

pytestmark = pytest.mark.bounds(marks={"hot_marks_a_minute": 5})


def vote(runtime: Runtime, *users: str) -> None:
    for user in users:
        placing.place(runtime, read(runtime.database, "one"), user, Vote(1))


def is_folded(runtime: Runtime) -> bool:
    return bool(read(runtime.database, "one").found.get("marking", {}).get("design"))


def people(count: int, prefix: str = "user") -> list[str]:
    return [f"{prefix}-{number}" for number in range(count)]


def test_a_thing_is_promoted_by_the_mark_that_makes_it_hot(things: Runtime) -> None:
    vote(things, *people(4))
    assert not is_folded(things)
    vote(things, "fifth")
    assert is_folded(things)
    vote(things, "sixth")
    assert counts(things.database, "one")[0] == 5


def test_marks_of_different_minutes_promote_nothing(things: Runtime, clock: Clock) -> None:
    vote(things, *people(4))
    clock.advance(minutes=1)
    vote(things, *people(4, "later"))
    assert not is_folded(things)


def test_repeats_promote_nothing(things: Runtime) -> None:
    for _ in range(10):
        vote(things, "ann")
    assert not is_folded(things)


def test_a_quiet_thing_is_counted_at_once_again(
    things: Runtime, folder: Folder, clock: Clock
) -> None:
    vote(things, *people(6))
    folder.fold()
    clock.advance(minutes=9)
    vote(things, "ann")
    folder.fold()
    assert is_folded(things)
    clock.advance(minutes=11)
    vote(things, "bob")
    assert counts(things.database, "one")[0] == 7
    folder.fold()
    assert counts(things.database, "one")[0] == 8
    assert not is_folded(things)


def test_an_operator_chooses_either_way(things: Runtime) -> None:
    assert placing.choose(things, KIND, "one", is_folded=True)
    assert is_folded(things)
    assert placing.choose(things, KIND, "one", is_folded=False)
    assert not is_folded(things)
    assert not placing.choose(things, KIND, "nowhere", is_folded=True)


def test_marks_of_both_designs_on_one_thing_are_counted_once(
    things: Runtime, folder: Folder
) -> None:
    placing.choose(things, KIND, "one", is_folded=True)
    vote(things, "ann", "bob")
    placing.choose(things, KIND, "one", is_folded=False)
    # Ann's is owed when she changes it at once; Bob's is counted by its message alone.
    placing.place(things, read(things.database, "one"), "ann", Vote(-1))
    assert counts(things.database, "one") == (0, 1, {})
    folder.fold()
    assert counts(things.database, "one") == (1, 1, {})
    assert verify(things.database, KIND).wrong == 0


def test_messages_may_come_twice_late_and_in_any_order(things: Runtime, folder: Folder) -> None:
    placing.choose(things, KIND, "one", is_folded=True)
    vote(things, *people(5))
    for user in people(3):
        placing.place(things, read(things.database, "one"), user, React("heart"))
    sent = folder.taken()
    for seed in range(4):
        shuffled = random.Random(seed).sample(sent * 2, 2 * len(sent))
        for start in range(0, len(shuffled), 3):
            fold(things, KINDS, shuffled[start : start + 3])
    placing.place(things, read(things.database, "one"), "user-0", Vote(0))
    fold(things, KINDS, sent)
    assert counts(things.database, "one") == (4, 0, {"heart": 3})


def test_a_mark_whose_message_is_lost_is_counted_by_the_sweep(
    things: Runtime, folder: Folder, clock: Clock
) -> None:
    placing.choose(things, KIND, "one", is_folded=True)
    vote(things, "ann")
    folder.taken()
    resend_overdue(things)
    assert folder.taken() == []
    clock.advance(minutes=5)
    resend_overdue(things)
    folder.fold()
    assert counts(things.database, "one")[0] == 1
    assert verify(things.database, KIND).owed == 0


def test_a_vote_undone_before_its_fold_leaves_nothing(
    things: Runtime, folder: Folder, clock: Clock
) -> None:
    placing.choose(things, KIND, "one", is_folded=True)
    vote(things, "ann")
    placing.place(things, read(things.database, "one"), "ann", Vote(0))
    folder.taken()
    clock.advance(minutes=5)
    resend_overdue(things)
    folder.fold()
    assert MARKS.of(things.database).count_documents({}) == 0
    assert counts(things.database, "one") == (0, 0, {})


def test_marks_of_a_kind_of_a_newer_release_stay_owed(things: Runtime, folder: Folder) -> None:
    placing.choose(things, KIND, "one", is_folded=True)
    vote(things, "ann")
    assert fold(things, {}, folder.taken()) == 0
    assert verify(things.database, KIND).owed == 1


def test_promotion_and_falling_back_while_eight_vote_and_fold(
    things: Runtime, folder: Folder
) -> None:
    def write(number: int) -> None:
        rng = random.Random(number)
        for turn in range(10):
            vote(things, f"user-{number}-{turn}")
            placing.place(things, read(things.database, "one"), f"u{rng.randrange(3)}", Vote(-1))
            if rng.random() < 0.3:
                folder.fold()
            if rng.random() < 0.2:
                placing.choose(things, KIND, "one", is_folded=rng.random() < 0.5)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    folder.fold()
    assert counts(things.database, "one") == (80, 3, {})
    verdict = verify(things.database, KIND)
    assert (verdict.wrong, verdict.owed) == (0, 0)
    found = THINGS.of(things.database).find_one({"_id": "one"})
    assert found
    assert found["score"] == 77
