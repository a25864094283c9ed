"""Moves between any two stores, which readers do not notice."""

import dataclasses
import itertools

import pytest

from chalicelib.comments.shapes import StoreName
from chalicelib.comments.store import Order
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, Discussion, Layout

ORDERS: tuple[Order, ...] = ("oldest", "newest")
HOLDERS = [
    (before, after)
    for before, after in itertools.product(LAYOUTS, LAYOUTS)
    if before.threaded == after.threaded and before.store != after.store
]
ROUNDS: dict[bool, tuple[StoreName, ...]] = {
    True: ("embedded", "documents"),
    False: ("embedded", "buckets", "documents"),
}


@pytest.mark.parametrize(("before", "after"), HOLDERS, ids=str)
def test_a_move_changes_nothing_that_anyone_sees(
    runtime: Runtime, before: Layout, after: Layout
) -> None:
    discussion = Discussion.make(runtime, before)
    parents = [None] + [discussion.post("root")["id"] if before.threaded else None] * 3
    posted = [discussion.post(str(number), parents[number % 4]) for number in range(120)]
    discussion.delete(posted[5]["id"])
    discussion.set_state(posted[6]["id"], "hidden")
    discussion.set_state(posted[7]["id"], "pending")
    seen = [(order, by) for order in ORDERS for by in (None, "ann", "mo")]
    answers = [discussion.walk(order, 7, by) for order, by in seen]
    page = discussion.page("newest", limit=10)
    rest = discussion.page("newest", cursor=page["next"])
    counts, stored = discussion.node["counts"], discussion.stored()

    discussion.move(after.store)

    assert discussion.node["store"] == after.store
    assert [discussion.walk(order, 7, by) for order, by in seen] == answers
    moved = discussion.page("newest", cursor=page["next"])
    # Whoever holds a page reads it anew, as by its tag.
    assert moved.pop("version") != rest.pop("version")
    assert moved == rest
    assert (discussion.node["counts"], discussion.stored()) == (counts, stored)
    assert discussion.post("after the move")["seq"] == len(stored) + 1


@pytest.mark.parametrize("threaded", [True, False])
def test_a_node_goes_round_every_store(runtime: Runtime, *, threaded: bool) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=threaded))
    for store in ROUNDS[threaded] * 3:
        discussion.post(store)
        discussion.move(store)

    assert discussion.texts() == list(ROUNDS[threaded] * 3)


def test_a_full_embedded_node_becomes_documents(runtime: Runtime) -> None:
    small = dataclasses.replace(
        runtime, settings=runtime.settings.model_copy(update={"embedded_max_bytes": 8_192})
    )
    discussion = Discussion.make(small, Layout("embedded", threaded=True))
    posted = [discussion.post("x" * 200)["id"] for _ in range(40)]

    assert discussion.node["store"] == "documents"
    assert [comment["id"] for comment in discussion.walk()] == posted
    assert discussion.node["counts"]["visible"] == 40


def test_an_edit_that_outgrows_an_embedded_node_moves_it_too(runtime: Runtime) -> None:
    small = dataclasses.replace(
        runtime, settings=runtime.settings.model_copy(update={"embedded_max_bytes": 8_192})
    )
    discussion = Discussion.make(small, Layout("embedded", threaded=True))
    posted = discussion.post("short")

    discussion.edit(posted["id"], "long" * 1_800)

    assert discussion.node["store"] == "documents"
    assert discussion.get(posted["id"])["text"] == "long" * 1_800
