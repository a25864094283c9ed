"""Messages twice, late, in any order or never, and workers at once: each person is told once."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.comments import happened, nodes
from chalicelib.comments import jobs as comment_jobs
from chalicelib.comments import notifications as comment_notifications
from chalicelib.comments.entries import upkeep
from chalicelib.comments.log.decisions import DECIDED
from chalicelib.messaging import Queues
from chalicelib.notifications import events, personal_data
from chalicelib.notifications.events import NotificationEvent, Notify
from chalicelib.notifications.rows import ITEMS, KEPT, Kind
from chalicelib.runtime import Runtime
from tests.notifications.support.erasing import Slow, slow
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

__all__ = ["slow"]
NODE = "harbour:moon"
COMMENTS = f"/nodes/{NODE}/comments"
WORKERS = 8


@pytest.fixture
def talk(client: Client, clock: Clock) -> Client:
    """A site that tells of comments, with a discussion."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put("/sites/harbour/comments/settings", notifications=True).status == 200
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/moon").status == 201
    clock.advance(seconds=6)
    return client


def post(client: Client, text: str, by: str = "ann", **body: Any) -> str:
    reply = client.as_(by, name=by.title()).post(COMMENTS, text=text, **body)
    assert reply.status == 201, reply.body
    return str(reply.json["id"])


def items(runtime: Runtime) -> list[tuple[str, bool]]:
    others = {"kind": {"$nin": [*DECIDED]}}
    found = ITEMS.of(runtime.database).find(others, {"user_id": 1, "wanted": 1})
    return sorted((each["user_id"], each["wanted"]) for each in found)


def event(
    runtime: Runtime, recipients: dict[str, Kind], *, is_new: bool = True, **rest: Any
) -> NotificationEvent:
    given: dict[str, Any] = {"at": runtime.now(), **rest}
    return NotificationEvent("k1", "harbour", f"{NODE}/k1", "ben", given["at"], recipients, is_new)


@pytest.mark.parametrize("seed", range(3))
def test_replies_by_many_told_thrice_and_shuffled_by_workers_at_once_are_told_once(
    talk: Client, runtime: Runtime, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Notify] = []

    def keep(_queues: Queues, *messages: Any) -> bool:
        sent.extend(each for each in messages if isinstance(each, Notify))
        return True

    monkeypatch.setattr(Queues, "send", keep)
    first = post(talk, "The moon is up.")
    replies = [post(talk, f"Reply {n}.", by=f"u{n}", parent=first) for n in range(12)]
    work = [*sent * 3]
    random.Random(seed).shuffle(work)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda message: comment_notifications.run(runtime, message), work))

    assert len(sent) == len(replies) + 1
    assert items(runtime) == [("ann", True)] * len(replies)


def test_what_a_lost_message_would_have_told_is_told_by_the_schedule(
    talk: Client, runtime: Runtime, clock: Clock, workers: Workers
) -> None:
    first = post(talk, "The moon is up.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Queues, "send", lambda _queues, *_messages: False)
        reply = post(talk, "So it is.", by="ben", parent=first)
    workers.drain()
    assert items(runtime) == []

    clock.advance(minutes=20)
    comment_jobs.run_due(runtime)
    assert items(runtime) == [("ann", True)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Queues, "send", lambda _queues, *_messages: False)
        moderator = talk.as_("mo", roles=["moderator"])
        assert moderator.post(f"{COMMENTS}/{reply}/state", state="hidden").status == 200
    clock.advance(minutes=20)
    comment_jobs.run_due(runtime)
    assert items(runtime) == [("ann", False)]


@pytest.mark.parametrize("has_reply", [False, True])
@pytest.mark.parametrize("is_edited", [False, True])
def test_a_comment_that_its_author_deletes_is_taken_back(
    talk: Client, runtime: Runtime, workers: Workers, *, has_reply: bool, is_edited: bool
) -> None:
    first = post(talk, "The moon is up.")
    assert talk.as_("cyd").put(f"/nodes/{NODE}/watch", level="watching").status == 200
    reply = post(talk, "So it is.", by="ben", parent=first)
    if is_edited:
        edited = talk.as_("ben", name="Ben").patch(f"{COMMENTS}/{reply}", text="It is.")
        assert edited.status == 200, edited.body
    if has_reply:
        post(talk, "Is it?", by="dan", parent=reply)
    workers.drain()
    told = ITEMS.of(runtime.database).find({"by": "ben", "wanted": True})
    assert sorted(each["user_id"] for each in told) == ["ann", "cyd"]

    assert talk.as_("ben", name="Ben").delete(f"{COMMENTS}/{reply}").status == 204
    workers.drain()

    left = ITEMS.of(runtime.database).find({"by": "ben", "wanted": True})
    assert [each["user_id"] for each in left] == []


def test_a_change_while_the_schedule_looks_is_looked_at_by_the_next_run(
    talk: Client, runtime: Runtime, clock: Clock, workers: Workers
) -> None:
    first = post(talk, "The moon is up.")
    reply = post(talk, "So it is.", by="ben", parent=first)
    workers.drain()
    clock.advance(minutes=20)
    agree = comment_notifications.agree

    def hide_first(runtime: Runtime, node: Any, comment: Any, read_at: datetime) -> None:
        if comment["id"] == reply:
            moderator = talk.as_("mo", roles=["moderator"])
            assert moderator.post(f"{COMMENTS}/{reply}/state", state="hidden").status == 200
        agree(runtime, node, comment, read_at)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Queues, "send", lambda _queues, *_messages: False)
        upkeep.sweep(runtime, hide_first)
    assert items(runtime) == [("ann", True)], "the comment of before its change"

    clock.advance(minutes=20)
    comment_jobs.run_due(runtime)

    assert items(runtime) == [("ann", False)]


