"""Both designs of counting, held to one contract: what is mine, and what is counted."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib import deadlines
from chalicelib.marks import placing, reading, removal
from chalicelib.marks.changes import Change, React, Vote
from chalicelib.marks.errors import TooManyReactions
from chalicelib.marks.personal_data import PersonalData
from chalicelib.marks.shapes import MARKS, State
from chalicelib.marks.verification import verify
from chalicelib.people.features import Step
from chalicelib.runtime import Runtime
from tests.marks.conftest import Folder
from tests.marks.support.things import KIND, KINDS, THINGS, GoneThing, counts, make, read

# A vote, and what it is counted as.
_VOTES: Any = ((1, 1, 0), (-1, 0, 1), (0, 0, 0))
DESIGNS = [pytest.param(False, id="direct"), pytest.param(True, id="folded")]
HEART = reading.ReactionOn(KIND, "one", "heart")
pytestmark = pytest.mark.bounds(marks={"hot_marks_a_minute": 10**9})


@pytest.fixture(params=DESIGNS, autouse=True)
def designed(things: Runtime, request: pytest.FixtureRequest) -> None:
    for name in ("one", "two"):
        assert placing.choose(things, KIND, name, is_folded=request.param)


def place(runtime: Runtime, user: str, change: Change, thing: str = "one") -> State:
    return placing.place(runtime, read(runtime.database, thing), user, change).mine


def mine(runtime: Runtime, user: str, thing: str = "one") -> State:
    return reading.mine(runtime.database, user, KIND, [thing]).get(thing, State())


def assert_exact(runtime: Runtime) -> None:
    verdict = verify(runtime.database, KIND)
    assert (verdict.wrong, verdict.owed) == (0, 0)


def test_a_vote_sets_changes_and_is_withdrawn(things: Runtime, folder: Folder) -> None:
    for vote, up, down in _VOTES:
        for _ in range(2):
            assert place(things, "ann", Vote(vote)) == State(vote)
            assert mine(things, "ann") == State(vote)
            folder.fold()
            assert counts(things.database, "one") == (up, down, {})
    assert MARKS.of(things.database).count_documents({}) == 0


def test_reactions_stand_beside_each_other_and_the_vote(things: Runtime, folder: Folder) -> None:
    place(things, "ann", React("heart"))
    place(things, "ann", Vote(1))
    place(things, "ann", React("1"))
    place(things, "bob", React("heart"))
    folder.fold()
    assert mine(things, "ann") == State(1, ("heart", "1"))
    assert counts(things.database, "one") == (1, 0, {"heart": 2, "1": 1})

    place(things, "ann", React("heart", adds=False))
    place(things, "ann", React("1", adds=False))
    folder.fold()
    assert mine(things, "ann") == State(1)
    assert counts(things.database, "one") == (1, 0, {"heart": 1})
    assert_exact(things)


def test_what_follows_from_the_counts_is_computed_with_them(
    things: Runtime, folder: Folder
) -> None:
    for user, value in (("ann", 1), ("bob", 1), ("cy", -1)):
        vote: Any = value
        place(things, user, Vote(vote))
    folder.fold()
    found = THINGS.of(things.database).find_one({"_id": "one"})
    assert found
    assert found["score"] == 1


def test_withdrawing_nothing_stores_nothing(things: Runtime, folder: Folder) -> None:
    assert place(things, "ann", Vote(0)) == State()
    assert place(things, "ann", React("heart", adds=False)) == State()
    folder.fold()
    assert MARKS.of(things.database).count_documents({}) == 0
    assert counts(things.database, "one") == (0, 0, {})


def test_a_sixth_reaction_is_refused_and_the_five_stay(things: Runtime, folder: Folder) -> None:
    for number in range(5):
        place(things, "ann", React(f"k{number}"))
    with pytest.raises(TooManyReactions):
        place(things, "ann", React("k5"))
    assert place(things, "ann", React("k4")).reactions == ("k0", "k1", "k2", "k3", "k4")
    place(things, "ann", React("k0", adds=False))
    place(things, "ann", React("k5"))
    folder.fold()
    assert counts(things.database, "one")[2] == {f"k{number}": 1 for number in range(1, 6)}
    assert_exact(things)


@pytest.mark.parametrize("key", ["a.b", "$where", "", "A", "x" * 21, "a\n", "a\0b", "é"])
def test_a_key_that_could_be_a_path_reaches_no_update(things: Runtime, key: str) -> None:
    with pytest.raises(ValueError, match="no key of a reaction"):
        place(things, "ann", React(key))
    assert MARKS.of(things.database).count_documents({}) == 0


def test_saying_it_again_writes_nothing(things: Runtime, folder: Folder) -> None:
    place(things, "ann", Vote(1))
    folder.fold()
    before = list(MARKS.of(things.database).find()), list(THINGS.of(things.database).find())
    things.now.advance(seconds=5)  # type: ignore[attr-defined]
    place(things, "ann", Vote(1))
    folder.fold()
    after = list(MARKS.of(things.database).find()), list(THINGS.of(things.database).find())
    assert after == before


def test_eight_writers_on_one_thing_are_counted_exactly(things: Runtime, folder: Folder) -> None:
    def write(number: int) -> None:
        rng = random.Random(number)
        for _ in range(12):
            user = f"user-{rng.randrange(10)}"
            if rng.random() < 0.5:
                place(things, user, Vote(rng.choice([-1, 0, 1])))
            else:
                place(things, user, React(rng.choice("ab"), adds=rng.random() < 0.6))
            if rng.random() < 0.3:
                folder.fold()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    folder.fold()
    assert_exact(things)
    marks = list(MARKS.of(things.database).find())
    up, down, reactions = counts(things.database, "one")
    assert up == sum(mark["vote"] == 1 for mark in marks)
    assert down == sum(mark["vote"] == -1 for mark in marks)
    assert reactions.get("a", 0) == sum("a" in mark["reactions"] for mark in marks)


def test_eight_clicks_of_one_person_at_once_are_one_vote(things: Runtime, folder: Folder) -> None:
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: place(things, "ann", Vote(1)), range(8)))
    folder.fold()
    assert set(said) == {State(1)}
    assert counts(things.database, "one") == (1, 0, {})
    assert_exact(things)


def test_a_thing_that_is_deleted_meanwhile_takes_nothing(things: Runtime, folder: Folder) -> None:
    thing = read(things.database, "one")
    place(things, "bob", Vote(1))
    folder.fold()
    gone = {"$set": {"state": "deleted"}, "$unset": {"up": "", "marking": ""}}
    THINGS.of(things.database).update_one({"_id": "one"}, gone)
    removal.remove_from(things.database, KIND, "one")
    try:
        placing.place(things, thing, "ann", Vote(1))
    except GoneThing:
        assert "design" not in thing.found["marking"]
    folder.fold()
    assert MARKS.of(things.database).count_documents({}) == 0
    assert counts(things.database, "one") == (0, 0, {})


def test_a_hidden_thing_keeps_its_counts_exact(things: Runtime, folder: Folder) -> None:
    place(things, "ann", Vote(1))
    THINGS.of(things.database).update_one({"_id": "one"}, {"$set": {"state": "hidden"}})
    folder.fold()
    assert counts(things.database, "one") == (1, 0, {})
    removal.take_back(things, KINDS, "ann")
    assert counts(things.database, "one") == (0, 0, {})
    assert_exact(things)


def test_who_is_erased_takes_their_marks_with_them(things: Runtime, folder: Folder) -> None:
    for user in ("ann", "bob"):
        place(things, user, Vote(1))
        place(things, user, React("heart"), "two")
    folder.fold()
    # Not folded yet where marks are folded.
    place(things, "ann", Vote(-1))
    things.now.advance(seconds=5)  # type: ignore[attr-defined]
    place(things, "ann", React("late"))

    removal.take_back(things, KINDS, "ann", until=None)
    folder.fold()
    assert MARKS.of(things.database).count_documents({"user_id": "ann"}) == 0
    assert counts(things.database, "one") == (1, 0, {})
    assert counts(things.database, "two") == (0, 0, {"heart": 1})
    assert_exact(things)


def test_an_erasure_without_time_goes_on_in_steps(things: Runtime, folder: Folder) -> None:
    for thing in ("one", "two"):
        place(things, "ann", Vote(1), thing)
    folder.fold()
    erasure = PersonalData(KINDS)

    with deadlines.bound(0):
        steps = [erasure.erase(things, "ann") for _ in range(3)]

    assert steps == [Step.MORE, Step.MORE, Step.DONE]
    folder.fold()
    assert counts(things.database, "one") == counts(things.database, "two") == (0, 0, {})
    assert_exact(things)


def test_an_erasure_up_to_a_time_leaves_what_came_after_it(things: Runtime, folder: Folder) -> None:
    place(things, "ann", Vote(1))
    until = things.now()
    things.now.advance(seconds=1)  # type: ignore[attr-defined]
    place(things, "ann", Vote(1), "two")
    folder.fold()
    removal.take_back(things, KINDS, "ann", until)
    assert counts(things.database, "one") == (0, 0, {})
    assert counts(things.database, "two") == (1, 0, {})
    assert_exact(things)


def test_ids_that_begin_alike_are_different_things(things: Runtime, folder: Folder) -> None:
    make(things.database, "on", "one-b", "one0", "one/c")
    for thing in ("one", "on", "one-b", "one0", "one/c"):
        place(things, "ann", React("heart"), thing)
    folder.fold()
    removal.remove_from(things.database, KIND, "on")
    found = reading.mine(things.database, "ann", KIND, ["on", "one", "one-b", "one0", "one/c"])
    assert set(found) == {"one", "one-b", "one0", "one/c"}
    assert reading.list_reactors(things.database, HEART, "eve", "", 10) == ["ann"]


def test_who_reacted_is_listed_in_the_order_of_ids(things: Runtime) -> None:
    for user in ("cy", "ann", "bob", "dan"):
        place(things, user, React("heart"))
    place(things, "bob", React("heart", adds=False))
    place(things, "eve", React("fire"))
    assert reading.list_reactors(things.database, HEART, "eve", "", 2) == ["ann", "cy"]
    assert reading.list_reactors(things.database, HEART, "eve", "cy", 2) == ["dan"]


def test_marks_of_a_shadowed_person_are_theirs_and_count_for_nobody(
    things: Runtime, folder: Folder
) -> None:
    assert place(things, "ann", Vote(1, is_shadowed=True)) == State(1, is_shadowed=True)
    place(things, "ann", React("heart", is_shadowed=True))
    folder.fold()

    assert mine(things, "ann") == State(1, ("heart",), is_shadowed=True)
    assert counts(things.database, "one") == (0, 0, {})
    assert reading.list_reactors(things.database, HEART, "bob", "", 9) == []
    assert reading.list_reactors(things.database, HEART, "ann", "", 9) == ["ann"]
    assert_exact(things)
    # A withdrawal says nothing of the rest.
    place(things, "ann", Vote(0))
    folder.fold()
    assert mine(things, "ann") == State(0, ("heart",), is_shadowed=True)
    place(things, "ann", React("heart", adds=False))
    folder.fold()
    assert MARKS.of(things.database).count_documents({}) == 0
    assert counts(things.database, "one") == (0, 0, {})


def test_a_mark_counts_from_the_change_that_its_person_makes_unshadowed(
    things: Runtime, folder: Folder
) -> None:
    place(things, "ann", Vote(1))
    place(things, "ann", React("heart"))
    folder.fold()

    for is_shadowed, counted in ((True, (0, 0, {})), (False, (1, 0, {"heart": 1}))):
        for _ in range(2):
            place(things, "ann", Vote(1, is_shadowed=is_shadowed))
            folder.fold()
            assert counts(things.database, "one") == counted
            assert_exact(things)
    place(things, "ann", Vote(-1, is_shadowed=True))
    removal.take_back(things, KINDS, "ann")
    folder.fold()
    assert counts(things.database, "one") == (0, 0, {})
    assert_exact(things)


def test_a_shadowed_mark_reaches_no_thing_that_is_deleted_meanwhile(things: Runtime) -> None:
    thing = read(things.database, "one")
    THINGS.of(things.database).update_one({"_id": "one"}, {"$set": {"state": "deleted"}})
    if thing.found["marking"].get("design") is None:
        with pytest.raises(GoneThing):
            placing.place(things, thing, "ann", Vote(1, is_shadowed=True))
        assert MARKS.of(things.database).count_documents({}) == 0
