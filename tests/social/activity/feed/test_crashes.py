"""Feeds become what they should be, at whatever step a worker dies."""

import os
from collections.abc import Callable
from datetime import timedelta

from tests.social.activity.support.office import Office
from tests.social.support.mortal_workers import Mortal, living

# PLAZA_TEST_EVERY_STEP=1 has a worker die before each step.
STRIDE = int(os.environ.get("PLAZA_TEST_EVERY_STEP", "4"))


def test_a_crash_before_any_step_is_repaired_by_the_sweep(office: Office) -> None:
    whole = Mortal()
    check = owe_everything(office, "whole")
    with living(whole):
        office.workers.drain()
    check()
    assert whole.steps_taken > 40

    for steps in range(0, whole.steps_taken, STRIDE):
        check = owe_everything(office, f"team-{steps}")
        with living(Mortal(steps)):
            office.workers.drain()
        # Messages whose handling failed lie in the queue unseen: to this test they are lost.
        for _ in range(2):
            office.sweep_expired()
        check()


def owe_everything(office: Office, team: str) -> Callable[[], None]:
    """Have something of every kind owed to a team's feeds; return how they have to be then."""
    office.place("ann", "bob", team=team)
    office.place("cy", team="elsewhere")
    shown, hidden, deleted = office.act("ann"), office.act("bob"), office.act("bob")
    conducted = office.clock()
    office.workers.drain()

    office.clock.advance(hours=1)
    commented = office.clock()
    fresh = office.act("ann")
    office.comment("bob", shown)
    office.comment("ann", deleted)
    office.hide("bob", hidden)
    office.delete("bob", deleted)
    office.clock.advance(seconds=1)
    office.place("cy", team=team)

    def check() -> None:
        assert office.readers(fresh) == ["ann", "bob", "cy"]
        assert office.standing(shown, ["ann", "bob", "cy"]) == {
            "ann": commented - timedelta(minutes=10),
            "bob": commented,
            "cy": conducted - timedelta(days=1),
        }
        assert len(office.items(action_id=hidden, hidden=True)) == 3
        assert office.readers(hidden) == []
        assert office.items(action_id=deleted) == []
        events = office.runtime.database["feed.event"].find({}, {"action_id": 1})
        assert deleted not in {event["action_id"] for event in events}
        assert office.runtime.database["social.errand"].find_one({}) is None
        assert office.stored(fresh)["fan_out"]["state"] == "done"

    return check
