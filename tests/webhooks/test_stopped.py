"""A hook that Plaza switches off: its publisher hears of it once, and an alarm has its number."""

import logging
from contextlib import suppress
from typing import Any

import pytest

from chalicelib.identity import Principal
from chalicelib.notifications import events
from chalicelib.notifications.rows import ITEMS, NotificationItem
from chalicelib.people import jobs as people_jobs
from chalicelib.people.jobs import EraseLate
from chalicelib.webhooks import hooks, jobs, notifications
from chalicelib.webhooks.rows import HOOKS, Hook
from chalicelib.wiring.people import PEOPLE
from tests.shop.support.knife import Cut, Edge, cut
from tests.shop.support.threads import in_threads
from tests.webhooks.conftest import HOOKS as PATH
from tests.webhooks.conftest import SITE, Desk
from tests.webhooks.support.receiver import Receiver


def gone(desk: Desk, receiver: Receiver) -> str:
    """Have a hook end by an answer of 410; return its id."""
    hook = desk.hook(f"{receiver.url}/secret-path")["id"]
    receiver.status = lambda: 410
    desk.post()
    desk.workers.drain()
    assert hook_of(desk, hook)["state"] == "gone"
    return str(hook)


def hook_of(desk: Desk, hook: str) -> Hook:
    found = HOOKS.of(desk.runtime.database).find_one({"_id": hook})
    assert found is not None
    return found


def tend(desk: Desk) -> None:
    desk.clock.advance(minutes=1)
    jobs.resend_overdue(desk.runtime)
    desk.workers.drain()


def told(desk: Desk, who: str = "paul") -> list[dict[str, Any]]:
    found = desk.client.as_(who).get("/notifications").json["notifications"]
    assert isinstance(found, list)
    return found


def items(desk: Desk) -> list[NotificationItem]:
    return list(ITEMS.of(desk.runtime.database).find())


def test_a_publisher_hears_once_that_a_receiver_is_gone(desk: Desk, receiver: Receiver) -> None:
    hook = gone(desk, receiver)
    for _ in range(2):
        tend(desk)

    (shown,) = told(desk)
    assert (shown["kind"], shown["by"], shown["site"]) == ("webhook.stopped", None, SITE)
    # The host alone: the rest of an address may be a secret.
    assert shown["page"] == {"id": hook, "title": "127.0.0.1", "url": ""}
    assert "secret-path" not in str(shown)
    assert "stopped" not in hook_of(desk, hook)


def test_five_days_of_failures_are_told_at_their_end(desk: Desk, receiver: Receiver) -> None:
    desk.hook(receiver.url)
    receiver.status = lambda: 500
    for day in range(7):
        assert told(desk) == [] or day > 5
        desk.post(f"Day {day}.")
        desk.workers.drain()
        desk.clock.advance(days=1)
        tend(desk)
    tend(desk)

    assert len(told(desk)) == 1


def test_a_hook_that_its_publisher_switches_off_or_removes_is_not_told(
    desk: Desk, receiver: Receiver
) -> None:
    hook = desk.hook(receiver.url)["id"]
    assert (
        desk.publisher.request(
            "PATCH",
            f"{PATH}/{hook}",
            body=b'{"state": "off"}',
            headers={"Content-Type": "application/json"},
        ).status
        == 200
    )
    tend(desk)

    assert items(desk) == []


def test_a_hook_that_is_on_again_is_no_more_in_the_inbox_and_ends_anew(
    desk: Desk, receiver: Receiver
) -> None:
    hook = gone(desk, receiver)
    tend(desk)
    hooks.change(desk.runtime, SITE, hook, {"state": "on"})
    assert told(desk) == []

    desk.clock.advance(seconds=6)
    desk.post("Again.", by="ben")
    desk.workers.drain()
    tend(desk)

    assert len({each["id"] for each in told(desk)}) == len(items(desk)) == 2


def test_a_hook_is_shown_to_its_publisher_alone(desk: Desk, receiver: Receiver) -> None:
    hook = gone(desk, receiver)
    tend(desk)

    for who, role in (("petra", "publisher"), ("admin", "admin")):
        reader = Principal(id=who, name="", roles=frozenset({role}), sites=frozenset({SITE}))
        assert notifications.show(desk.runtime, reader, items(desk)) == {}
    hooks.remove(desk.runtime, SITE, hook)
    assert told(desk) == []


def test_a_hook_of_an_earlier_release_has_no_publisher_and_is_counted(
    desk: Desk, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    hook = gone(desk, receiver)
    HOOKS.of(desk.runtime.database).update_one({"_id": hook}, {"$unset": {"by": ""}})

    with caplog.at_level(logging.WARNING):
        tend(desk)

    (line,) = [each for each in caplog.records if each.message == "webhook stopped"]
    fields = line.__dict__["fields"]
    assert fields == {"hook": hook, "site": SITE, "state": "gone", "webhooks_stopped": 1}
    assert items(desk) == []


@pytest.mark.parametrize("edge", ["before", "after"])
def test_a_schedule_that_dies_at_any_write_tells_once(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, edge: Edge
) -> None:
    gone(desk, receiver)
    for at in range(6):
        with suppress(Cut), cut(monkeypatch, at, edge) as knife:
            notifications.report_ends(desk.runtime)
        if knife.writes <= at:
            break
    else:
        pytest.fail("the schedule never ended")

    assert len(items(desk)) == 1


def test_a_worker_that_dies_after_the_answer_loses_no_news(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.hook(receiver.url)
    receiver.status = lambda: 410
    desk.post()
    with suppress(Cut), monkeypatch.context() as patch:
        patch.setattr(hooks.listening, "forget", _die)
        desk.workers.drain()
    tend(desk)

    assert len(told(desk)) == 1


def _die(*_: object) -> None:
    raise Cut


def test_schedules_at_once_tell_once(desk: Desk, receiver: Receiver) -> None:
    gone(desk, receiver)

    in_threads(lambda _: notifications.report_ends(desk.runtime), 8)

    assert len(items(desk)) == 1


def test_a_publisher_who_is_erased_leaves_the_hook_and_no_item(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = gone(desk, receiver)
    agree, ends = events.agree, []

    def erased_first(*given: Any) -> None:
        desk.clock.advance(seconds=1)
        people_jobs.erase(desk.runtime, PEOPLE, "paul")
        ends.append(desk.runtime.now())
        desk.clock.advance(seconds=1)
        agree(*given)

    monkeypatch.setattr(events, "agree", erased_first)
    tend(desk)
    people_jobs.run(desk.runtime, PEOPLE, EraseLate(user_id="paul", until=ends[0]))

    assert items(desk) == []
    assert hook_of(desk, hook).get("by", "") is None
