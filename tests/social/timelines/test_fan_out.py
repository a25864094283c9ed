"""Fan-out: who may see how far it has come, and when it fails."""

import random
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.database import NotInserted
from chalicelib.database.migration import migrate
from chalicelib.runtime import Runtime
from chalicelib.social.delivery import engine
from chalicelib.social.jobs import handle
from chalicelib.social.messages import Deliver, DeliverChunk
from chalicelib.social.timelines.post_fan_out import OF_POSTS
from chalicelib.social.timelines.references import NEWS_ITEMS, NewsItems
from tests.social.support.bounds import CHUNKS_OF_TWO, bounded
from tests.social.support.drivers import Town, fan_out, follow, news, wall

pytestmark = CHUNKS_OF_TWO


def test_a_post_reaches_every_follower(town: Town, readers: list[str]) -> None:
    post = town.publish()
    assert fan_out(town.client, "ann", post) == {"state": "pending", "delivered": 0, "total": 0}

    town.workers.drain()

    town.assert_delivered_once([post], readers)
    assert fan_out(town.client, "ann", post) == {"state": "done", "delivered": 5, "total": 5}
    assert all(news(town.client, reader) == [post] for reader in readers)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4])
def test_a_chunk_may_be_full_or_empty(town: Town, number: int) -> None:
    few = [f"reader-{each}" for each in range(number)]
    for reader in few:
        follow(town.client, reader, "ann")
    post = town.publish()

    town.workers.drain()

    town.assert_delivered_once([post], few)
    assert wall(town.client, "ann", "ann") == [post]


@pytest.mark.parametrize(("chunk_readers", "messages"), [(4, 2), (5, 0), (6, 0)])
def test_an_audience_of_one_chunk_is_served_without_another_message(
    town: Town, readers: list[str], chunk_readers: int, messages: int
) -> None:
    runtime, courier = town.with_courier()
    runtime = bounded(runtime, chunk_readers=chunk_readers)
    post = town.publish()

    handle(runtime, Deliver(post_id=post))

    assert len(courier.waiting) == messages
    courier.deliver(runtime, random.Random(7))
    town.assert_delivered_once([post], readers)
    assert fan_out(town.client, "ann", post) == {"state": "done", "delivered": 5, "total": 5}


def test_a_post_whose_message_was_never_sent_is_swept(
    town: Town, readers: list[str], sqs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(**_: Any) -> None:
        raise EndpointConnectionError(endpoint_url="https://sqs.example")

    with monkeypatch.context() as patch:
        patch.setattr(sqs, "send_message_batch", unreachable)
        post = town.publish()
    assert town.workers.drain() == 0
    # The container's pause after a failed send is over.
    town.runtime.queues._outage.end()

    engine.sweep(town.runtime, OF_POSTS)
    assert town.workers.drain() == 0, "its message may still be under way"
    town.sweep_expired()

    town.assert_delivered_once([post], readers)


def test_a_lost_chunk_message_is_found(town: Town, readers: list[str]) -> None:
    runtime, courier = town.with_courier()
    post = town.publish()
    handle(runtime, Deliver(post_id=post))
    for message in courier.take():
        if message.number != 1:
            handle(runtime, message)
    assert fan_out(town.client, "ann", post) == {"state": "delivering", "delivered": 3, "total": 5}

    town.let_lease_expire()
    engine.sweep(runtime, OF_POSTS)
    (message,) = courier.take()
    handle(runtime, message)

    assert courier.take() == [DeliverChunk(post_id=post, number=1)]
    handle(runtime, DeliverChunk(post_id=post, number=1))
    town.assert_delivered_once([post], readers)


def test_a_lease_that_holds_is_left_alone(town: Town, readers: list[str]) -> None:
    post = town.publish()
    handle(town.runtime, Deliver(post_id=post))
    before = town.fan_out(post)
    town.clock.advance(milliseconds=town.runtime.settings.lease_ms - 1)

    handle(town.runtime, Deliver(post_id=post))
    engine.sweep(town.runtime, OF_POSTS)

    assert town.fan_out(post) == before
    town.workers.drain()
    town.assert_delivered_once([post], readers)


def test_a_finished_fan_out_is_not_swept(town: Town) -> None:
    town.publish()
    town.workers.drain()
    town.clock.advance(days=1)

    engine.sweep(town.runtime, OF_POSTS)

    assert town.workers.drain() == 0


def test_five_attempts_without_progress_are_a_failure_with_its_reason(
    town: Town, readers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise NotInserted("2 refused, code 121")

    with monkeypatch.context() as patch:
        patch.setattr(NewsItems, "add", broken)
        post = town.publish()
        town.workers.drain()
        for _ in range(6):
            assert town.fan_out(post)["state"] == "delivering"
            town.sweep_expired()

    client, path = town.client, f"/posts/{post}/fan-out"
    assert fan_out(client, "ann", post) == {"state": "failed", "delivered": 0, "total": 5}
    assert client.as_("mo", roles=["social_moderator"]).get(path).json["reason"] == "NotInserted"
    town.let_lease_expire()
    engine.sweep(town.runtime, OF_POSTS)
    assert town.workers.drain() == 0

    # Chunk messages that come back from the queue after it failed.
    for number in range(3):
        handle(town.runtime, DeliverChunk(post_id=post, number=number))
    town.assert_delivered_once([post], readers)


def test_progress_sets_the_attempts_back(town: Town, readers: list[str]) -> None:
    runtime, _courier = town.with_courier()
    post = town.publish()
    handle(runtime, Deliver(post_id=post))
    for number in range(3):
        for _ in range(4):
            town.let_lease_expire()
            handle(runtime, Deliver(post_id=post))
        assert town.fan_out(post)["attempts"] == 4
        handle(runtime, DeliverChunk(post_id=post, number=number))

    town.assert_delivered_once([post], readers)


def test_a_message_about_a_post_that_is_gone_is_dropped(town: Town) -> None:
    gone = [Deliver(post_id="gone"), DeliverChunk(post_id="gone", number=0)]
    town.runtime.queues.send(*gone)

    assert town.workers.drain() == 2


def test_refused_items_fail_the_chunk_and_are_not_quoted(runtime: Runtime) -> None:
    post: Any = {
        "_id": "post",
        "by": {"id": "ann"},
        "wall": "ann",
        "circles": ["*public*"],
        "ts": runtime.now(),
    }
    no_bob = {"user_id": {"$ne": "bob"}}
    runtime.database.command("collMod", "social.news_item", validator=no_bob)
    try:
        with pytest.raises(NotInserted) as raised:
            NewsItems(runtime.database).add([post], ["ann", "bob", "cy"])
    finally:
        migrate(runtime.database, [NEWS_ITEMS])

    assert str(raised.value) == "1 refused, code 121"
    assert raised.value.__suppress_context__
    assert runtime.database["social.news_item"].distinct("user_id") == ["ann", "cy"]
