"""Webhooks after a restore of the database, which counts the versions of things anew."""

from deploy import restored
from deploy.replay import Replay
from tests.deploy.support.restoring import back_up, bring_back
from tests.webhooks.conftest import Desk
from tests.webhooks.support.receiver import Receiver


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
    assert ids[2] == f"{ids[1]}-{int(point.timestamp()):x}"
