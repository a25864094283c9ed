"""Writers that make the same entry in one moment: one entry is made, and nobody fails."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.comments.entries import comparing, writing
from chalicelib.comments.entries.marked import PAGE
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.marking import votes
from chalicelib.comments.shapes import Comment
from chalicelib.comments.stores import store_of
from chalicelib.runtime import Runtime
from tests.comments.discussion.test_concurrency import real_time
from tests.comments.support.discussion import PEOPLE, Discussion, Layout
from tests.comments.support.entries import NONE, difference

WRITERS = 4
# Without the guard about every second round fails.
ROUNDS = 40


@pytest.fixture
def discussion(runtime: Runtime) -> Discussion:
    return Discussion.make(real_time(runtime), Layout("documents", threaded=True))


def without_entries(discussion: Discussion) -> Callable[[], None]:
    """Return what removes every entry, before each round."""
    rows = ENTRIES.of(discussion.runtime.database)

    def remove() -> None:
        rows.delete_many({"site": discussion.node["site"]})

    return remove


def at_once(work: Callable[[], object], before: Callable[[], None]) -> list[object]:
    """Let all writers call `work` in one moment, in every round; return what they returned."""
    start = threading.Barrier(WRITERS, action=before)

    def run(_writer: int) -> list[object]:
        given: list[object] = []
        for _ in range(ROUNDS):
            start.wait(timeout=60)
            try:
                given.append(work())
            except BaseException:
                start.abort()
                raise
        return given

    with ThreadPoolExecutor(WRITERS) as pool:
        return [each for given in pool.map(run, range(WRITERS)) for each in given]


def stored(discussion: Discussion) -> Comment:
    posted = discussion.post("root")["id"]
    discussion.post("reply", posted)
    comment = store_of(discussion.runtime, discussion.node).get(discussion.node, posted)
    assert comment is not None
    return comment


def test_an_entry_is_settled_by_many_at_once(discussion: Discussion) -> None:
    comment, database = stored(discussion), discussion.runtime.database

    at_once(lambda: writing.settle(database, discussion.node, comment), without_entries(discussion))

    assert ENTRIES.of(database).count_documents({"id": comment["id"]}) == 1


def test_an_entry_is_added_once_by_many_at_once(discussion: Discussion) -> None:
    comment, runtime = stored(discussion), discussion.runtime

    added = at_once(
        lambda: writing.add(runtime.database, discussion.node, comment, runtime.now()),
        without_entries(discussion),
    )

    assert added.count(True) == ROUNDS


def test_entries_are_repaired_by_many_at_once(discussion: Discussion) -> None:
    stored(discussion)

    at_once(
        lambda: comparing.repair(discussion.runtime, discussion.node), without_entries(discussion)
    )

    assert difference(discussion) == NONE


def test_the_entry_of_a_page_is_made_once_by_its_first_voters(discussion: Discussion) -> None:
    found = at_once(
        lambda: votes.find(discussion.runtime, discussion.node_id, PAGE, PEOPLE["bob"]).entry[
            "_id"
        ],
        without_entries(discussion),
    )

    assert set(found) == {f"{discussion.node_id}/"}
