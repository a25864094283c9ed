"""Twenty workers tell of many comments at once, each three times, under SIGKILL: once each.

A long run: PLAZA_TEST_EVENTS=50000 script/test tests/notifications/test_deluge.py -s
"""

import os
import random
from collections import Counter
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest
from bson import ObjectId

from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.database import Document
from chalicelib.notifications.rows import ITEMS
from chalicelib.runtime import Runtime
from tests.ads.support.crash_workers import run_swarm
from tests.notifications.support.tellers import LEFT, NODE, TOLD, owe, tell
from tests.support.clock import Clock
from tests.support.http_client import Client

pytestmark = pytest.mark.processes

EVENTS = int(os.environ.get("PLAZA_TEST_EVENTS", "100"))
WORKERS = 20
# Two cores tell of some forty events a second, beside starting the workers anew.
DEADLINE_SECONDS = 120 + EVENTS / 10
READERS = [f"reader{number}" for number in range(20)]
WATCHERS = ["watcher0", "watcher1", READERS[0]]
Told = set[tuple[str, str, str]]


def written(client: Client, runtime: Runtime, clock: Clock) -> Told:
    """Write comments that answer readers and mention some; return who is to be told of what."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/sites/harbour/comments/settings", notifications=True).status == 200
    node = {"title": "Moon", "url": "https://a.example/moon", "store": "documents"}
    assert admin.put(f"/nodes/{NODE}", **node).status == 201
    clock.advance(seconds=6)
    firsts = [
        client.as_(each, name=each.title()).post(f"/nodes/{NODE}/comments", text="Up?").json["id"]
        for each in READERS
    ]
    for each in WATCHERS:
        assert client.as_(each).put(f"/nodes/{NODE}/watch", level="watching").status == 200
    answer = client.as_("ann", name="Ann").post(
        f"/nodes/{NODE}/comments", text="Up.", parent=firsts[0]
    )
    (pattern,) = COMMENTS.of(runtime.database).find({"id": answer.json["id"]})
    COMMENTS.of(runtime.database).delete_one({"_id": pattern["_id"]})
    rng, rows, told = random.Random(EVENTS), list[Any](), Told()
    for number in range(EVENTS):
        answered, mentioned = rng.sample(range(len(READERS)), 2)
        id_ = f"e{number:09}"
        row: Any = {**pattern, "_id": ObjectId(), "id": id_}
        row |= {"parent_id": firsts[answered], "seq": 1_000 + number}
        row["posted"] = pattern["posted"] + timedelta(seconds=1)
        recipients = dict.fromkeys(WATCHERS, "comment.watched")
        if rng.random() < 0.2:
            row["mentions"] = [{"id": READERS[mentioned], "name": READERS[mentioned].title()}]
            recipients[READERS[mentioned]] = "comment.mention"
        recipients[READERS[answered]] = "comment.reply"
        rows.append(row)
        told |= {(id_, who, kind) for who, kind in recipients.items()}
    COMMENTS.of(runtime.database).insert_many(rows)
    owe(runtime.database, {row["id"]: row["posted"] for row in rows}, rng)
    return told


@pytest.mark.timeout(DEADLINE_SECONDS + 180)
@pytest.mark.usefixtures("workers")
def test_each_person_is_told_of_each_comment_once(
    client: Client, runtime: Runtime, clock: Clock, mongodb_uri: str
) -> None:
    told = written(client, runtime, clock)
    deadline, died, left = monotonic() + DEADLINE_SECONDS, 0, EVENTS
    while left or not died:
        assert monotonic() < deadline, f"{left} of {EVENTS} comments are left"
        died += run_swarm(
            f"{tell.__module__}:tell",
            mongodb_uri,
            runtime.database.name,
            seconds=min(20.0, 4 + EVENTS / 1_000),
            processes=WORKERS,
        )
        left = runtime.database[TOLD].count_documents(LEFT)

    where: Document = {"wanted": True}
    rows = list(ITEMS.of(runtime.database).find(where, {"thing": 1, "user_id": 1, "kind": 1}))
    found = Counter((row["thing"].rpartition("/")[2], row["user_id"], row["kind"]) for row in rows)
    print(f"\n{EVENTS} events, {len(rows)} items, {died} killed")  # noqa: T201 - a measurement
    assert set(found) == told
    assert set(found.values()) == {1}
    assert died > 3
