"""What one person wrote: found, renamed and erased in every store, whatever happens meanwhile."""

import threading
from typing import Any

import pytest
from pymongo.errors import AutoReconnect

from chalicelib.comments import authors, nodes
from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.discussion import turns
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.moderation import queue
from chalicelib.comments.store import WIPED
from chalicelib.comments.stores import promotion, store_of
from chalicelib.comments.stores.embedded import note_authors
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, PUBLISHER, Discussion, Layout
from tests.support.clock import Clock

BOB = Principal("bob", "Bob")
TARGETS = [
    (Layout("documents", threaded=True), "embedded"),
    (Layout("documents", threaded=False), "buckets"),
    (Layout("embedded", threaded=True), "documents"),
    (Layout("embedded", threaded=False), "buckets"),
    (Layout("buckets", threaded=False), "documents"),
    (Layout("buckets", threaded=False), "embedded"),
]


def everything(runtime: Runtime) -> str:
    """Return all that is stored of comments as one text."""
    database = runtime.database
    names = [name for name in database.list_collection_names() if name.startswith("comments.")]
    return str([list(database[name].find()) for name in names])


def remaining(runtime: Runtime) -> int:
    found = authors.traces(runtime.database, "bob")
    return sum(rows.count_documents(where) for rows, where in found)


def talk(discussion: Discussion) -> str:
    """Have Bob and Ann talk, on as many levels as there are; return a reply of Ann's to Bob."""
    by_bob = discussion.post("bob says", by="bob")["id"]
    discussion.post("ann says")
    if not discussion.node["threaded"]:
        return discussion.post("ann answers")["id"]
    answer = discussion.post("ann answers", by_bob)["id"]
    deepest = answer
    for level in range(12):
        deepest = discussion.post("down", deepest, by="bob" if level % 2 else "ann")["id"]
    discussion.post("bob says again", by="bob")
    return answer


def test_a_rename_reaches_every_comment(discussion: Discussion) -> None:
    talk(discussion)

    authors.rename(discussion.runtime.database, "bob", "Bobby")

    stored = everything(discussion.runtime)
    assert "'Bob'" not in stored
    names = {c["author"]["id"]: c["author"]["name"] for c in discussion.page()["comments"]}
    assert names == {"ann": "Ann", "bob": "Bobby"}
    assert discussion.get(discussion.post("more", by="bob")["id"])["state"] == "visible"


def test_an_erasure_leaves_tombstones_where_others_replied(discussion: Discussion) -> None:
    answer = talk(discussion)
    count = discussion.page()["count"]
    by_bob = sum(c["author"]["id"] == "bob" for c in discussion.page()["comments"])

    assert authors.erase(discussion.runtime, "bob") is authors.Step.DONE

    stored = everything(discussion.runtime)
    assert "bob" not in stored.lower()
    assert remaining(discussion.runtime) == 0
    assert discussion.get(answer)["text"] == "ann answers"
    assert discussion.page()["count"] == count - by_bob
    shown = discussion.page()["comments"]
    if discussion.node["threaded"]:
        assert shown[0]["state"] == "deleted"
    assert [c["author"]["id"] for c in shown if c["author"]] == ["ann"] * (count - by_bob)


def test_who_was_erased_can_begin_anew(discussion: Discussion) -> None:
    talk(discussion)
    authors.erase(discussion.runtime, "bob")

    again = discussion.post("here again", by="bob")

    assert discussion.get(again["id"])["author"] == {"id": "bob", "name": "Bob"}
    assert remaining(discussion.runtime) == 1


def test_hidden_and_waiting_comments_are_erased_too(runtime: Runtime, layout: Layout) -> None:
    discussion = Discussion.make(runtime, layout, moderation="before")
    discussion.post("waits", by="bob")
    hidden = discussion.post("is hidden", by="bob")["id"]
    discussion.set_state(hidden, "hidden")

    authors.rename(runtime.database, "bob", "Bobby")
    (queued,) = runtime.database[queue.PENDING.name].find()
    assert queued["author"] == {"id": "bob", "name": "Bobby"}
    authors.erase(runtime, "bob")

    assert "bob" not in everything(runtime).lower()
    assert discussion.node["counts"] == {"visible": 0, "pending": 0}


