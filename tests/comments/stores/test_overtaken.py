"""Moves and writes that overtake one another: none is lost, doubled or undone."""

from typing import Any

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.shapes import Embedded, Node, StoreName
from chalicelib.comments.store import Moved
from chalicelib.comments.stores import embedded, embedded_tree, promotion
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.support.clock import Clock


def test_a_mover_that_was_overtaken_switches_nothing(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    discussion.post("first")
    switch = promotion._switch

    def overtaken(*args: Any) -> Any:
        monkeypatch.setattr(promotion, "_switch", switch)
        clock.advance(milliseconds=runtime.settings.lease_ms)
        discussion.post("posted while the mover slept")
        discussion.move("embedded")
        return switch(*args)

    monkeypatch.setattr(promotion, "_switch", overtaken)
    with pytest.raises(Unavailable):
        discussion.move("buckets")

    assert discussion.node["store"] == "embedded"
    assert discussion.texts() == ["first", "posted while the mover slept"]


@pytest.mark.parametrize("stores", [("embedded",), ("embedded", "documents")], ids=str)
def test_a_post_that_was_copied_is_not_counted_twice(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, stores: tuple[StoreName, ...]
) -> None:
    """The node moves between a post's insert and its confirmation."""
    discussion = Discussion.make(runtime, Layout("documents", threaded=True))
    root = discussion.post("root")["id"]
    count = nodes.count
    moved: list[Node] = []

    def moving_first(*args: Any) -> bool:
        if not moved:
            moved.extend([discussion.move(store) for store in stores])
        return count(*args)

    monkeypatch.setattr(nodes, "count", moving_first)
    discussion.post("reply", root)

    assert discussion.texts() == ["root", "reply"]
    assert discussion.node["counts"]["visible"] == 2
    assert discussion.get(root)["reply_count"] == 1


def test_a_post_that_a_move_kept_from_being_counted_is_counted_once_the_move_is_abandoned(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    count = nodes.count

    def while_a_move_begins(*args: Any) -> bool:
        monkeypatch.setattr(nodes, "count", count)
        moving = promotion._begin(runtime, discussion.node_id, "buckets")
        counted = count(*args)
        promotion.abandon(runtime, moving)
        return counted

    monkeypatch.setattr(nodes, "count", while_a_move_begins)
    discussion.post("first")

    assert discussion.node["counts"]["visible"] == 1
    assert discussion.texts() == ["first"]


def test_a_write_is_not_confirmed_while_its_node_moves_nor_after_it_moved(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    read = discussion.node
    moving = promotion._begin(runtime, discussion.node_id, "buckets")

    assert not nodes.count(runtime.database, read, {"counts.visible": 1})
    promotion.abandon(runtime, moving)
    assert nodes.count(runtime.database, read, {"counts.visible": 1})
    discussion.move("buckets")
    assert not nodes.count(runtime.database, read, {"counts.visible": 1})


def begun_by_another(runtime: Runtime, clock: Clock, node_id: str) -> Node:
    """Take over a move whose mover has slept for longer than its lease."""
    clock.advance(milliseconds=runtime.settings.lease_ms)
    moving = promotion._begin(runtime, node_id, "embedded")
    clock.advance(milliseconds=1)
    return moving


def test_a_mover_that_was_overtaken_renews_nothing(runtime: Runtime, clock: Clock) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    slow = promotion._begin(runtime, discussion.node_id, "buckets")
    other = begun_by_another(runtime, clock, discussion.node_id)

    with pytest.raises(Moved):
        list(promotion.renewing(runtime, slow, [[]]))

    assert discussion.node["moving"] == other["moving"]


def test_a_mover_that_fails_after_it_was_overtaken_ends_no_others_move(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    others: list[Node] = []

    def fail(*_: Any) -> Any:
        others.append(begun_by_another(runtime, clock, discussion.node_id))
        raise ZeroDivisionError

    monkeypatch.setattr(promotion, "_switch", fail)
    with pytest.raises(ZeroDivisionError):
        discussion.move("buckets")

    assert discussion.node["moving"] == others[0]["moving"]


def test_a_mover_that_was_overtaken_replaces_no_others_copy(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    discussion.post("first")
    lay_out = embedded_tree.lay_out

    def overtaken(*args: Any) -> Embedded:
        monkeypatch.setattr(embedded, "lay_out", lay_out)
        clock.advance(milliseconds=runtime.settings.lease_ms)
        discussion.post("posted while the mover slept")
        discussion.move("embedded")
        return lay_out(*args)

    monkeypatch.setattr(embedded, "lay_out", overtaken)
    with pytest.raises(Unavailable):
        discussion.move("embedded")

    assert discussion.texts() == ["first", "posted while the mover slept"]
