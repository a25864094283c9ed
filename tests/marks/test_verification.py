"""Recounting a large site some things at a time: each once, wherever a call ends."""

import pytest

from chalicelib.marks import placing
from chalicelib.marks.changes import Vote
from chalicelib.marks.verification import Verdict, verify
from chalicelib.runtime import Runtime
from tests.marks.support.things import KIND, THINGS, make, read

# One is the beginning of others, whose marks come before its own.
IDS = ("a", "a/b", "a/b/c", "b", "c", "d")


@pytest.fixture
def marked(things: Runtime) -> Runtime:
    make(things.database, *IDS)
    for thing_id in IDS:
        for user in ("ann", "bob"):
            placing.place(things, read(things.database, thing_id), user, Vote(1))
    # Counted once, and by nobody any more.
    placing.place(things, read(things.database, "one"), "ann", Vote(1))
    placing.place(things, read(things.database, "one"), "ann", Vote(0))
    return things


def walked(runtime: Runtime, most: int) -> list[Verdict]:
    found = [verify(runtime.database, KIND, most=most)]
    while following := found[-1].next:
        found.append(verify(runtime.database, KIND, following, most))
    return found


@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_each_thing_is_recounted_once(marked: Runtime, most: int) -> None:
    calls = walked(marked, most)

    assert sum(each.things for each in calls) == len(IDS) + 1
    assert max(each.things for each in calls) <= most
    assert sum(each.wrong for each in calls) == 0


@pytest.mark.parametrize("most", [1, 2, 100])
def test_what_is_counted_wrongly_is_found_wherever_it_is(marked: Runtime, most: int) -> None:
    some = {"_id": {"$in": ["a/b", "d", "one"]}}
    THINGS.of(marked.database).update_many(some, {"$inc": {"up": 1}})

    named = [id_ for each in walked(marked, most) for id_ in each.wrong_ids]

    assert sorted(named) == ["a/b", "d", "one"]


def test_another_place_to_go_on_from_is_refused(marked: Runtime) -> None:
    with pytest.raises(ValueError, match="after"):
        verify(marked.database, KIND, "elsewhere a")
