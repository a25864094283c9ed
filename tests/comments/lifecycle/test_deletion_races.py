"""Deletions beside posts, moves and late writers: nothing of the node is left."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.comments import jobs, nodes
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.forms import PendingQuery
from chalicelib.comments.lifecycle import relocation, vacancies
from chalicelib.comments.moderation import queue
from chalicelib.comments.shapes import Comment, Node, StoreName
from chalicelib.comments.store import Added
from chalicelib.comments.stores import promotion, store_of
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.comments.writing import post
from chalicelib.errors import Unavailable
from chalicelib.identity import Principal
from chalicelib.jobs.sweeping import Sweep
from chalicelib.runtime import Runtime
from tests.comments.discussion.test_concurrency import in_threads, real_time
from tests.comments.support.crashes import Crash, crash
from tests.comments.support.deletion import delete, filled, left
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.relocation import NEW
from tests.support.clock import Clock


@pytest.mark.parametrize("is_late", [False, True], ids=["numbered", "stored"])
@pytest.mark.parametrize("again", [False, True], ids=["gone", "made-again"])
def test_a_post_that_is_under_way_goes_with_the_node(
    runtime: Runtime, layout: Layout, clock: Clock, *, again: bool, is_late: bool
) -> None:
    """The node is deleted after the post was numbered, or after it was stored."""
    discussion = Discussion.make(runtime, layout, moderation="before")
    add = post._add

    def racing(runtime: Runtime, node: Node, comment: Comment) -> Added | None:
        patched.undo()
        added = add(runtime, node, comment) if is_late else None
        delete(discussion)
        if again:
            Discussion.make(runtime, layout)
        return added if is_late else add(runtime, node, comment)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(post, "_add", racing)
        is_counted = is_late and layout.store == "embedded"
        with contextlib.nullcontext() if is_counted else pytest.raises(UnknownNode):
            discussion.post("under way")
    assert queue.PENDING.name not in left(runtime)

    if again:
        assert discussion.stored() == {}
        delete(discussion)
    clock.advance(hours=1)
    jobs.run_due(runtime)
    assert left(runtime) == {}


def test_a_post_that_is_refused_leaves_no_row_of_the_queue(
    runtime: Runtime, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node is deleted between a post's number and its row."""
    discussion = Discussion.make(runtime, layout, moderation="before")

    monkeypatch.setattr(post, "_parent", lambda *_: delete(discussion))
    with pytest.raises(UnknownNode):
        discussion.post("refused")

    assert queue.PENDING.name not in left(runtime)


