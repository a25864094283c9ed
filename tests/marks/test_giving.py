"""Marks given to another person, whose own marks go before: counted once, in either design."""

from collections.abc import Sequence

import pytest

from chalicelib.marks import giving
from chalicelib.marks.changes import Change, Flag, React, Vote
from chalicelib.marks.placing import choose, place
from chalicelib.marks.shapes import MARKS
from chalicelib.marks.verification import verify
from chalicelib.runtime import Runtime
from tests.marks.conftest import Folder
from tests.marks.support.things import KIND, counts, make, read

THING = "all/one"
FLAG = Flag("spam", "", 100, {"up": -1})


def mark(runtime: Runtime, user_id: str, changes: Sequence[Change]) -> None:
    for each in changes:
        place(runtime, read(runtime.database, THING), user_id, each)


def give(runtime: Runtime) -> None:
    giving.give(runtime, KIND, "all/", "guest", "ann")


@pytest.mark.parametrize("is_folded", [False, True])
@pytest.mark.parametrize(
    ("given", "own", "after"),
    [
        ([Vote(1)], [], (1, 0, {})),
        ([Vote(1)], [Vote(-1)], (0, 1, {})),
        ([Vote(1)], [Vote(1)], (1, 0, {})),
        ([Vote(1), React("heart")], [React("fire")], (1, 0, {"fire": 1, "heart": 1})),
        ([React("heart")], [React("heart"), Vote(1)], (1, 0, {"heart": 1})),
        # A vote that counts for its person alone stays so, and mixes with no other.
        ([Vote(1, is_shadowed=True)], [], (0, 0, {})),
        ([Vote(1, is_shadowed=True)], [Vote(-1)], (0, 1, {})),
        ([Vote(1)], [Vote(-1, is_shadowed=True)], (0, 0, {})),
    ],
)
def test_what_a_person_says_goes_before_what_they_are_given(
    folder: Folder,
    given: Sequence[Change],
    own: Sequence[Change],
    after: tuple[int, int, dict[str, int]],
    *,
    is_folded: bool,
) -> None:
    runtime = folder.runtime
    make(runtime.database, THING)
    choose(runtime, KIND, THING, is_folded=is_folded)
    mark(runtime, "guest", given)
    mark(runtime, "ann", own)

    give(runtime)
    give(runtime)

    assert counts(runtime.database, THING) == after
    folder.fold()
    assert counts(runtime.database, THING) == after
    assert MARKS.of(runtime.database).count_documents({"user_id": "guest"}) == 0
    assert verify(runtime.database, KIND).wrong == 0


def test_a_flag_is_given_once(folder: Folder) -> None:
    runtime = folder.runtime
    make(runtime.database, THING)
    for user_id in ("guest", "ann"):
        mark(runtime, user_id, [FLAG])

    give(runtime)

    assert verify(runtime.database, KIND).wrong == 0
    assert read(runtime.database, THING).found["flags"] == 100


def test_marks_on_other_things_stay(folder: Folder) -> None:
    runtime = folder.runtime
    place(runtime, read(runtime.database, "one"), "guest", Vote(1))

    give(runtime)

    assert MARKS.of(runtime.database).count_documents({"user_id": "guest"}) == 1


@pytest.mark.parametrize("is_folded", [False, True])
def test_a_vote_and_a_waiting_flag_are_withdrawn_and_reactions_stay(
    folder: Folder, *, is_folded: bool
) -> None:
    runtime = folder.runtime
    make(runtime.database, THING)
    choose(runtime, KIND, THING, is_folded=is_folded)
    mark(runtime, "ann", [Vote(1), React("heart"), FLAG])

    for _ in range(2):
        giving.withdraw(runtime, KIND, THING, "ann")

    folder.fold()
    assert counts(runtime.database, THING) == (0, 0, {"heart": 1})
    assert verify(runtime.database, KIND).wrong == 0
