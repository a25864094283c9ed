"""The stores below the operations, where a race or a twin has to be arranged by hand."""

import random
from typing import Any

import pytest

from bench.discussions import POSTED
from chalicelib.comments import nodes
from chalicelib.comments.shapes import Comment, Node, StoreName
from chalicelib.comments.store import Added, segment
from chalicelib.comments.stores import promotion, store_of
from chalicelib.comments.writing import post
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.made_up import EVERYTHING, reply_to, some_comments


def test_a_thread_leaves_out_a_sibling_whose_path_begins_alike(
    runtime: Runtime, discussion: Discussion
) -> None:
    """A prefix of one path, up to the middle of a segment, is no ancestor."""
    node, store = discussion.node, store_of(runtime, discussion.node)
    first, twin = some_comments(2)
    for comment, comment_id in ((first, "34db"), (twin, "34dbx")):
        comment["id"] = comment["slug"] = comment_id
        comment["full_slug"] = segment(POSTED, 1, comment_id)
        store.add(node, comment)

    thread = store.thread(node, first["full_slug"], EVERYTHING)

    assert [comment["id"] for comment in thread] == ["34db"]


def test_comments_that_arrive_out_of_order_are_read_in_order(
    runtime: Runtime, discussion: Discussion
) -> None:
    """A writer may be overtaken between taking its number and storing its comment."""
    node: Node = {**discussion.node, "last_seq": 250}
    comments = some_comments(250)
    shuffled = random.Random(7).sample(comments, 250)
    for comment in shuffled:
        store_of(runtime, node).add(node, comment)

    found = store_of(runtime, node).page(node, EVERYTHING)

    assert [comment["seq"] for comment in found] == list(range(1, 201))


@pytest.mark.parametrize("store_name", ["documents", "embedded"])
def test_a_reply_that_is_stored_twice_is_counted_once(
    runtime: Runtime, store_name: StoreName
) -> None:
    discussion = Discussion.make(runtime, Layout(store_name, threaded=True))
    node, store = discussion.node, store_of(runtime, discussion.node)
    (root,) = some_comments(1)
    reply = reply_to(root, 2, "thereply00")
    store.add(node, root)

    first, second = store.add(node, reply), store.add(node, reply)

    stored = store.get(node, root["id"])
    assert first in {Added.INSERTED, Added.COUNTED}
    assert second is Added.DUPLICATE
    assert stored is not None
    assert stored["reply_count"] == 1


def test_dropping_removes_a_generation_in_steps_and_no_other(
    runtime: Runtime, discussion: Discussion, layout: Layout
) -> None:
    for number in range(250):
        discussion.post(str(number))
    served = discussion.node
    # As a move that crashed would have left it.
    waste: Node = {**served, "generation": 7}
    store = store_of(runtime, served)
    if layout.store != "embedded":
        store.load(waste, store.export(served))

    steps = 1
    while store.drop(waste, 100):
        steps += 1

    assert steps <= (1 if layout.store == "embedded" else 4)
    assert store.count(served) == {"visible": 250}
    assert discussion.texts() == [str(number) for number in range(250)]
    assert store.drop(waste, 100) is False
    if layout.store != "embedded":
        assert store.count(waste) == {}


def test_dropping_comments_of_a_deleted_node_removes_all(
    runtime: Runtime, discussion: Discussion, layout: Layout
) -> None:
    for number in range(3):
        discussion.post(str(number))
    node, store = discussion.node, store_of(runtime, discussion.node)
    nodes.NODES.of(runtime.database).delete_one({"_id": node["_id"]})

    assert store.drop(node, 200) is False

    if layout.store != "embedded":
        assert store.count(node) == {}


@pytest.mark.parametrize("store_name", ["documents", "embedded"])
def test_a_reply_to_a_comment_deleted_after_it_was_read_leaves_a_tombstone(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, store_name: StoreName
) -> None:
    discussion = Discussion.make(runtime, Layout(store_name, threaded=True))
    root = discussion.post("root")["id"]
    compose = post._compose

    def deleted_first(*args: Any) -> Comment:
        monkeypatch.setattr(post, "_compose", compose)
        discussion.delete(root)
        return compose(*args)

    monkeypatch.setattr(post, "_compose", deleted_first)
    discussion.post("reply", root)

    stored = discussion.get(root)
    assert (stored["state"], stored["reply_count"]) == ("deleted", 1)


@pytest.mark.parametrize("counted", [0, 3])
@pytest.mark.parametrize("store_name", ["documents", "embedded"])
def test_replies_that_were_half_done_when_they_were_copied_are_counted_in_the_copy(
    runtime: Runtime, store_name: StoreName, counted: int
) -> None:
    other: StoreName = "embedded" if store_name == "documents" else "documents"
    discussion = Discussion.make(runtime, Layout(other, threaded=True))
    moving = promotion._begin(runtime, discussion.node_id, store_name)
    generation = promotion.mark_of(moving)["generation"]
    target: Node = {**moving, "store": store_name, "generation": generation}
    (root,) = some_comments(1)
    root |= {"state": "removed", "author": None, "text": None, "html": None, "reply_count": counted}

    tally = promotion.MoveTally()
    store_of(runtime, target).load(target, tally.of([[root, reply_to(root, 2, "thereply00")]]))
    promotion._switch(runtime, target, tally)

    stored = discussion.get(root["id"])
    assert (stored["state"], stored["reply_count"]) == ("deleted", 1)


def test_a_deleted_comment_changes_no_more(discussion: Discussion) -> None:
    """Also for a caller who found it before it was deleted."""
    node, store = discussion.node, store_of(discussion.runtime, discussion.node)
    comment = discussion.post("first")
    discussion.delete(comment["id"])

    assert store.change(node, comment["id"], {"text": "back again"}, {}) is None

    stored = store.get(node, comment["id"])
    assert stored is not None
    assert stored["text"] is None
