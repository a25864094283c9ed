"""What moves leave behind: swept when nobody can read it any more, and not before."""

from typing import Any

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.shapes import Node
from chalicelib.comments.stores import promotion, store_of
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.runtime import Runtime
from tests.comments.support.crashes import Crash, crash_at
from tests.comments.support.discussion import Discussion, Layout
from tests.support.clock import Clock


def test_the_sweep_removes_generations_that_are_no_longer_read(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    for number in range(120):
        discussion.post(str(number))
    discussion.move("buckets")
    with monkeypatch.context() as patched:
        crash_at(patched, "_switch")
        with pytest.raises(Crash):
            discussion.move("documents")
    rows = runtime.database[COMMENTS.name].count_documents
    assert (promotion.sweep(runtime), rows({})) == (0, 240)

    clock.advance(hours=1)
    promotion.sweep(runtime)

    assert rows({}) == 0
    assert runtime.database[PAGES.name].count_documents({}) == 2
    assert len(discussion.texts()) == 120
    assert runtime.database[promotion.GENERATIONS.name].count_documents({}) == 0


def test_a_generation_outlives_its_lease_by_the_longest_time_of_a_reader(
    runtime: Runtime, clock: Clock
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    discussion.post("first")
    discussion.move("buckets")
    rows = runtime.database[COMMENTS.name].count_documents

    clock.advance(minutes=15, milliseconds=runtime.settings.lease_ms - 1)
    assert (promotion.sweep(runtime), rows({})) == (0, 1)

    clock.advance(milliseconds=1)
    promotion.sweep(runtime)
    assert rows({}) == 0


def test_a_sweep_that_wakes_within_a_move_leaves_its_copy(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it removes by is the node, which has room for one copy alone."""
    discussion = Discussion.make(runtime, Layout("documents", threaded=True))
    discussion.post("first")
    stale: Node = {**discussion.node, "store": "embedded"}
    switch = promotion._switch

    def swept_first(*args: Any) -> Any:
        store_of(runtime, stale).drop(stale, 1_000)
        return switch(*args)

    monkeypatch.setattr(promotion, "_switch", swept_first)
    discussion.move("embedded")

    assert discussion.texts() == ["first"]


def test_a_node_that_leaves_the_embedded_store_holds_no_comments_any_more(
    runtime: Runtime,
) -> None:
    discussion = Discussion.make(runtime, Layout("embedded", threaded=True))
    discussion.post("first")

    discussion.move("documents")

    stored = nodes.NODES.of(runtime.database).find_one({"_id": discussion.node_id})
    assert stored is not None
    assert "metadata" not in stored
