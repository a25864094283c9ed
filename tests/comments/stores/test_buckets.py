"""The bucket store below the operations: how its pages fill up."""

import random

import pytest

from chalicelib.comments.shapes import Node
from chalicelib.comments.store import Page, Viewer
from chalicelib.comments.stores.buckets import MAX_PAGE_BYTES, PAGES, BucketStore
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.made_up import EVERYTHING, some_comments


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
