"""The embedded store below the operations: races inside one document, and its bound."""

from collections.abc import Callable
from typing import Any

import pytest
from pymongo.database import Database

from chalicelib.comments import nodes
from chalicelib.comments.shapes import Comment, CommentFields, Node, NodeLayout
from chalicelib.comments.store import Added, Full
from chalicelib.comments.stores import store_of
from chalicelib.comments.stores.embedded import EmbeddedStore
from chalicelib.comments.stores.embedded_tree import lay_out
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.made_up import EVERYTHING, reply_to, some_comments


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


@pytest.mark.parametrize("threaded", [True, False])
def test_a_node_holds_a_thousand_comments_and_not_one_more(
    runtime: Runtime, *, threaded: bool
) -> None:
    discussion = Discussion.make(runtime, Layout("embedded", threaded=threaded))
    node, store = discussion.node, EmbeddedStore(runtime.database, 8 * 1024 * 1024)
    *most, thousandth, beyond = some_comments(1_001)
    nodes.NODES.of(runtime.database).update_one(
        {"_id": node["_id"]}, {"$set": {"metadata": lay_out(most, node)}}
    )

    assert store.add(node, thousandth) is Added.COUNTED
    with pytest.raises(Full):
        store.add(node, beyond)

    assert store.count(node) == {"visible": 1_000}


def test_a_reply_to_a_comment_deleted_meanwhile_leaves_a_tombstone(
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
