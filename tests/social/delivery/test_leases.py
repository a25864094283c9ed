"""A delivery is under a lease: no two workers at a time, and a late one changes nothing."""

from typing import Any

import pytest
from pymongo.errors import AutoReconnect

from chalicelib.social.delivery import leases
from chalicelib.social.jobs import handle
from chalicelib.social.messages import Deliver, DeliverChunk
from chalicelib.social.posts import audiences
from tests.social.support.bounds import CHUNKS_OF_TWO
from tests.social.support.drivers import Town
from tests.social.support.mortal_workers import Died

pytestmark = CHUNKS_OF_TWO


@pytest.fixture(
    params=[
        pytest.param("the whole", marks=pytest.mark.bounds(social={"chunk_readers": 5})),
        "a chunk",
    ]
)
def message(town: Town, readers: list[str], request: pytest.FixtureRequest) -> Any:
    """A message for a post of Ann's, which may be worked on at once."""
    runtime, _courier = town.with_courier()
    post = town.publish()
    assert len(readers) == 5
    if request.param == "the whole":
        return Deliver(post_id=post)
    handle(runtime, Deliver(post_id=post))
    return DeliverChunk(post_id=post, number=1)


def test_nothing_is_worked_on_by_two_at_a_time(
    town: Town, readers: list[str], monkeypatch: pytest.MonkeyPatch, message: Any
) -> None:
    audience, at_work = audiences.of, []

    def interrupted(*arguments: Any) -> list[str]:
        at_work.append(message)
        town.clock.advance(milliseconds=town.runtime.settings.lease_ms - 1)
        handle(town.runtime, message)
        return audience(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(audiences, "of", interrupted)
        handle(town.runtime, message)

    assert at_work == [message]
    town.sweep_expired()
    town.assert_delivered_once([message.post_id], readers)


def test_a_chunk_that_is_done_is_not_worked_on_again(
    town: Town, readers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, courier = town.with_courier()
    post = town.publish()
    handle(runtime, Deliver(post_id=post))
    chunk = courier.take()[1]
    handle(runtime, chunk)
    before = town.fan_out(post)

    with monkeypatch.context() as patch:
        patch.setattr(audiences, "of", lambda *_: pytest.fail("it is worked on again"))
        handle(runtime, chunk)

    assert town.fan_out(post) == before
    town.sweep_expired()
    town.assert_delivered_once([post], readers)


def test_a_worker_slower_than_its_lease_ends_nothing_that_is_another_ones(
    town: Town, readers: list[str], monkeypatch: pytest.MonkeyPatch, message: Any
) -> None:
    audience = audiences.of

    def dying(*_: Any) -> list[str]:
        raise Died

    def overtaken(*arguments: Any) -> list[str]:
        patch.setattr(audiences, "of", dying)
        town.let_lease_expire()
        with pytest.raises(Died):
            handle(town.runtime, message)
        return audience(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(audiences, "of", overtaken)
        handle(town.runtime, message)

    assert town.fan_out(message.post_id)["chunks_done"] == []
    town.sweep_expired()
    town.assert_delivered_once([message.post_id], readers)


def test_a_worker_that_fails_too_late_leaves_a_finished_fan_out_as_it_is(
    town: Town, readers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    post = town.publish()
    audience = audiences.of

    def overtaken(*_args: Any, **_options: Any) -> list[str]:
        monkeypatch.setattr(audiences, "of", audience)
        town.let_lease_expire()
        handle(town.runtime, Deliver(post_id=post))
        town.workers.drain()
        raise Died

    monkeypatch.setattr(audiences, "of", overtaken)
    with pytest.raises(Died):
        handle(town.runtime, Deliver(post_id=post))

    assert (town.fan_out(post)["state"], town.fan_out(post)["reason"]) == ("done", None)
    town.assert_delivered_once([post], readers)


def test_a_failure_that_cannot_be_noted_is_raised_all_the_same(
    town: Town, readers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    post = town.publish()

    def failing(*_args: Any, **_options: Any) -> None:
        raise Died

    def unreachable(*_: Any) -> None:
        raise AutoReconnect

    with monkeypatch.context() as patch:
        patch.setattr(audiences, "of", failing)
        patch.setattr(leases, "note_failure", unreachable)
        with pytest.raises(Died):
            handle(town.runtime, Deliver(post_id=post))

    town.sweep_expired()
    town.assert_delivered_once([post], readers)


def test_a_worker_that_lost_its_lease_stops_where_it_is(
    town: Town, readers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, courier = town.with_courier()
    post = town.publish()
    audience = audiences.of

    def overtaken(*args: Any, **options: Any) -> list[str]:
        ids = audience(*args, **options)
        monkeypatch.setattr(audiences, "of", audience)
        town.let_lease_expire()
        handle(town.runtime, Deliver(post_id=post))
        return ids

    monkeypatch.setattr(audiences, "of", overtaken)
    handle(slow, Deliver(post_id=post))

    assert courier.waiting == []
    assert len(town.fan_out(post)["chunks"]) == 3
    town.workers.drain()
    town.assert_delivered_once([post], readers)
