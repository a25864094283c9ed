"""The first answer of a receiver that was silent: waiting events come soon."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.webhooks import hooks
from chalicelib.webhooks.rows import DELIVERIES, Hook
from chalicelib.webhooks.rows import HOOKS as STORED
from tests.webhooks.conftest import HOOKS, Desk
from tests.webhooks.support.receiver import Receiver


class Crash(BaseException):
    """The end of a worker in the middle of its work."""


@pytest.fixture
def silent(desk: Desk, receiver: Receiver) -> str:
    """A hook whose receiver answered nothing for four days; eight events wait for two hours."""
    hook, now = str(desk.hook(receiver.url)["id"]), desk.clock()
    desk.fail_since(hook, now - timedelta(days=4), now + timedelta(seconds=30))
    for number in range(8):
        desk.post(f"Comment {number}.")
    desk.workers.drain()
    assert receiver.calls == []
    desk.clock.advance(minutes=1)
    return hook


def waiting(desk: Desk) -> int:
    """Return the number of deliveries that no worker may try yet."""
    return sum(each["state"] == "due" and each["next"] > desk.clock() for each in desk.rows())


@pytest.mark.usefixtures("silent")
def test_it_may_be_an_error(desk: Desk, receiver: Receiver) -> None:
    answers = iter([502])
    receiver.status = lambda: next(answers, 204)
    desk.post("Refused.", by="ben")
    desk.workers.drain()
    desk.post("Taken.", by="cy")
    desk.workers.drain()
    desk.sweep()

    assert sorted(each["state"] for each in desk.rows()) == ["due", *["sent"] * 9]


@pytest.mark.parametrize("change", [{"url": "another"}, {"state": "on"}])
def test_a_change_that_forgets_the_failures_wakes_as_an_answer_does(
    desk: Desk, receiver: Receiver, silent: str, change: dict[str, str]
) -> None:
    given = {**change, "url": f"{receiver.url}/another"} if "url" in change else change
    assert desk.publisher.patch(f"{HOOKS}/{silent}", **given).status == 200
    desk.sweep()

    assert [each["state"] for each in desk.rows()] == ["sent"] * 8


def test_another_change_wakes_nothing(desk: Desk, silent: str) -> None:
    kinds = ["comment.created"]
    assert desk.publisher.patch(f"{HOOKS}/{silent}", kinds=kinds).status == 200

    assert waiting(desk) == 8


@pytest.mark.usefixtures("silent")
def test_a_crash_before_the_failures_are_forgotten_leaves_nothing_asleep(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(*_: Any) -> None:
        raise Crash

    desk.post("Taken.", by="ben")
    with monkeypatch.context() as patch:
        patch.setattr(hooks, "note_success", dies)
        with pytest.raises(Crash):
            desk.workers.drain()

    assert waiting(desk) == 0


def test_a_delivery_that_was_about_to_wait_does_not_miss_the_answer(
    desk: Desk, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answered_meanwhile(runtime: Runtime, *_: Any) -> bool:
        well = {"failing_since": None, "quiet_until": None}
        STORED.of(runtime.database).update_one({"_id": silent}, {"$set": well})
        return False

    with monkeypatch.context() as patch:
        patch.setattr(hooks, "may_try", answered_meanwhile)
        desk.post("Late.", by="ben")
        desk.workers.drain()

    assert waiting(desk) == 8
    desk.sweep()
    assert [each["state"] for each in desk.rows()].count("sent") == 1


def test_a_delivery_that_waits_while_an_answer_is_noted_comes_as_well(
    desk: Desk, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It began to wait after the first look for such deliveries."""
    note_success = hooks.note_success
    before: list[int] = []

    def wait_meanwhile(runtime: Runtime, hook: Hook) -> None:
        before.append(waiting(desk))
        late = dict.fromkeys(("next", "due"), desk.clock() + timedelta(hours=2))
        DELIVERIES.of(runtime.database).update_one({"hook": silent, "state": "due"}, {"$set": late})
        note_success(runtime, hook)

    desk.post("Taken.", by="ben")
    with monkeypatch.context() as patch:
        patch.setattr(hooks, "note_success", wait_meanwhile)
        desk.workers.drain()

    assert before == [0]
    assert waiting(desk) == 0