@pytest.mark.parametrize("erased", ["ann", "ben"])
@pytest.mark.parametrize("is_watched", [False, True])
def test_a_late_erasure_finds_an_item_whose_recipients_were_read_before_it(
    talk: Client, runtime: Runtime, slow: Slow, erased: str, *, is_watched: bool
) -> None:
    first = post(talk, "The moon is up.")
    if is_watched:
        path = f"/nodes/{NODE}/watch"
        assert talk.as_("ann").put(path, level="watching").status == 200
    reply = post(talk, "So it is.", by="ben", parent=None if is_watched else first)
    ends = slow()

    comment_notifications.run(runtime, Notify(comment=f"{NODE}/{reply}"))

    assert items(runtime) == [("ann", True)]
    personal_data.erase(runtime, erased, ends[0])
    assert items(runtime) == []


def test_a_late_erasure_finds_an_item_of_a_decision(
    talk: Client, runtime: Runtime, slow: Slow
) -> None:
    first = post(talk, "The moon is up.")
    hidden = talk.as_("mo", roles=["moderator"]).post(f"{COMMENTS}/{first}/state", state="hidden")
    assert hidden.status == 200
    ends = slow()

    comment_notifications.run(runtime, Notify(comment=f"{NODE}/{first}"))

    assert ITEMS.of(runtime.database).count_documents({"user_id": "ann"}) == 1
    personal_data.erase(runtime, "ann", ends[0])
    assert ITEMS.of(runtime.database).count_documents({}) == 0


def test_a_late_erasure_finds_an_item_of_an_earlier_release(runtime: Runtime) -> None:
    events.agree(runtime, event(runtime, {"ann": "comment.reply"}), runtime.now())
    ITEMS.of(runtime.database).update_many({}, {"$unset": {"asked": ""}})

    personal_data.erase(runtime, "ben", runtime.now() - timedelta(seconds=1))
    assert items(runtime) == [("ann", True)]
    personal_data.erase(runtime, "ben", runtime.now())
    assert items(runtime) == []


def test_a_message_that_comes_before_its_comment_tells_nobody_and_harms_nothing(
    talk: Client, runtime: Runtime, workers: Workers
) -> None:
    comment_notifications.run(runtime, Notify(comment=f"{NODE}/0000000000"))
    comment_notifications.run(runtime, Notify(comment="nowhere:at-all/0000000000"))
    first = post(talk, "The moon is up.")
    post(talk, "So it is.", by="ben", parent=first)
    workers.drain()

    assert items(runtime) == [("ann", True)]


def test_a_deleted_discussion_takes_its_notifications_back(
    talk: Client, runtime: Runtime, workers: Workers
) -> None:
    first = post(talk, "The moon is up.")
    reply = post(talk, "So it is.", by="ben", parent=first)
    workers.drain()
    lasting = happened.lasting_name(nodes.find(runtime.database, NODE), reply)
    assert talk.as_("admin", roles=["admin"]).delete(f"/nodes/{NODE}").status in {202, 204}
    message = Notify(comment=f"{NODE}/{reply}", lasting=lasting)
    comment_notifications.run(runtime, message)

    assert items(runtime) == [("ann", False)]
    assert talk.as_("ann").get("/notifications").json["notifications"] == []


def test_what_is_taken_back_and_made_again_is_told_as_it_was_read(runtime: Runtime) -> None:
    events.agree(runtime, event(runtime, {"ann": "comment.reply"}), runtime.now())
    ITEMS.of(runtime.database).update_many({"user_id": "ann"}, {"$set": {"read": True}})
    events.agree(runtime, event(runtime, {}, is_new=False), runtime.now())
    assert items(runtime) == [("ann", False)]

    events.agree(runtime, event(runtime, {"ann": "comment.reply"}, is_new=False), runtime.now())

    assert items(runtime) == [("ann", True)]
    (item,) = ITEMS.of(runtime.database).find({})
    assert item["read"] is True


@pytest.mark.parametrize(("age", "count"), [(KEPT - timedelta(seconds=1), 1), (KEPT, 0)])
def test_an_event_older_than_items_are_kept_tells_nobody(
    runtime: Runtime, age: timedelta, count: int
) -> None:
    """Its item may have ended, and nobody is told twice."""
    recipients: dict[str, Kind] = {"ann": "comment.reply"}
    events.agree(
        runtime, event(runtime, recipients, is_new=False, at=runtime.now() - age), runtime.now()
    )

    assert len(items(runtime)) == count
