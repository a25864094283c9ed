"""The walls' documents: each post once, a hundred to a document, also if many workers write."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pymongo import monitoring

from chalicelib.database import Document
from chalicelib.http import PageQuery
from chalicelib.runtime import Runtime
from chalicelib.social.posts.posts import POSTS
from chalicelib.social.posts.shapes import PostBody
from chalicelib.social.timelines import repair, walls
from chalicelib.social.timelines.copies import MonthCopies
from tests.social.support.drivers import Town, publish, settle, wall
from tests.support.commands import listening


def post(runtime: Runtime, number: int) -> PostBody:
    return {
        "_id": f"post-{number:04}",
        "by": {"id": "ann", "name": "Ann"},
        "wall": "ann",
        "circles": ["*public*"],
        "audience": "at_view",
        "spread": {"version": 0},
        "type": "status",
        "detail": {"text": "Hello"},
        "ts": runtime.now(),
        "edited": None,
        "deleted": False,
        "comments": [],
        "comment_count": 0,
    }


def copies(runtime: Runtime) -> MonthCopies:
    return MonthCopies(runtime.database, walls.WALLS)


def append(runtime: Runtime, numbers: Sequence[int]) -> None:
    for number in numbers:
        copies(runtime).add([post(runtime, number)], ["ann"])


def documents(runtime: Runtime) -> list[Document]:
    return list(runtime.database["social.wall"].find().sort("seq", 1))


def sizes(runtime: Runtime) -> list[int]:
    found = documents(runtime)
    assert [each["seq"] for each in found] == list(range(len(found)))
    return [len(each["posts"]) for each in found]


@pytest.mark.parametrize(
    ("number", "expected"),
    [(1, [1]), (99, [99]), (100, [100]), (101, [100, 1]), (201, [100, 100, 1])],
)
def test_a_full_document_is_followed_by_the_next(
    runtime: Runtime, number: int, expected: list[int]
) -> None:
    append(runtime, range(number))
    assert sizes(runtime) == expected

    append(runtime, range(number))
    assert sizes(runtime) == expected


def test_a_month_is_read_in_order_over_all_its_documents(runtime: Runtime) -> None:
    append(runtime, range(250))

    read = copies(runtime).newest("ann", None, 1_000)

    assert [entry.position.post_id for entry in read] == [
        f"post-{number:04}" for number in range(249, -1, -1)
    ]


class WallReads(monitoring.CommandListener):
    """Remembers the reads of walls."""

    def __init__(self) -> None:
        self.sent: list[Mapping[str, Any]] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        name = event.command_name
        if name in {"find", "aggregate"} and event.command[name] == walls.WALLS.name:
            self.sent.append(event.command)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """A read counts when it is sent."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """A read counts when it is sent."""

    def documents(self, runtime: Runtime) -> int:
        """Return the number of documents that the reads examine."""
        plain = ("find", "aggregate", "filter", "projection", "sort", "limit", "pipeline", "cursor")
        found = 0
        for each in self.sent:
            again = {name: each[name] for name in plain if name in each}
            plan = runtime.database.command("explain", again, verbosity="executionStats")
            cursor = plan["stages"][0]["$cursor"] if "stages" in plan else plan
            found += cursor["executionStats"]["totalDocsExamined"]
        return found


@pytest.mark.parametrize(("number", "read"), [(3, 3 + 3), (8, 0)])
def test_a_large_month_is_read_from_the_posts(
    town: Town, monkeypatch: pytest.MonkeyPatch, number: int, read: int
) -> None:
    monkeypatch.setattr("chalicelib.social.timelines.copies.POSTS_PER_DOCUMENT", 1)
    monkeypatch.setattr(walls, "_MOST_DOCUMENTS", 3)
    settle(town.client, "ann", "eve")
    posts = []
    for _ in range(number):
        town.clock.advance(seconds=1)
        posts.append(publish(town.client, "eve", wall_owner_id="ann"))
    town.workers.drain()
    reads = WallReads()

    with listening(town.runtime, reads) as heard:
        first = walls.read(heard, "ann", "ann", PageQuery(limit=2))
        rest = walls.read(heard, "ann", "ann", PageQuery(limit=200, cursor=first["next"]))

    assert [post["id"] for post in (*first["posts"], *rest["posts"])] == posts[::-1]
    assert reads.documents(town.runtime) == read


def test_a_document_that_was_full_stays_closed(runtime: Runtime) -> None:
    """Or a worker that had begun before would put into it what another put into the next."""
    append(runtime, range(100))
    wall = runtime.database["social.wall"]
    wall.update_one({"seq": 0}, {"$pull": {"posts": {"id": "post-0007"}}})
    first = {"user_id": "ann", "month": "202603", "seq": 0}

    assert not copies(runtime)._append_to(first, post(runtime, 100))

    append(runtime, [100, 101])
    assert sizes(runtime) == [99, 2]


@pytest.mark.parametrize("there", [0, 97, 100])
def test_many_workers_at_once_put_each_post_there_once(runtime: Runtime, there: int) -> None:
    append(runtime, range(there))
    for round_ in range(6):
        barrier = threading.Barrier(4)
        new = range(1_000 + 10 * round_, 1_005 + 10 * round_)

        def write(
            thread: int, barrier: threading.Barrier = barrier, new: Sequence[int] = new
        ) -> None:
            barrier.wait()
            append(runtime, new if thread % 2 else new[::-1])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))

    counted = Counter(copy["id"] for each in documents(runtime) for copy in each["posts"])
    assert set(counted.values()) == {1}
    assert len(counted) == there + 30
    assert all(size == 100 for size in sizes(runtime)[:-1])


def test_each_user_and_month_has_documents_of_its_own(runtime: Runtime) -> None:
    for user in ("ann", "bob"):
        copies(runtime).add([post(runtime, 1)], [user])
    december = post(runtime, 2)
    december["ts"] = december["ts"].replace(year=2025, month=12)
    copies(runtime).add([december], ["ann"])

    found = {(each["user_id"], each["month"], each["seq"]) for each in documents(runtime)}

    assert found == {("ann", "202512", 0), ("ann", "202603", 0), ("bob", "202603", 0)}


def test_walls_have_all_posts_again_after_a_change_of_their_design(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = town.runtime
    settle(town.client, "ann", "bob")
    monkeypatch.setitem(vars(runtime.settings), "wall", "posts")
    made = [publish(town.client, "ann") for _ in range(3)]
    made.append(publish(town.client, "ann", wall_owner_id="bob"))
    town.workers.drain()
    assert repair.copy_walls(runtime) == {"posts": 0, "next": None}
    monkeypatch.setitem(vars(runtime.settings), "wall", "copies")
    assert [wall(town.client, owner, owner) for owner in ("ann", "bob")] == [[], []]

    gone = publish(town.client, "ann")
    former = POSTS.of(runtime.database).find_one({"_id": gone})
    assert former
    assert town.client.as_("ann").delete(f"/posts/{gone}").status == 204
    # As a run that died behind its read has left it.
    copies(runtime).add([former], ["ann"])

    first = repair.copy_walls(runtime, most_posts=2)
    rest = repair.copy_walls(runtime, first["next"])
    again = repair.copy_walls(runtime)

    assert (first["posts"], rest, again) == (
        2,
        {"posts": 3, "next": None},
        {"posts": 5, "next": None},
    )
    assert sorted(wall(town.client, "ann", "ann")) == sorted(made)
    assert wall(town.client, "bob", "bob") == made[3:]
