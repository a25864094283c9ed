"""Many writers on one node at once, in every store, and while it moves.

PLAZA_TEST_POSTS sets how many comments each of them posts.
"""

import dataclasses
import itertools
import os
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.shapes import StoreName
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.errors import Unavailable, UnknownComment
from chalicelib.runtime import Runtime, utc_now
from tests.comments.support.discussion import Discussion, Layout

WRITERS = 8
EACH = int(os.environ.get("PLAZA_TEST_POSTS", "45"))
# So little that a node is moved to documents while they write.
EMBEDDED_BYTES = 65_536
ROUND: tuple[StoreName, ...] = ("buckets", "embedded", "documents")


def in_threads(count: int, work: Callable[[int], list[str]]) -> list[str]:
    """Start `work` in `count` threads at one moment; return what they all return."""
    start = threading.Barrier(count)

    def run(number: int) -> list[str]:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(itertools.chain.from_iterable(pool.map(run, range(count))))


def real_time(runtime: Runtime, **settings: int) -> Runtime:
    """Return a runtime for writers in threads, with these settings."""
    changed = runtime.settings.model_copy(update=settings)
    return dataclasses.replace(runtime, now=utc_now, random=random.SystemRandom(), settings=changed)


def test_eight_writers_lose_nothing_and_leave_no_gap(runtime: Runtime, layout: Layout) -> None:
    real = real_time(runtime, embedded_max_bytes=EMBEDDED_BYTES)
    discussion = Discussion.make(real, layout)
    # A few roots, so that replies meet each other at the same parents.
    roots = [discussion.post(f"root {number}")["id"] for number in range(3)]

    def write(writer: int) -> list[str]:
        parents: list[str | None] = [None, *(roots if layout.threaded else [])]
        return [
            discussion.post(f"{writer}:{number}", parents[number % len(parents)])["id"]
            for number in range(EACH)
        ]

    posted = roots + in_threads(WRITERS, write)

    total = WRITERS * EACH + len(roots)
    stored = discussion.stored()
    assert len(set(posted)) == total
    assert sorted(comment["seq"] for comment in stored.values()) == list(range(1, total + 1))
    assert {comment["id"] for comment in discussion.walk()} == set(posted)
    assert discussion.node["counts"] == {"visible": total, "pending": 0}
    replies = sum(comment["reply_count"] for comment in stored.values())
    assert replies == sum(comment["parent_id"] is not None for comment in stored.values())
    if layout.store == "embedded":
        assert discussion.node["store"] == "documents"
    sizes = [page["count"] for page in runtime.database[PAGES.name].find()]
    assert all(size <= 100 for size in sizes)
    assert sum(sizes) == (total if layout.store == "buckets" else 0)


# One scenario: its writers and its mover go on side by side.
def test_writes_during_moves_are_never_lost(runtime: Runtime) -> None:
    """Posts, edits and deletions go on while the node goes round the stores."""
    real = real_time(runtime)
    discussion = Discussion.make(real, Layout("documents", threaded=False))
    # Counts posts, so that a move begins every dozen of them, in the middle of others.
    progress = threading.Semaphore(0)

    def write(writer: int) -> list[str]:
        kept = []
        for number in range(EACH):
            posted = discussion.post(f"{writer}:{number}")["id"]
            progress.release()
            if number % 3 == 1:
                discussion.edit(posted, f"edited {writer}:{number}")
            if number % 3 == 2:
                discussion.delete(posted)
            else:
                kept.append(posted)
        return kept

    def move() -> None:
        rounds = itertools.cycle(ROUND)
        for _ in range(4 * EACH // 12):
            for _ in range(12):
                progress.acquire()
            discussion.move(next(rounds))

    with ThreadPoolExecutor(1) as mover:
        moves = mover.submit(move)
        kept = in_threads(4, write)
        moves.result()

    found = discussion.walk()
    assert sorted(comment["id"] for comment in found) == sorted(kept)
    edited = sum((comment["text"] or "").startswith("edited") for comment in found)
    assert edited == 4 * len(range(1, EACH, 3))
    assert len(discussion.stored()) == 4 * EACH
    assert discussion.node["counts"] == {"visible": len(kept), "pending": 0}


def test_a_deletion_and_a_reply_at_once_never_lose_the_thread(runtime: Runtime) -> None:
    real = real_time(runtime)
    stores: tuple[StoreName, ...] = ("documents", "embedded")
    for number, store in enumerate(stores * 30):
        layout = Layout(store, threaded=True)
        discussion = Discussion.make(real, layout, f"page-{number}")
        root = discussion.post("root")["id"]

        def race(writer: int, discussion: Discussion = discussion, root: str = root) -> list[str]:
            if writer:
                discussion.delete(root)
                return []
            try:
                return [discussion.post("reply", root)["id"]]
            except UnknownComment:
                return []

        replies = in_threads(2, race)
        assert discussion.texts() == ([None, "reply"] if replies else [])


def test_two_changes_of_an_empty_node_at_once_never_make_a_threaded_one_in_buckets(
    runtime: Runtime,
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    as_read = discussion.node
    page = {"title": "A page", "url": "https://blog.example/a-page"}
    nodes.update(runtime.database, as_read, NodeSettings(store="buckets", **page))

    with pytest.raises(Unavailable):
        nodes.update(runtime.database, as_read, NodeSettings(threaded=True, **page))

    assert (discussion.node["store"], discussion.node["threaded"]) == ("buckets", False)


def test_readers_see_the_old_or_the_new_and_always_the_whole(runtime: Runtime) -> None:
    real = real_time(runtime)
    discussion = Discussion.make(real, Layout("documents", threaded=True))
    for number in range(60):
        discussion.post(str(number))
    expected = discussion.texts()
    done = threading.Event()

    def read() -> int:
        reads = 0
        while not done.is_set():
            assert discussion.texts(limit=25) == expected
            reads += 1
        return reads

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for store in ("embedded", "documents") * 6:
                discussion.move(store)
        finally:
            done.set()
        assert all(reader.result() for reader in readers)
