"""Webhooks after a restore of the database, which counts the versions of things anew."""

from chalicelib.shop.orders import sweep
from deploy import restored
from deploy.replay import Replay
from tests.deploy.support.restoring import back_up, bring_back
from tests.shop.support.buying import cart_of, ordered, pay, stocked
from tests.webhooks.conftest import Desk
from tests.webhooks.support.receiver import Receiver
from tests.webhooks.test_orders import listen


def test_an_event_after_a_restore_is_no_repeat_of_a_lost_one(
    desk: Desk, receiver: Receiver
) -> None:
    """Receivers drop a repeated id, as `docs/webhooks.md` asks of them."""
    desk.hook(receiver.url)
    comment = desk.post("The moon is up.", "ann")
    desk.workers.drain()
    point, backup = desk.clock(), back_up(desk.runtime)
    desk.clock.advance(seconds=6)
    desk.set_state(comment, "hidden")
    desk.workers.drain()
    bring_back(desk.runtime, backup)

    for _ in range(2):
        restored.restore(desk.runtime, point, Replay(), refunds=False)
    desk.clock.advance(seconds=6)
    desk.set_state(comment, "spam")
    desk.workers.drain()

    ids = [each.event for each in receiver.calls]
    assert receiver.kinds == ["comment.created"] + ["comment.state_changed"] * 2
    assert len({*ids}) == 3
    assert ids[2].startswith(f"{ids[1]}-{int(point.timestamp()):x}-")


def test_a_hook_that_is_registered_again_after_a_restore_gets_no_repeated_ids(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook("http://127.0.0.1:9/another")
    comment = desk.post("The moon is up.", "ann")
    desk.workers.drain()
    point, backup = desk.clock(), back_up(desk.runtime)
    desk.hook(receiver.url)
    desk.set_state(comment, "hidden")
    desk.workers.drain()
    bring_back(desk.runtime, backup)
    restored.restore(desk.runtime, point, Replay(), refunds=False)

    desk.hook(receiver.url)
    desk.clock.advance(seconds=6)
    desk.set_state(comment, "spam")
    desk.workers.drain()

    assert receiver.kinds == ["comment.state_changed"] * 2
    assert len({each.event for each in receiver.calls}) == 2


def test_a_second_restore_to_one_point_repeats_no_id_of_the_first(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook(receiver.url)
    comment = desk.post("The moon is up.", "ann")
    desk.workers.drain()
    point, backup = desk.clock(), back_up(desk.runtime)
    for state in ("hidden", "spam", "hidden"):
        bring_back(desk.runtime, backup)
        restored.restore(desk.runtime, point, Replay(), refunds=False)
        desk.clock.advance(seconds=6)
        desk.set_state(comment, state)
        desk.workers.drain()

    assert len({each.event for each in receiver.calls}) == 4


def test_an_order_that_is_paid_again_after_a_restore_is_told_under_the_same_id(
    desk: Desk, receiver: Receiver
) -> None:
    """A seller who sends goods when they hear of a payment sends them once."""
    stocked(desk.client)
    listen(desk, receiver)
    cart = cart_of(desk.client, MOBY_HARD=1)
    order = ordered(desk.client, cart)
    point, backup = desk.clock(), back_up(desk.runtime)
    for _ in range(2):
        desk.clock.advance(seconds=6)
        pay(desk.client, cart, order)
        desk.clock.advance(seconds=6)
        sweep.sweep(desk.runtime)
        desk.workers.drain()
        bring_back(desk.runtime, backup)
        restored.restore(desk.runtime, point, Replay(), refunds=False)

    assert [each.event for each in receiver.calls] == [f"{order}-paid"] * 2
