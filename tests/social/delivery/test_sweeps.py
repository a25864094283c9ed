"""What one thing that cannot be done, or not be read, does to all else that is owed: nothing."""

import json
from collections import Counter
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.jobs import outbox
from chalicelib.messaging import Message
from chalicelib.people.jobs import Rename
from chalicelib.runtime import Runtime
from chalicelib.social import jobs
from chalicelib.social.delivery import engine, leases, state
from chalicelib.social.messages import JOB
from chalicelib.social.posts.posts import POSTS
from chalicelib.social.timelines import propagation
from chalicelib.social.timelines.post_fan_out import OF_POSTS
from tests.social.activity.support.office import Office
from tests.social.support.drivers import Courier, Town, comment, follow, news, publish, work_on
from tests.social.support.interleaving import Meantime
from tests.support.http_client import Client


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch, town: Town) -> pytest.MonkeyPatch:
    """SQS takes nothing, until the patch is undone."""
    monkeypatch.setattr(type(town.runtime.queues), "send", lambda *_: False)
    return monkeypatch


@pytest.mark.parametrize(
    "unknown",
    [{"type": "of-a-later-release"}, {"type": "rename", "version": 99, "user_id": "ann"}],
    ids=["type", "version"],
)
def test_a_job_of_a_newer_release_does_not_delay_the_others(
    town: Town, deaf: pytest.MonkeyPatch, unknown: dict[str, Any]
) -> None:
    outbox.note(town.runtime, Rename(user_id="the first that is due"))
    town.runtime.database["social.errand"].update_one({}, {"$set": {"errand": unknown}})
    town.clock.advance(seconds=1)
    post = publish(town.client, "ann")
    follow(town.client, "bob", "ann")
    deaf.undo()

    town.let_lease_expire()
    outbox.sweep(town.runtime, JOB)
    town.workers.drain()

    assert news(town.client, "bob") == [post]
    (left,) = town.runtime.database["social.errand"].find()
    assert left["errand"] == unknown