def test_a_move_that_is_under_way_ends_without_a_trace(
    runtime: Runtime, layout: Layout, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = filled(runtime, layout)
    target: StoreName = "documents" if layout.store == "embedded" else "embedded"
    switch = promotion._switch

    def deleted_first(*args: Any) -> Any:
        delete(discussion)
        return switch(*args)

    monkeypatch.setattr(promotion, "_switch", deleted_first)
    with pytest.raises((Unavailable, UnknownNode)):
        discussion.move(target)

    clock.advance(hours=1)
    jobs.run_due(runtime)
    assert left(runtime) == {}


def test_a_row_of_the_queue_that_a_crashed_post_left_goes_with_the_node(
    runtime: Runtime, layout: Layout, clock: Clock
) -> None:
    discussion = Discussion.make(runtime, layout, moderation="before")

    def deleted_then_crash(*_: object) -> Any:
        delete(discussion)
        crash()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(post, "_add", deleted_then_crash)
        patched.setattr(queue, "forget", lambda *_: None)
        with pytest.raises(Crash):
            discussion.post("queued, then the process ended")
    assert left(runtime)[queue.PENDING.name] == 1

    clock.advance(hours=1)
    jobs.run_due(runtime)

    assert left(runtime) == {}


def test_the_mark_stays_until_no_late_writer_can_be_left(runtime: Runtime, clock: Clock) -> None:
    discussion = filled(runtime, Layout("documents", threaded=False), 3)
    late = discussion.node
    delete(discussion)
    clock.advance(minutes=15)
    assert jobs.run_due(runtime)["vacancies_removed"] == 0

    orphan = add_late(runtime, late)
    assert left(runtime)[COMMENTS.name] == 1
    clock.advance(minutes=1)

    done = jobs.run_due(runtime)
    assert (done["generations_removed"], done["vacancies_removed"]) == (1, 1)
    assert orphan is Added.INSERTED
    assert left(runtime) == {}


def add_late(runtime: Runtime, node: Node) -> Added:
    """Store a comment under a node as it was read long ago."""
    other = Discussion.make(runtime, Layout("embedded", threaded=False), "other")
    comment = other.post("late")
    added = store_of(runtime, node).add(node, comment)
    nodes.NODES.of(runtime.database).delete_one({"_id": "other"})
    return added


# One scenario: its writers go on until the last deletion, and the schedule follows.
def test_writers_and_deletions_at_once_leave_no_orphan(
    runtime: Runtime, layout: Layout, clock: Clock
) -> None:
    """Posts, deletions and new nodes under one id: what is listed is what was acknowledged last."""
    real = real_time(runtime)
    discussion = Discussion.make(real, layout, moderation="before")
    stop = threading.Event()

    def work(worker: int) -> list[str]:
        if worker:
            while not stop.is_set():
                try:
                    discussion.post("x", by=f"user-{worker}")
                except UnknownNode:
                    continue
            # Nobody deletes any more.
            return [discussion.post("the last", by=f"user-{worker}")["id"]]
        try:
            for _ in range(12):
                delete(discussion)
                Discussion.make(real, layout, moderation="before")
        finally:
            stop.set()
        return []

    acknowledged = set(in_threads(4, work))
    moderator = Principal("mo", "Mo", frozenset({"moderator"}))
    listed = {comment["id"] for comment in discussion.walk(by="mo")}
    assert len(acknowledged) == 3
    assert acknowledged <= listed == set(discussion.stored())
    assert discussion.node["counts"] == {"visible": 0, "pending": len(listed)}

    clock.time = real.now()
    clock.advance(hours=1)
    jobs.run_due(runtime)
    query = PendingQuery(limit=200)
    waiting = queue.list_pending(runtime, query, moderator)["comments"]
    assert {row["id"] for row in waiting} == listed
    delete(Discussion(runtime, discussion.node_id))
    clock.advance(hours=1)
    jobs.run_due(runtime)
    assert left(runtime) == {}


class Listed:
    """A sweep that has listed its rows when something happens, before it comes to them."""

    def __init__(self, sweep: Sweep[Any], happens: Callable[[], object]) -> None:
        self._sweep, self._happens = sweep, happens

    def find(self, runtime: Runtime, most: int) -> Iterator[Any]:
        listed = list(self._sweep.find(runtime, most))
        self._happens()
        yield from listed


def test_a_sweep_of_former_nodes_leaves_what_a_new_node_has(
    runtime: Runtime, layout: Layout, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It works for minutes on others after it has read which ids are vacant."""
    discussion = filled(runtime, layout, 3)
    delete(discussion)
    clock.advance(hours=1)
    promotion.sweep(runtime)

    def again() -> None:
        Discussion.make(runtime, layout)
        discussion.set_state(discussion.post("new")["id"], "pending")

    monkeypatch.setattr(vacancies, "_SWEEP", Listed(vacancies._SWEEP, again))

    assert vacancies.sweep(runtime) == 0

    for each in (queue.PENDING, ENTRIES):
        assert runtime.database[each.name].count_documents({}) == 1


def test_a_sweep_of_generations_leaves_one_that_a_move_fills_by_now(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move to an id reserves it by a vacant place, as an abandoned move has left it."""
    discussion = filled(runtime, Layout("documents", threaded=False), 3)
    with monkeypatch.context() as patched:
        patched.setattr(relocation, "_switch", crash)
        with pytest.raises(Crash):
            relocation.relocate(runtime, discussion.node_id, NEW)
    place = nodes.look(runtime.database, NEW)
    assert place is not None
    clock.advance(hours=1)
    again = Listed(promotion._SWEEP, lambda: promotion.mark_for_sweep(runtime, place))
    monkeypatch.setattr(promotion, "_SWEEP", again)

    promotion.sweep(runtime)

    assert runtime.database[COMMENTS.name].count_documents({"node_id": NEW}) == 3


def test_a_sweep_of_generations_leaves_one_that_a_deletion_has_noted_anew(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A post that is under way may still write there."""
    discussion = filled(runtime, Layout("documents", threaded=False), 3)
    discussion.move("buckets")
    noted = runtime.database[promotion.GENERATIONS.name]
    clock.advance(hours=1)
    monkeypatch.setattr(promotion, "_SWEEP", Listed(promotion._SWEEP, lambda: delete(discussion)))

    promotion.sweep(runtime)

    (kept,) = noted.find({"store": "buckets"})
    assert kept["due"] > runtime.now()
