"""The comparison of many entries: in batches, and in little memory."""

import tracemalloc
from collections.abc import Iterator

import pytest

from chalicelib.comments.entries import comparing
from chalicelib.comments.entries.comparing import Difference
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.shapes import Comment
from chalicelib.comments.stores import store_of
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, Discussion, Layout
from tests.comments.support.entries import NONE, difference, entries

MANY = 4_000
# A comment and its entry, as dicts, take several thousand.
MOST_BYTES_A_COMMENT = 1_500


@pytest.fixture(params=LAYOUTS, ids=str)
def discussion(request: pytest.FixtureRequest, runtime: Runtime) -> Discussion:
    return Discussion.make(runtime, request.param)


def test_more_differences_than_a_batch_has_are_repaired(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "_AT_ONCE", 2)
    posted = [discussion.post(f"{number}")["id"] for number in range(6)]
    right = entries(discussion)
    rows = ENTRIES.of(discussion.runtime.database)
    site = {"site": discussion.node["site"]}
    rows.delete_many({**site, "id": {"$in": posted[:3]}})
    rows.update_one({**site, "id": posted[4]}, {"$set": {"thread": 9}})
    assert difference(discussion) == Difference(missing=3, wrong=1)

    found = comparing.repair(discussion.runtime, discussion.node)

    assert found == Difference(missing=3, wrong=1)
    assert difference(discussion) == NONE
    assert {name: row["thread"] for name, row in entries(discussion).items()} == {
        name: row["thread"] for name, row in right.items()
    }


def test_a_reply_between_the_two_passes_is_counted_once(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Discussion.make(runtime, LAYOUTS[0])
    root = page.post("root")["id"]
    ENTRIES.of(runtime.database).update_many({}, {"$set": {"author_id": "zed"}})
    examine = comparing._examine

    def reply_first(*arguments: object) -> object:
        page.post("reply", root)
        return examine(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(comparing, "_examine", reply_first)
        comparing.repair(runtime, page.node)
    comparing.repair(runtime, page.node)

    assert difference(page) == NONE
    assert entries(page)[root]["thread"] == 2


def test_a_root_between_the_two_passes_is_no_difference(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion.post("root")
    store = type(store_of(discussion.runtime, discussion.node))
    monkeypatch.setattr(store, "export", lambda *_: iter(()))

    assert difference(discussion) == NONE


def test_a_large_node_is_compared_in_little_memory(runtime: Runtime) -> None:
    page = Discussion.make(runtime, Layout("documents", threaded=False))
    page.post("x")
    store = store_of(runtime, page.node)
    ((first,),) = store.export(page.node)
    store.load(page.node, copies(first))
    comparing.repair(runtime, page.node)

    tracemalloc.start()
    try:
        assert difference(page) == NONE
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(entries(page)) == MANY + 1
    assert peak / MANY < MOST_BYTES_A_COMMENT


def copies(comment: Comment) -> Iterator[list[Comment]]:
    """Yield copies of a comment under other ids, in batches."""
    for first in range(0, MANY, 500):
        yield [
            {**comment, "id": name, "slug": name, "seq": number + 2}
            for number in range(first, first + 500)
            for name in [f"{number:010}"]
        ]
