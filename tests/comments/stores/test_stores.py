"""What the stores owe below the operations, where a race or a twin has to be arranged by hand."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import pytest
from pymongo.database import Database

from bench.discussions import POSTED, made_up
from chalicelib.comments import nodes
from chalicelib.comments.discussion import posting
from chalicelib.comments.order import segment
from chalicelib.comments.shapes import Comment, CommentFields, Node, NodeLayout, StoreName
from chalicelib.comments.store import Added, Full, Page, Viewer
from chalicelib.comments.stores import promotion, store_of
from chalicelib.comments.stores.buckets import MAX_PAGE_BYTES, PAGES, BucketStore
from chalicelib.comments.stores.embedded import EmbeddedStore
from chalicelib.comments.stores.embedded_tree import laid_out
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout

EVERYTHING = Page("oldest", 200, None, Viewer("mo", moderator=True))


def some_comments(number: int) -> list[Comment]:
    return list(itertools.chain.from_iterable(made_up(number, threaded=False)))


def reply_to(parent: Comment, seq: int, comment_id: str) -> Comment:
    (reply,) = some_comments(1)
    here = segment(POSTED, seq, comment_id)
    return reply | {
        "id": comment_id,
        "seq": seq,
        "parent_id": parent["id"],
        "slug": f"{parent['slug']}/{comment_id}",
        "full_slug": f"{parent['full_slug']}/{here}",
        "depth": 1,
    }


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

    thread = store.thread(node, first, EVERYTHING)

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


class SlowPusher(EmbeddedStore):
    """Finds its path and then lets an earlier root slip in before it pushes."""

    def __init__(self, database: Database[Document], node: Node, late: Comment) -> None:
        super().__init__(database, 1_000_000)
        self.node = node
        self.late: Comment | None = late
        self.other = EmbeddedStore(database, 1_000_000)

    def _push(self, node: NodeLayout, comment: Comment) -> tuple[Document, Document]:
        found = super()._push(node, comment)
        if self.late is not None:
            self.other.add(self.node, self.late)
            self.late = None
        return found


def test_a_push_never_lands_at_a_path_that_has_shifted(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("embedded", threaded=True))
    node = discussion.node
    late, root = some_comments(2)
    store_of(runtime, node).add(node, root)
    reply = reply_to(root, 3, "thereply00")

    added = SlowPusher(runtime.database, node, late).add(node, reply)

    found = store_of(runtime, node).page(node, EVERYTHING)
    assert added is Added.COUNTED
    assert [comment["id"] for comment in found] == [late["id"], root["id"], "thereply00"]
    assert [comment["reply_count"] for comment in found] == [0, 1, 0]


def test_a_page_of_large_comments_goes_on_in_a_second_part(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("buckets", threaded=False))
    node: Node = {**discussion.node, "last_seq": 100}
    store = BucketStore(runtime.database)
    comments = [comment | {"html": "x" * 65_000} for comment in some_comments(100)]
    for comment in random.Random(7).sample(comments, 100):
        store.add(node, comment)

    parts = list(runtime.database[PAGES.name].find())
    found = [c["seq"] for c in store.page(node, EVERYTHING)]
    newest = [c["seq"] for c in store.page(node, Page("newest", 10, (31,), Viewer()))]

    assert len(parts) == 2
    assert all(part["bytes"] <= MAX_PAGE_BYTES for part in parts)
    assert sum(part["count"] for part in parts) == 100
    assert all(part["count"] == len(part["comments"]) for part in parts)
    assert found == list(range(1, 101))
    assert newest == list(range(30, 20, -1))


@pytest.mark.parametrize("number", [1, 99, 100, 101, 200, 201])
def test_a_bucket_holds_a_hundred_numbers(runtime: Runtime, number: int) -> None:
    discussion = Discussion.make(runtime, Layout("buckets", threaded=False))
    for index in range(number):
        discussion.post(str(index))

    pages = runtime.database[PAGES.name].find().sort("page")

    expected = [100] * (number // 100) + ([number % 100] if number % 100 else [])
    assert [page["count"] for page in pages] == expected


class SlowChanger(EmbeddedStore):
    """Reads the node's comments and then lets something happen before it writes."""

    def __init__(self, database: Database[Document], meanwhile: Callable[[], object]) -> None:
        super().__init__(database, 1_000_000)
        self.meanwhile: Callable[[], object] | None = meanwhile

    def _room(self, size: int, comments: int = 0) -> Document:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return super()._room(size, comments)


