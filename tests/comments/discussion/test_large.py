"""Large discussions, read completely while others write."""

import dataclasses
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bench.discussions import seed_node
from chalicelib.comments.store import Order
from chalicelib.runtime import Runtime, utc_now
from tests.comments.support.discussion import Discussion, Layout

ORDERS: tuple[Order, ...] = ("oldest", "newest")


@pytest.mark.parametrize("order", ORDERS)
def test_a_large_node_pages_through_while_another_writes(
    runtime: Runtime, layout: Layout, order: Order
) -> None:
    number = 900 if layout.store == "embedded" else 5_000
    real = dataclasses.replace(runtime, now=utc_now, random=random.SystemRandom())
    seed_node(real, "large", number, store=layout.store, threaded=layout.threaded)
    discussion = Discussion(real, "large")
    before = set(discussion.stored())
    done = threading.Event()

    def write() -> int:
        written = 0
        while not done.is_set():
            discussion.post("meanwhile", next(iter(before)) if layout.threaded else None)
            written += 1
        return written

    with ThreadPoolExecutor(1) as writer:
        writing = writer.submit(write)
        try:
            found = [comment["id"] for comment in discussion.walk(order, 199)]
        finally:
            done.set()
        assert writing.result() > 0

    assert len(found) == len(set(found))
    assert before <= set(found)
