"""Replies and threads, which every store has to keep alike."""

import pytest

from chalicelib.comments.errors import NotThreaded
from chalicelib.comments.forms import DEEPEST
from chalicelib.comments.shapes import StoreName
from chalicelib.comments.store import Order
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout

ORDERS: tuple[Order, ...] = ("oldest", "newest")


def test_replies_follow_their_parent_or_are_refused(discussion: Discussion, layout: Layout) -> None:
    first = discussion.post("1")
    discussion.post("2")
    if not layout.threaded:
        with pytest.raises(NotThreaded):
            discussion.post("1.1", first["id"])
        return

    reply = discussion.post("1.1", first["id"])
    discussion.post("1.2", first["id"])
    discussion.post("1.1.1", reply["id"])

    assert discussion.texts() == ["1", "1.1", "1.1.1", "1.2", "2"]
    assert discussion.texts("newest") == ["2", "1", "1.1", "1.1.1", "1.2"]
    assert discussion.get(first["id"])["reply_count"] == 2


def test_a_thread_is_exact(discussion: Discussion, layout: Layout) -> None:
    """Ids may begin alike; the ranges of their threads may not touch."""
    roots = [discussion.post(str(number)) for number in range(12)]
    for root in roots if layout.threaded else []:
        discussion.post(f"{root['text']}.1", root["id"])

    for root in roots:
        thread = [comment["text"] for comment in discussion.thread(root["id"])["comments"]]
        replies = [f"{root['text']}.1"] if layout.threaded else []
        assert thread == [root["text"], *replies]


def test_a_thread_pages_completely(discussion: Discussion, layout: Layout) -> None:
    root = discussion.post("0")
    for number in range(1, 8):
        discussion.post(str(number), root["id"] if layout.threaded else None)

    found, cursor = [], None
    for _ in range(8):
        page = discussion.thread(root["id"], limit=3, cursor=cursor)
        found += [comment["text"] for comment in page["comments"]]
        cursor = page["next"]
        if cursor is None:
            break

    assert found == ([str(number) for number in range(8)] if layout.threaded else ["0"])


def test_the_deepest_thread_holds_and_pages(runtime: Runtime, layout: Layout) -> None:
    discussion = Discussion.make(runtime, layout, max_depth=DEEPEST)
    parent = None
    for number in range(DEEPEST + 4):
        posted = discussion.post(str(number), parent)
        parent = posted["id"] if layout.threaded else None

    for order in ORDERS:
        assert len(discussion.texts(order, limit=3)) == DEEPEST + 4
    deepest = max(comment["depth"] for comment in discussion.walk())
    assert deepest == (DEEPEST if layout.threaded else 0)


@pytest.mark.parametrize("store", ["documents", "embedded"])
def test_a_reply_below_the_deepest_level_comes_after_those_that_were_there(
    runtime: Runtime, store: StoreName
) -> None:
    discussion = Discussion.make(runtime, Layout(store, threaded=True), max_depth=1)
    root = discussion.post("root")["id"]
    first = discussion.post("first", root)["id"]
    discussion.post("second", root)

    discussion.post("to the first", first)

    assert discussion.texts() == ["root", "first", "second", "to the first"]
