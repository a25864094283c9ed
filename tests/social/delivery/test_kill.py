"""Processes that die by SIGKILL in the midst of a large fan-out."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chalicelib.runtime import Runtime
from chalicelib.social.graph import promotion
from chalicelib.social.graph.stores.edges import edge_filter
from tests.social.support.drivers import publish, settle
from tests.support.http_client import Client

pytestmark = pytest.mark.processes

FOLLOWERS = 5_000
DEADLINE_SECONDS = 30


@contextmanager
def killed_at_the_end(uri: str, chunk_readers: int) -> Iterator[None]:
    """Have a worker at work, and end it by SIGKILL wherever it is."""
    worker = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.social.support.post_worker",
            uri,
            "plaza-test",
            str(chunk_readers),
        ],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        yield
    finally:
        worker.kill()
        worker.communicate()


def seed_followers(client: Client, runtime: Runtime) -> list[str]:
    """Give Ann, who is kept in edges, five thousand followers."""
    settle(client, "ann", "reader")
    promotion.promote(runtime, "ann")
    users, names = runtime.database["social.user"], [f"r{n:04}" for n in range(FOLLOWERS)]
    pattern = users.find_one({"_id": "reader"})
    assert pattern is not None
    users.insert_many([{**pattern, "_id": name} for name in names])
    same = {"names": {"owner": "Reader", "member": "Ann"}, "since": runtime.now()}
    edges = [{**edge_filter(name, "ann"), "circles": ["read"], **same} for name in names]
    runtime.database["social.edge"].insert_many(edges)
    users.update_one({"_id": "ann"}, {"$set": {"counts.followers": FOLLOWERS}})
    return names


@pytest.mark.parametrize("chunk_readers", [FOLLOWERS, FOLLOWERS // 5])
def test_workers_that_are_killed_deliver_once_to_everyone(
    client: Client, runtime: Runtime, mongodb_uri: str, chunk_readers: int
) -> None:
    names = seed_followers(client, runtime)
    posts = [publish(client, "ann") for _ in range(5)]
    rows, items = runtime.database["social.post"], runtime.database["social.news_item"]
    rng, kills = random.Random(7), 0
    deadline = time.monotonic() + DEADLINE_SECONDS
    while unfinished := rows.count_documents({"fan_out.state": {"$ne": "done"}}):
        assert time.monotonic() < deadline, list(rows.find({}, {"fan_out": 1}))
        with killed_at_the_end(mongodb_uri, chunk_readers):
            enough = items.estimated_document_count() + rng.randrange(4_000, 9_000)
            while unfinished and items.estimated_document_count() < enough:
                assert time.monotonic() < deadline, list(rows.find({}, {"fan_out": 1}))
                unfinished = rows.count_documents({"fan_out.state": {"$ne": "done"}})
        kills += 1

    assert kills > 2
    for post in posts:
        delivered = [item["user_id"] for item in items.find({"post_id": post})]
        assert sorted(delivered) == names
