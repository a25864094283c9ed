"""What one thing that cannot be done, or not be read, does to all else that is owed: nothing."""

from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.social import errands, spreading
from chalicelib.social.messages import Rename
from tests.social.people import Town, comment, follow, news, publish


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
def test_an_errand_of_a_newer_release_does_not_keep_the_others(
    town: Town, deaf: pytest.MonkeyPatch, unknown: dict[str, Any]
) -> None:
    errands.note(town.runtime, Rename(user_id="the first that is due"))
    town.runtime.database["social.errand"].update_one({}, {"$set": {"errand": unknown}})
    town.clock.advance(seconds=1)
    post = publish(town.client, "ann")
    follow(town.client, "bob", "ann")
    deaf.undo()

    town.let_lease_run_out()
    errands.sweep(town.runtime)
    town.workers.drain()

    assert news(town.client, "bob") == [post]
    (left,) = town.runtime.database["social.errand"].find()
    assert left["errand"] == unknown


def test_a_post_that_cannot_be_spread_does_not_keep_the_others(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreading, "_SWEPT_AT_ONCE", 1)
    stuck, other = town.publish(), town.publish()
    town.workers.drain()
    with monkeypatch.context() as deaf:
        deaf.setattr(type(town.runtime.queues), "send", lambda *_: False)
        comment(town.client, "bob", stuck)
        town.clock.advance(seconds=1)
        made = comment(town.client, "bob", other)
    spread = spreading.spread

    def spread_unless_stuck(runtime: Runtime, post_id: str) -> None:
        if post_id == stuck:
            raise ZeroDivisionError
        spread(runtime, post_id)

    monkeypatch.setattr(spreading, "spread", spread_unless_stuck)

    town.let_lease_run_out()
    for _ in range(2):
        spreading.sweep(town.runtime)
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
    town.let_lease_run_out()

    for _ in range(2):
        spreading.sweep(runtime)

    assert [message.post_id for message in courier.take()] == [post]