def test_an_erasure_goes_on_where_it_was_cut_short(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(discussion)
    calls = 0

    def cut(*arguments: Any, real: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls % 2:
            raise AutoReconnect
        return real(*arguments)

    steps = ((nodes, "touch"), (nodes, "count"), (queue, "settle"), (authors, "_forget"))
    for module, name in steps:
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, real=real, **_: cut(*a, real=real))
    for _ in range(200):
        try:
            if authors.erase(discussion.runtime, "bob") is authors.Step.DONE:
                break
        except AutoReconnect:
            continue
    else:
        pytest.fail("it never ends")

    assert "bob" not in everything(discussion.runtime).lower()
    assert remaining(discussion.runtime) == 0


@pytest.mark.bounds(comments={"erasure_step_comments": 3})
def test_an_erasure_takes_steps(discussion: Discussion) -> None:
    for _ in range(7):
        discussion.post("x", by="bob")

    ends = [authors.erase(discussion.runtime, "bob") for _ in range(3)]

    assert ends == [authors.Step.MORE, authors.Step.MORE, authors.Step.DONE]
    assert remaining(discussion.runtime) == 0


def test_with_a_time_later_comments_stay(discussion: Discussion, clock: Clock) -> None:
    discussion.post("before", by="bob")
    until = clock()
    clock.advance(milliseconds=1)
    after = discussion.post("after", by="bob")["id"]

    assert authors.erase(discussion.runtime, "bob", until) is authors.Step.DONE

    stored = everything(discussion.runtime)
    assert ("'before'" in stored, "'after'" in stored) == (False, True)
    assert discussion.get(after)["author"] == {"id": "bob", "name": "Bob"}
    assert remaining(discussion.runtime) == 1


@pytest.mark.parametrize(("layout", "target"), TARGETS, ids=str)
def test_what_a_move_left_behind_is_erased(runtime: Runtime, layout: Layout, target: Any) -> None:
    discussion = Discussion.make(runtime, layout)
    discussion.post("bob says", by="bob")
    promotion.move(runtime, discussion.node_id, target)

    authors.rename(runtime.database, "bob", "Bobby")
    assert "'Bob'" not in everything(runtime)
    assert authors.erase(runtime, "bob") is authors.Step.DONE

    assert "bob" not in everything(runtime).lower()
    assert remaining(runtime) == 0


@pytest.mark.parametrize(("layout", "target"), TARGETS, ids=str)
def test_an_erasure_in_the_middle_of_a_move_ends_after_it(
    runtime: Runtime, layout: Layout, target: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The erasure comes when the copy has been made, and its node still moves."""
    discussion = Discussion.make(runtime, layout)
    discussion.post("bob says", by="bob")
    discussion.post("ann says")
    switch, steps = promotion._switch, []

    def erase_first(*arguments: Any) -> Any:
        steps.append(authors.erase(runtime, "bob"))
        return switch(*arguments)

    monkeypatch.setattr(promotion, "_switch", erase_first)
    monkeypatch.setattr(turns, "waits", lambda _budget: iter([None]))
    promotion.move(runtime, discussion.node_id, target)
    assert steps == [authors.Step.BUSY]
    assert authors.erase(runtime, "bob") is authors.Step.DONE

    assert "bob" not in everything(runtime).lower()
    assert [c["text"] for c in discussion.page()["comments"]] == ["ann says"]
    assert discussion.page()["count"] == 1


@pytest.mark.parametrize(("layout", "target"), TARGETS, ids=str)
def test_the_copy_of_a_move_that_died_is_erased(
    runtime: Runtime, layout: Layout, target: Any, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    discussion = Discussion.make(runtime, layout)
    discussion.post("bob says", by="bob")
    discussion.post("ann says")

    def dies(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(promotion, "_switch", dies)
        with pytest.raises(KeyboardInterrupt):
            promotion.move(runtime, discussion.node_id, target)
    clock.advance(milliseconds=runtime.settings.lease_ms)

    for _ in range(3):
        authors.erase(runtime, "bob")

    assert "bob" not in everything(runtime).lower()
    assert [c["text"] for c in discussion.page()["comments"]] == ["ann says"]


def test_the_copy_is_erased_where_nothing_else_ends_the_move_that_died(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """The comment that was served is wiped already, by an erasure that was cut short."""
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    comment = discussion.post("bob says", by="bob")["id"]
    with monkeypatch.context() as patch:
        patch.setattr(promotion, "_switch", _dies)
        with pytest.raises(KeyboardInterrupt):
            promotion.move(runtime, discussion.node_id, "buckets")
    node = discussion.node
    store_of(runtime, node).change(node, comment, WIPED, {})
    clock.advance(milliseconds=runtime.settings.lease_ms)

    assert authors.erase(runtime, "bob") is authors.Step.DONE
    assert "bob" not in everything(runtime).lower()


def _dies(*_: Any) -> Any:
    raise KeyboardInterrupt


def test_comments_of_a_deleted_node_are_erased(discussion: Discussion) -> None:
    discussion.post("bob says", by="bob")
    discussion_nodes.delete_node(discussion.runtime, discussion.node_id, PUBLISHER)
    with pytest.raises(UnknownNode):
        nodes.find(discussion.runtime.database, discussion.node_id)

    assert authors.erase(discussion.runtime, "bob") is authors.Step.DONE

    assert "bob" not in everything(discussion.runtime).lower()
    assert remaining(discussion.runtime) == 0


def test_an_erasure_loses_no_comment_of_others(discussion: Discussion) -> None:
    for _ in range(20):
        discussion.post("bob says", by="bob")
    posted: list[str] = []
    over = threading.Event()

    def write() -> None:
        while not over.is_set() and len(posted) < 100:
            posted.append(discussion.post("ann says")["id"])

    writer = threading.Thread(target=write)
    writer.start()
    step = authors.erase(discussion.runtime, "bob")
    over.set()
    writer.join()

    assert step is authors.Step.DONE
    found = [c["id"] for c in discussion.page()["comments"]]
    assert sorted(found) == sorted(posted)
    assert discussion.page()["count"] == len(posted)


def test_an_author_stays_noted_while_a_comment_of_theirs_comes_in(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, Layout("embedded", threaded=True))
    discussion.post("first", by="bob")
    forget = authors._forget

    def late(*arguments: Any) -> None:
        discussion.post("second", by="bob")
        forget(*arguments)

    monkeypatch.setattr(authors, "_forget", late)
    authors.erase(runtime, "bob")

    assert remaining(runtime) == 1
    monkeypatch.undo()
    authors.erase(runtime, "bob")
    assert "bob" not in everything(runtime).lower()


@pytest.mark.parametrize("layout", LAYOUTS[2:4], ids=str)
def test_authors_that_the_last_release_did_not_note_are_noted(
    runtime: Runtime, layout: Layout
) -> None:
    discussion = Discussion.make(runtime, layout)
    talk(discussion)
    rows = nodes.NODES.of(runtime.database)
    noted = rows.find_one({})["metadata"]["authors"]  # type: ignore[index]
    rows.update_many({}, {"$unset": {"metadata.authors": ""}})
    assert remaining(runtime) == 0

    assert note_authors(runtime.database, {"metadata.authors": None}) == 1

    assert sorted(rows.find_one({})["metadata"]["authors"]) == sorted(noted) == ["ann", "bob"]  # type: ignore[index]
    assert note_authors(runtime.database, {"metadata.authors": None}) == 0


def test_what_is_left_is_found_by_indexes(runtime: Runtime) -> None:
    for number, layout in enumerate(LAYOUTS):
        Discussion.make(runtime, layout, f"n{number}").post("x", by="bob")

    for rows, where in authors.traces(runtime.database, "bob"):
        plan = str(rows.find(where).explain()["queryPlanner"]["winningPlan"])
        assert "COLLSCAN" not in plan, rows.name
