"""Moves to another id beside posts, changes, deletions and readers."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.comments import jobs, nodes
from chalicelib.comments.errors import NodeExists, NodeMoved, UnknownNode
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import Added
from chalicelib.comments.writing import changes, post
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from tests.comments.discussion.test_concurrency import in_threads, real_time
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.relocation import NEW, OLD, filled, rows, told, waiting
from tests.support.clock import Clock
from tests.support.http_client import Client


@pytest.mark.parametrize("is_stored", [False, True], ids=["numbered", "stored"])
def test_a_post_that_is_under_way_is_moved_once(
    runtime: Runtime, layout: Layout, clock: Clock, *, is_stored: bool
) -> None:
    discussion = Discussion.make(runtime, layout, OLD, moderation="before")
    discussion.post("first")
    add = post._add

    def racing(runtime: Runtime, node: Node, comment: Comment) -> Added | None:
        patched.undo()
        added = add(runtime, node, comment) if is_stored else None
        relocation.relocate(runtime, OLD, NEW)
        return added if is_stored else add(runtime, node, comment)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(post, "_add", racing)
        posted = discussion.post("under way")["id"]

    new = Discussion(runtime, NEW)
    assert new.texts(by="mo") == ["first", "under way"]
    assert new.node["counts"] == {"visible": 0, "pending": 2}
    assert ("blog", NEW, posted) in waiting(runtime)
    clock.advance(hours=1)
    assert jobs.run_due(runtime)["counts_repaired"] == 0
    assert {row[1] for row in waiting(runtime)} == {NEW}


def test_a_change_that_was_copied_is_not_counted_twice(
    runtime: Runtime, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node moves between a deletion and its confirmation."""
    discussion = Discussion.make(runtime, layout, OLD)
    kept, gone = (discussion.post(text)["id"] for text in ("kept", "gone"))
    confirm = changes._confirm

    def moving_first(*args: Any) -> bool:
        monkeypatch.setattr(changes, "_confirm", confirm)
        relocation.relocate(runtime, OLD, NEW)
        return confirm(*args)

    monkeypatch.setattr(changes, "_confirm", moving_first)
    discussion.delete(gone)
    if layout.store == "embedded":
        relocation.relocate(runtime, OLD, NEW)

    new = Discussion(runtime, NEW)
    assert [each["id"] for each in new.walk()] == [kept]
    assert new.node["counts"] == {"visible": 1, "pending": 0}


# One scenario: its writers and its mover share the places where the node has been.
def test_writes_while_a_node_goes_round_ids_are_neither_lost_nor_doubled(
    runtime: Runtime, layout: Layout
) -> None:
    real = real_time(runtime)
    Discussion.make(real, layout, OLD)
    ids = itertools.cycle(("blog:a", "blog:b", "shop:c", OLD))
    places, done = [OLD], threading.Event()

    def write(writer: int) -> list[str]:
        if not writer:
            return move()
        kept: list[str] = []
        for number in itertools.count():
            if done.is_set():
                return kept
            here = Discussion(real, places[-1])
            try:
                posted = here.post(f"{writer}:{number}", by=f"user-{writer}")["id"]
            except NodeMoved:
                continue
            kept.append(posted)
            try:
                if number % 3 == 1:
                    here.edit(posted, "edited")
            except NodeMoved:
                continue
        raise AssertionError

    def move() -> list[str]:
        try:
            for to in itertools.islice(ids, 12):
                relocation.relocate(real, places[-1], to)
                places.append(to)
        finally:
            done.set()
        return []

    kept = in_threads(4, write)

    here = Discussion(real, places[-1])
    assert sorted(each["id"] for each in here.walk()) == sorted(kept)
    assert len({each["seq"] for each in here.stored().values()}) == len(kept)
    assert here.node["counts"] == {"visible": len(kept), "pending": 0}


def test_an_id_that_is_taken_while_the_node_moves_there_stays_taken(
    runtime: Runtime, layout: Layout, clock: Clock
) -> None:
    discussion = filled(runtime, layout)
    before = told(discussion, "oldest", "mo")
    switch = relocation._switch

    def taken_first(*args: Any) -> Any:
        nodes.insert(runtime.database, nodes.new_node(NEW, "blog"))
        return switch(*args)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relocation, "_switch", taken_first)
        with pytest.raises(Unavailable):
            relocation.relocate(runtime, OLD, NEW)

    assert told(discussion, "oldest", "mo") == before
    assert discussion.post("goes on")["seq"] == 13
    new = Discussion(runtime, NEW)
    assert new.texts(by="mo") == []
    clock.advance(hours=1)
    jobs.run_due(runtime)
    assert (len(discussion.texts(by="mo")), new.stored()) == (len(before) + 1, {})
    with pytest.raises(NodeExists):
        relocation.request(runtime, OLD, NEW)


def test_a_node_that_is_deleted_while_it_moves_is_gone_at_both_ids(
    runtime: Runtime, layout: Layout, clock: Clock, admin: Client
) -> None:
    filled(runtime, layout)
    switch = relocation._switch

    def deleted_first(*args: Any) -> Any:
        assert admin.delete(f"/nodes/{OLD}").status == 204
        return switch(*args)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relocation, "_switch", deleted_first)
        with pytest.raises(Unavailable):
            relocation.relocate(runtime, OLD, NEW)

    for node_id in (OLD, NEW):
        assert admin.get(f"/nodes/{node_id}").code == "unknown_node"
    clock.advance(hours=1)
    jobs.run_due(runtime)
    assert (rows(runtime), waiting(runtime)) == (0, [])
    assert nodes.NODES.of(runtime.database).count_documents({}) == 0


def test_readers_meanwhile_see_the_whole_node_or_its_forward(
    runtime: Runtime, layout: Layout
) -> None:
    real = real_time(runtime)
    discussion = Discussion.make(real, layout, OLD)
    for number in range(30):
        discussion.post(str(number))
    expected, done = discussion.texts(), threading.Event()

    def read() -> int:
        whole = 0
        while not done.is_set():
            for node_id in (OLD, NEW):
                try:
                    assert Discussion(real, node_id).texts() == expected
                except (NodeMoved, UnknownNode):
                    continue
                whole += 1
        return whole

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            for there, to in ((OLD, NEW), (NEW, OLD)) * 5:
                relocation.relocate(real, there, to)
        finally:
            done.set()
        assert all(reader.result() for reader in readers)