@pytest.mark.bounds(social={"swept_at_once": 1})
def test_a_post_that_cannot_be_propagated_does_not_delay_the_others(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, other = town.publish(), town.publish()
    town.workers.drain()
    with monkeypatch.context() as deaf:
        deaf.setattr(type(town.runtime.queues), "send", lambda *_: False)
        comment(town.client, "bob", stuck)
        town.clock.advance(seconds=1)
        made = comment(town.client, "bob", other)
    spread = propagation.propagate

    def spread_unless_stuck(runtime: Runtime, post_id: str) -> None:
        if post_id == stuck:
            raise ZeroDivisionError
        spread(runtime, post_id)

    monkeypatch.setattr(propagation, "propagate", spread_unless_stuck)

    town.let_lease_expire()
    for _ in range(2):
        propagation.sweep(town.runtime)
        town.workers.drain()

    (shown,) = [p for p in town.client.get("/users/ann/wall").json["posts"] if p["id"] == other]
    assert [each["id"] for each in shown["comments"]] == [made]


def test_a_post_that_is_swept_is_not_swept_again_while_its_message_may_be_under_way(
    town: Town,
) -> None:
    runtime, courier = town.with_courier()
    post = town.publish()
    town.workers.drain()
    comment(town.client, "bob", post)
    town.let_lease_expire()

    for _ in range(2):
        propagation.sweep(runtime)

    assert [message.post_id for message in courier.take()] == [post]


@pytest.fixture
def unworked(town: Town) -> Office:
    """An office whose messages wait in a courier, as if every worker had stopped."""
    runtime, courier = town.with_courier()
    client = Client(create_app(runtime, LocalChalice), town.client.token)
    office = Office(client, town.workers, runtime, town.clock)
    office.place("ann", "bob", team="hiring")
    courier.take()
    runtime.database["social.errand"].delete_many({})
    return office


def sweep_for(office: Office, leases: int) -> list[Message]:
    """Let leases pass, with a sweep after each; return what the sweeps sent."""
    for _ in range(leases):
        office.clock.advance(milliseconds=office.runtime.settings.lease_ms)
        jobs.resend_overdue(office.runtime)
    return taken(office)


def kind_of(message: Message) -> str:
    return str(message.model_dump()["type"])


def taken(office: Office) -> list[Message]:
    assert isinstance(office.runtime.queues, Courier)
    return office.runtime.queues.take()


def owe_one_of_each(office: Office) -> set[str]:
    """Leave a post, an action, a comment's spread and a job to be done; return their kinds."""
    publish(office.client, "ann")
    office.act("ann")
    comment(office.client, "ann", publish(office.client, "ann"))
    office.client.as_("ann").put("/users/me", name="Anna")
    return {kind_of(message) for message in taken(office)}


def test_what_nobody_takes_is_sent_once_a_lease_and_then_ever_more_rarely(
    unworked: Office,
) -> None:
    kinds = owe_one_of_each(unworked)
    per_lease = [Counter(m.model_dump_json() for m in sweep_for(unworked, 1)) for _ in range(63)]

    assert {json.loads(each)["type"] for each in per_lease[0]} == kinds
    assert all(set(each.values()) <= {1} for each in per_lease)
    # After 1, 2, 4, 8, 16 and 32 leases more.
    assert [number + 1 for number, each in enumerate(per_lease) if each] == [1, 2, 4, 8, 16, 32]


def test_a_sweep_within_the_lease_sends_nothing(unworked: Office) -> None:
    owe_one_of_each(unworked)
    assert sweep_for(unworked, 1)
    for _ in range(3):
        jobs.resend_overdue(unworked.runtime)
    assert taken(unworked) == []


def test_a_worker_that_dies_after_it_began_is_sent_for_after_its_lease(unworked: Office) -> None:
    post = publish(unworked.client, "ann")
    sweep_for(unworked, 3)
    lease = leases.DeliveryLease.prepare(unworked.runtime, POSTS, post)
    assert leases.claim(lease, {}) is not None

    assert [kind_of(message) for message in sweep_for(unworked, 1)] == ["deliver"]


@pytest.mark.bounds(social={"swept_at_once": 2})
def test_those_behind_the_oldest_get_their_turn(unworked: Office) -> None:
    posts = [publish(unworked.client, "ann") for _ in range(5)]
    taken(unworked)
    unworked.clock.advance(milliseconds=unworked.runtime.settings.lease_ms)

    sent: list[list[str]] = []
    for _ in range(4):
        engine.sweep(unworked.runtime, OF_POSTS)
        sent.append([str(each.model_dump()["post_id"]) for each in taken(unworked)])

    assert [len(each) for each in sent] == [2, 2, 1, 0]
    assert sorted(post for each in sent for post in each) == sorted(posts)


def test_two_sweeps_at_once_send_one_message_each(watched: Town, meantime: Meantime) -> None:
    for _ in range(3):
        publish(watched.client, "ann")
    watched.courier.take()
    watched.let_lease_expire()
    meantime.before("update", "social.post", lambda: engine.sweep(watched.runtime, OF_POSTS))

    engine.sweep(watched.runtime, OF_POSTS)

    assert meantime.done()
    sent = Counter(message.model_dump_json() for message in watched.courier.take())
    assert sorted(sent.values()) == [1, 1, 1]


def test_what_sqs_did_not_take_is_sent_after_another_lease(
    unworked: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(unworked.client, "ann")
    taken(unworked)
    with monkeypatch.context() as deaf:
        deaf.setattr(Courier, "send", lambda *_: False)
        assert sweep_for(unworked, 8) == []

    assert len(sweep_for(unworked, 1)) == 1


def test_what_no_worker_takes_is_sent_again_every_32_leases_in_the_end(unworked: Office) -> None:
    publish(unworked.client, "ann")
    taken(unworked)

    # After 1, 2, 4, 8, 16 and 32 leases, then after each 32.
    assert len(sweep_for(unworked, 160)) == 10


@pytest.mark.timeout(300)
def test_a_backlog_of_1500_posts_earns_one_message_a_lease_and_post(unworked: Office) -> None:
    """One person posts 1,500 times in a minute, and every worker has stopped."""
    publish(unworked.client, "ann")
    (post,) = unworked.runtime.database["social.post"].find()
    others = [{**post, "_id": f"post-{number}"} for number in range(1_499)]
    unworked.runtime.database["social.post"].insert_many(others)
    taken(unworked)

    minutes = []
    for _ in range(20):
        unworked.clock.advance(minutes=1)
        jobs.resend_overdue(unworked.runtime)
        minutes.append(Counter(message.model_dump_json() for message in taken(unworked)))

    assert all(set(each.values()) <= {1} for each in minutes)
    assert [len(minute) for minute in minutes[:2]] == [1_000, 1_000]
    in_all = sum(minutes, Counter())
    assert len(in_all) == 1_500
    assert max(in_all.values()) <= 5


@pytest.mark.parametrize(
    ("work", "type_"),
    [
        ("chalicelib.people.jobs.rename", "rename"),
        ("chalicelib.social.timelines.walls.WALLS", "spread"),
    ],
)
def test_what_is_taken_and_too_long_for_a_run_goes_on_in_the_next_lease(
    unworked: Office, monkeypatch: pytest.MonkeyPatch, work: str, type_: str
) -> None:
    if type_ == "spread":
        comment(unworked.client, "ann", publish(unworked.client, "ann"))
        unworked.runtime.database["social.post"].update_many({}, {"$set": state.end_fields()})
    else:
        unworked.client.as_("ann").put("/users/me", name="Ann")
        unworked.client.as_("ann").put("/users/me", name="Anna")
    taken(unworked)
    assert len(sweep_for(unworked, 15)) == 4

    monkeypatch.setattr(work, None)
    for _ in range(5):
        for message in sweep_for(unworked, 1):
            assert kind_of(message) == type_
            with pytest.raises((TypeError, AttributeError)):
                work_on(unworked.runtime, message)
    assert len(sweep_for(unworked, 1)) == 1
