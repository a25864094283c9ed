"""What the stores owe below the operations, where a race or a twin has to be arranged by hand."""

import random

import pytest
from pymongo.database import Database

from bench.discussions import POSTED, made_up
from chalicelib.comments.order import segment
from chalicelib.comments.store import Added, Comment, Page, Viewer
from chalicelib.comments.stores import store_of
from chalicelib.comments.stores.buckets import MAX_PAGE_BYTES, PAGES, BucketStore
from chalicelib.comments.stores.embedded import EmbeddedStore
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.comments.discussion import Discussion, Layout

EVERYTHING = Page("oldest", 200, None, Viewer("mo", moderator=True))


def some_comments(number: int) -> list[Comment]:
    (batch,) = made_up(number, threaded=False)
    return batch


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
    node = {**discussion.node, "last_seq": 250}
    comments = some_comments(250)
    shuffled = random.Random(7).sample(comments, 250)
    for comment in shuffled:
        store_of(runtime, node).add(node, comment)

    found = store_of(runtime, node).page(node, EVERYTHING)

    assert [comment["seq"] for comment in found] == list(range(1, 201))


class SlowPusher(EmbeddedStore):
    """Finds its path and then lets an earlier root slip in before it pushes."""

    def __init__(self, database: Database[Document], late: Comment) -> None:
        super().__init__(database, 1_000_000)
        self.late: Comment | None = late

    def _push(self, node: Document, comment: Comment) -> tuple[Document, Document]:
        found = super()._push(node, comment)
        if self.late is not None:
            EmbeddedStore(self._nodes.database, 1_000_000).add(node, self.late)
            self.late = None
        return found


def test_a_push_never_lands_at_a_path_that_has_shifted(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("embedded", threaded=True))
    node = discussion.node
    late, root = some_comments(2)
    store_of(runtime, node).add(node, root)
    reply = reply_to(root, 3, "thereply00")

    added = SlowPusher(runtime.database, late).add(node, reply)

    found = store_of(runtime, node).page(node, EVERYTHING)
    assert added is Added.COUNTED
    assert [comment["id"] for comment in found] == [late["id"], root["id"], "thereply00"]
    assert [comment["reply_count"] for comment in found] == [0, 1, 0]


def test_a_page_of_large_comments_goes_on_in_a_second_part(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("buckets", threaded=False))
    node = {**discussion.node, "last_seq": 100}
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