@pytest.mark.parametrize("threaded", [True, False])
def test_an_approval_never_lands_on_a_text_that_is_edited_meanwhile(
    runtime: Runtime, *, threaded: bool
) -> None:
    layout = Layout("embedded", threaded=threaded)
    discussion = Discussion.make(runtime, layout, moderation="before")
    comment = discussion.post("what the moderator has read")
    store = SlowChanger(
        runtime.database, lambda: discussion.edit(comment["id"], "something else", by="ann")
    )

    read: CommentFields = {"edited": None}
    approved = store.change(discussion.node, comment["id"], {"state": "visible"}, read)

    stored = discussion.get(comment["id"], by="mo")
    assert approved is None
    assert (stored["state"], stored["text"]) == ("pending", "something else")


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


@pytest.mark.parametrize("threaded", [True, False])
def test_a_node_holds_a_thousand_comments_and_not_one_more(
    runtime: Runtime, *, threaded: bool
) -> None:
    discussion = Discussion.make(runtime, Layout("embedded", threaded=threaded))
    node, store = discussion.node, EmbeddedStore(runtime.database, 8 * 1024 * 1024)
    *most, thousandth, beyond = some_comments(1_001)
    nodes.NODES.of(runtime.database).update_one(
        {"_id": node["_id"]}, {"$set": {"metadata": laid_out(most, node)}}
    )

    assert store.add(node, thousandth) is Added.COUNTED
    with pytest.raises(Full):
        store.add(node, beyond)

    assert store.count(node) == {"visible": 1_000}


def test_a_page_whose_comments_grow_by_edits_goes_on_in_a_second_part(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("buckets", threaded=False))
    node: Node = {**discussion.node, "last_seq": 100}
    store = BucketStore(runtime.database)
    *grown, last = some_comments(71)
    for comment in grown:
        store.add(node, comment)
    for comment in grown:
        store.change(node, comment["id"], {"html": "x" * 65_000}, {})

    store.add(node, last)

    parts = runtime.database[PAGES.name].find().sort("part")
    assert [part["count"] for part in parts] == [70, 1]


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


def test_dropping_what_no_node_is_left_of_removes_all(
    runtime: Runtime, discussion: Discussion, layout: Layout
) -> None:
    for number in range(3):
        discussion.post(str(number))
    node, store = discussion.node, store_of(runtime, discussion.node)
    nodes.NODES.of(runtime.database).delete_one({"_id": node["_id"]})

    assert store.drop(node, 200) is False

    if layout.store != "embedded":
        assert store.count(node) == {}


def test_a_reply_to_what_is_deleted_meanwhile_leaves_a_tombstone(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deletion comes between the push's reading of its path and its writing."""
    discussion = Discussion.make(runtime, Layout("embedded", threaded=True))
    root = discussion.post("root")["id"]
    push = EmbeddedStore._push

    def deleted_meanwhile(*args: Any) -> tuple[Document, Document]:
        found = push(*args)
        monkeypatch.setattr(EmbeddedStore, "_push", push)
        discussion.delete(root)
        return found

    monkeypatch.setattr(EmbeddedStore, "_push", deleted_meanwhile)
    discussion.post("reply", root)

    stored = discussion.get(root)
    assert (stored["state"], stored["reply_count"]) == ("deleted", 1)


@pytest.mark.parametrize("store_name", ["documents", "embedded"])
def test_a_reply_to_what_was_deleted_since_it_was_looked_at_leaves_a_tombstone(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, store_name: StoreName
) -> None:
    discussion = Discussion.make(runtime, Layout(store_name, threaded=True))
    root = discussion.post("root")["id"]
    compose = posting._compose

    def deleted_first(*args: Any) -> Comment:
        monkeypatch.setattr(posting, "_compose", compose)
        discussion.delete(root)
        return compose(*args)

    monkeypatch.setattr(posting, "_compose", deleted_first)
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

    store_of(runtime, target).load(target, [[root, reply_to(root, 2, "thereply00")]])
    promotion._switch(runtime, target, {"visible": 1, "pending": 0})

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
