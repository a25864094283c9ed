"""Marks from elsewhere: counted once, beside the marks of people here."""

from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import key_of
from chalicelib.marks import adding
from chalicelib.marks.adding import GivenMark
from chalicelib.marks.verification import verify
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.entries import entry
from tests.support.clock import START


def test_marks_are_added_once_and_a_persons_own_mark_stays(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=True))
    posted = discussion.post("text")["id"]
    thing = thing_id(key_of(discussion.node, posted))
    eve = GivenMark(thing, "eve", START, 1, ("heart",))

    adding.add(runtime, KIND, [eve, GivenMark(thing, "joe", START, -1)])
    adding.add(runtime, KIND, [eve._replace(vote=-1), GivenMark(thing, "max", START, 1)])
    adding.add(runtime, KIND, [])

    counted = entry(discussion, posted)
    assert (counted["up"], counted["down"], counted["reactions"]) == (2, 1, {"heart": 1})
    assert counted["top"] == 1
    assert verify(runtime.database, KIND).wrong == 0


def test_more_marks_than_a_transaction_takes_are_added_in_several(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=True))
    posted = discussion.post("text")["id"]
    thing = thing_id(key_of(discussion.node, posted))
    many = [GivenMark(thing, f"p{number}", START, 1) for number in range(1_200)]

    adding.add(runtime, KIND, many)

    counted = entry(discussion, posted)
    assert counted["up"] == 1_200
    # It tells nothing of how many mark it here.
    assert "design" not in counted["marking"]
