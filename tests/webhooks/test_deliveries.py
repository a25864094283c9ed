"""Receivers that fail, hang, lead astray or go away: each event comes at least once, and signed."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from typing import Any

import pytest
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from chalicelib.webhooks import deliveries, hooks, sending, signatures
from chalicelib.webhooks.rows import DELIVERIES
from tests.support.failing_server import FAILURES, Failure
from tests.support.failing_server import running as running_failing
from tests.webhooks.conftest import ALL, HOOKS, SITE, Desk
from tests.webhooks.support.receiver import Receiver


@pytest.fixture
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for a receiver that never answers."""
    monkeypatch.setattr(sending, "SECONDS", 0.3)


def test_the_standards_own_library_verifies_an_event(desk: Desk, receiver: Receiver) -> None:
    # The library looks at the time of this machine.
    desk.clock.advance(seconds=(datetime.now(UTC) - desk.clock()).total_seconds())
    secret = desk.hook(receiver.url)["secret"]
    desk.post()
    desk.workers.drain()

    (call,) = receiver.calls
    headers = dict(call.headers)
    assert Webhook(secret).verify(call.body, headers) == call.json
    late = str(int(headers["webhook-timestamp"]) + 1)
    other = signatures.new_secret(desk.runtime)
    for key, body, sent in (
        (other, call.body, headers),
        (secret, call.body + b" ", headers),
        (secret, call.body, {**headers, "webhook-id": "another"}),
        (secret, call.body, {**headers, "webhook-timestamp": late}),
    ):
        with pytest.raises(WebhookVerificationError):
            Webhook(key).verify(body, sent)


def test_an_event_is_signed_with_the_secret_that_its_registration_showed(
    desk: Desk, receiver: Receiver
) -> None:
    secret = desk.hook(receiver.url)["secret"]
    desk.post()
    desk.workers.drain()

    (call,) = receiver.calls
    assert call.is_signed_with(secret)
    assert not call.is_signed_with(signatures.new_secret(desk.runtime))
    assert call.headers["webhook-timestamp"] == str(int(desk.clock().timestamp()))
    assert call.headers["content-type"] == "application/json"


def test_both_secrets_sign_for_a_day_after_a_rotation_even_what_was_due_before(
    desk: Desk, receiver: Receiver
) -> None:
    hook = desk.hook(receiver.url)
    receiver.status = lambda: 500
    desk.post()
    desk.workers.drain()
    rotated = desk.publisher.post(f"{HOOKS}/{hook['id']}/secret")
    assert rotated.status == 200
    desk.clock.advance(minutes=2)
    desk.sweep()
    desk.clock.advance(days=1)
    desk.sweep()

    _, both, one = receiver.calls
    assert both.is_signed_with(hook["secret"])
    assert both.is_signed_with(rotated.json["secret"])
    assert one.is_signed_with(rotated.json["secret"])
    assert not one.is_signed_with(hook["secret"])


def test_a_receiver_that_fails_half_the_time_gets_every_event_with_the_same_id_and_body(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook(receiver.url)
    answers = cycle([500, 200])
    receiver.status = lambda: next(answers)
    for number in range(6):
        desk.post(f"Comment {number}.")
    desk.workers.drain()
    for _ in range(6):
        desk.clock.advance(hours=3)
        desk.sweep()

    assert {each["state"] for each in desk.rows()} == {"sent"}
    bodies: dict[str, set[bytes]] = {}
    for call in receiver.calls:
        bodies.setdefault(call.event, set()).add(call.body)
    assert len(bodies) == 6
    assert {len(each) for each in bodies.values()} == {1}


def test_tries_come_at_their_pauses_and_end(desk: Desk, receiver: Receiver) -> None:
    desk.hook(receiver.url)
    receiver.status = lambda: 503
    desk.post()
    desk.workers.drain()
    for number, pause in enumerate(deliveries.PAUSES, start=1):
        (row,) = desk.rows()
        assert (row["tries"], row["next"]) == (number, desk.clock() + pause)
        desk.clock.time = row["next"]
        deliveries.run(desk.runtime, row["_id"])

    (row,) = desk.rows()
    assert (row["state"], row["tries"], row["status"]) == ("failed", 10, 503)
    assert len(receiver.calls) == 10


def test_a_message_before_the_next_try_and_a_second_message_send_nothing(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook(receiver.url)
    answers = iter([500, 200])
    receiver.status = lambda: next(answers)
    desk.post()
    desk.workers.drain()
    (row,) = desk.rows()
    deliveries.run(desk.runtime, row["_id"])
    assert len(receiver.calls) == 1

    desk.clock.advance(seconds=5)
    deliveries.run(desk.runtime, row["_id"])
    deliveries.run(desk.runtime, row["_id"])
    assert len(receiver.calls) == 2


def test_two_workers_at_once_send_an_event_once(desk: Desk, receiver: Receiver) -> None:
    desk.hook(receiver.url)
    desk.post()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deliveries, "run", lambda *_: None)
        desk.workers.drain()
    (row,) = desk.rows()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: deliveries.run(desk.runtime, row["_id"]), range(8)))

    assert len(receiver.calls) == 1


def test_a_crash_between_the_post_and_its_note_sends_the_event_again(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook(receiver.url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deliveries, "_settle", lambda *_: 1 / 0)
        desk.post()
        desk.workers.drain()
    assert len(receiver.calls) >= 1
    (row,) = desk.rows()
    assert row["state"] == "due"

    desk.clock.advance(minutes=20)
    desk.sweep()

    assert [each["state"] for each in desk.rows()] == ["sent"]
    assert len({each.event for each in receiver.calls}) == 1


@pytest.mark.usefixtures("_hasty")
@pytest.mark.parametrize("failure", [each for each in FAILURES if each != "is slow"])
def test_a_receiver_that_gives_no_answer_is_tried_again_and_gets_a_minutes_quiet(
    desk: Desk, failure: Failure, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_failing(failure, monkeypatch) as server:
        desk.hook(server.url)
        desk.post()
        desk.post("Another.", by="ben")
        desk.workers.drain()

    rows = desk.rows()
    assert sorted(each["tries"] for each in rows) == [0, 1]
    assert [each["state"] for each in rows] == ["due", "due"]
    assert {each["status"] for each in rows} == {None}
    assert max(each["next"] for each in rows) == desk.clock() + deliveries.QUIET


def test_a_receiver_that_hangs_holds_up_no_other_site(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough for the other receiver on a busy machine.
    monkeypatch.setattr(sending, "SECONDS", 3)
    with running_failing("hangs", monkeypatch) as server:
        desk.hook(server.url)
        desk.hook(receiver.url)
        for number in range(8):
            desk.post(f"Comment {number}.")
        desk.workers.drain()
        assert server.connections == 1

    assert len(receiver.calls) == 8


@pytest.fixture
def nine_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each call take nine seconds."""
    times = count(0, 9)
    monkeypatch.setattr(deliveries, "monotonic", lambda: next(times))


@pytest.mark.usefixtures("nine_seconds")
def test_the_slow_receivers_of_a_site_have_one_worker(desk: Desk, receiver: Receiver) -> None:
    for _ in range(2):
        desk.hook(receiver.url)
    for number in range(5):
        desk.post(f"Comment {number}.")
    desk.workers.drain()
    began = desk.clock()

    # A minute for a start: seven calls of nine seconds.
    assert len(receiver.calls) == 7
    assert {each["next"] for each in desk.rows() if each["state"] == "due"} == {
        began + timedelta(seconds=63)
    }
    desk.clock.advance(seconds=64)
    desk.sweep()

    assert [each["state"] for each in desk.rows()] == ["sent"] * 10
    assert len(receiver.calls) == 10


@pytest.mark.usefixtures("nine_seconds")
def test_a_slow_receiver_holds_up_no_other_site(desk: Desk, receiver: Receiver) -> None:
    desk.hook(receiver.url)
    for number in range(9):
        desk.post(f"Comment {number}.")
    desk.workers.drain()
    assert len(receiver.calls) == 7

    other = desk.client.as_("rita", roles=["publisher"], sites=["reef"])
    hook = other.post("/sites/reef/webhooks", url=receiver.url, kinds=ALL).json
    assert other.post(f"/sites/reef/webhooks/{hook['id']}/trials").status == 202
    desk.workers.drain()

    assert len(receiver.calls) == 8


@pytest.mark.usefixtures("_hasty")
def test_of_workers_at_once_one_tries_a_receiver_after_its_quiet(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_failing("hangs", monkeypatch) as server:
        hook = desk.hook(server.url)["id"]
        now = desk.clock()
        desk.fail_since(hook, now - timedelta(hours=8), now)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(deliveries, "run", lambda *_: None)
            for number in range(8):
                desk.post(f"Comment {number}.")
            desk.workers.drain()
        ids = [each["_id"] for each in desk.rows()]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda each: deliveries.run(desk.runtime, each), ids))

        assert server.connections == 1
    waits = [each["next"] - now for each in desk.rows() if not each["tries"]]
    # An eighth of the time of its failures, after the quiet.
    assert waits == [timedelta(hours=1, minutes=1)] * 7


def test_what_waits_for_a_receiver_waits_two_hours_at_most_and_a_trial_a_minute(
    desk: Desk, receiver: Receiver
) -> None:
    hook, now = desk.hook(receiver.url)["id"], desk.clock()
    desk.fail_since(hook, now - timedelta(days=4), now + timedelta(seconds=30))
    desk.post()
    assert desk.publisher.post(f"{HOOKS}/{hook}/trials").status == 202
    desk.workers.drain()

    assert receiver.calls == []
    waits = {each["kind"]: each["next"] - now for each in desk.rows()}
    assert waits == {
        "comment.created": timedelta(hours=2, minutes=1),
        "webhook.trial": timedelta(minutes=1),
    }


def test_what_waits_for_a_receiver_comes_soon_after_its_first_answer(
    desk: Desk, receiver: Receiver
) -> None:
    hook, now = desk.hook(receiver.url)["id"], desk.clock()
    desk.fail_since(hook, now - timedelta(days=4), now + timedelta(seconds=30))
    for number in range(8):
        desk.post(f"Comment {number}.")
    desk.workers.drain()
    desk.clock.advance(minutes=1)
    desk.post("Another.", by="ben")
    desk.workers.drain()
    assert len(receiver.calls) == 1
    desk.sweep()

    assert [each["state"] for each in desk.rows()] == ["sent"] * 9


def test_one_that_was_tried_keeps_its_pause_when_a_receiver_answers(
    desk: Desk, receiver: Receiver
) -> None:
    hook, now = desk.hook(receiver.url)["id"], desk.clock()
    answers = iter([500, 200])
    receiver.status = lambda: next(answers)
    desk.post()
    desk.workers.drain()
    desk.fail_since(hook, now - timedelta(days=4), now)
    desk.post("Another.", by="ben")
    desk.workers.drain()

    waits = [each["next"] for each in desk.rows() if each["state"] == "due"]
    assert waits == [now + deliveries.PAUSES[0]]


@pytest.mark.usefixtures("_hasty")
def test_an_endless_answer_ends_and_counts_as_none(desk: Desk, receiver: Receiver) -> None:
    def write_on(stream: Any) -> None:
        while True:
            stream.write(b"x" * 4096)

    desk.hook(receiver.url)
    receiver.status = lambda: 200
    receiver.write = write_on
    desk.post()
    desk.workers.drain()

    (row,) = desk.rows()
    assert (row["state"], row["status"]) == ("due", None)


def test_a_redirect_is_not_followed(desk: Desk, receiver: Receiver) -> None:
    desk.hook(receiver.url)
    receiver.status = lambda: 307
    receiver.headers = {"Location": "http://127.0.0.1:27017/"}
    desk.post()
    desk.workers.drain()

    (row,) = desk.rows()
    assert (row["state"], row["status"], len(receiver.calls)) == ("due", 307, 1)


def test_a_receiver_that_answers_410_gets_nothing_more(desk: Desk, receiver: Receiver) -> None:
    hook = desk.hook(receiver.url)
    receiver.status = lambda: 410
    desk.post()
    desk.post("Another.", by="ben")
    desk.workers.drain()
    desk.post("A third.", by="cleo")
    desk.workers.drain()

    assert len(receiver.calls) == 1
    assert {each["state"] for each in desk.rows()} == {"failed"}
    (shown,) = desk.publisher.get(HOOKS).json["webhooks"]
    assert shown["state"] == "gone"

    receiver.status = lambda: 200
    assert desk.publisher.patch(f"{HOOKS}/{hook['id']}", state="on").status == 200
    desk.clock.advance(seconds=6)
    desk.post("A fourth.", by="dora")
    desk.workers.drain()
    assert len(receiver.calls) == 2


def test_a_receiver_that_takes_nothing_for_five_days_is_switched_off(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook(receiver.url)
    receiver.status = lambda: 500
    for day in range(7):
        desk.post(f"Day {day}.")
        desk.workers.drain()
        desk.clock.advance(days=1)
        desk.sweep()

    (shown,) = desk.publisher.get(HOOKS).json["webhooks"]
    assert shown["state"] == "failing"
    desk.clock.advance(seconds=6)
    before = len(receiver.calls)
    desk.post("Later.", by="ben")
    desk.workers.drain()
    assert len(receiver.calls) == before


@pytest.mark.parametrize(("status", "state"), [(500, "on"), (410, "gone")])
def test_a_failure_that_began_before_a_success_ends_a_hook_only_if_its_receiver_is_gone(
    desk: Desk, receiver: Receiver, status: int, state: str
) -> None:
    hook = desk.hook(receiver.url)["id"]
    desk.fail_since(hook, desk.clock() - timedelta(days=6))

    def fail_late() -> int:
        # Meanwhile the receiver takes another event.
        hooks.note_success(desk.runtime, hooks.find(desk.runtime, SITE, hook))
        return status

    receiver.status = fail_late
    desk.post()
    desk.workers.drain()

    assert len(receiver.calls) == 1
    (shown,) = desk.publisher.get(HOOKS).json["webhooks"]
    assert shown["state"] == state


def test_a_success_forgets_earlier_failures(desk: Desk, receiver: Receiver) -> None:
    desk.hook(receiver.url)
    receiver.status = lambda: 500
    desk.post()
    desk.workers.drain()
    (failing,) = desk.publisher.get(HOOKS).json["webhooks"]
    assert failing["failing_since"] is not None
    receiver.status = lambda: 200
    desk.clock.advance(minutes=6)
    desk.sweep()

    (shown,) = desk.publisher.get(HOOKS).json["webhooks"]
    assert shown["failing_since"] is None


def test_another_address_begins_without_the_failures_of_the_former_one(
    desk: Desk, receiver: Receiver
) -> None:
    path = f"{HOOKS}/{desk.hook(receiver.url)['id']}"
    receiver.status = lambda: 500
    desk.post()
    desk.workers.drain()
    desk.clock.advance(days=6)
    unchanged = desk.publisher.patch(path, url=receiver.url).json
    assert unchanged["failing_since"] is not None

    moved = desk.publisher.patch(path, url=f"{receiver.url}/new").json
    assert moved["failing_since"] is None
    desk.sweep()
    (shown,) = desk.publisher.get(HOOKS).json["webhooks"]
    assert shown["state"] == "on", "one failure of a receiver ends no hook"
    assert shown["failing_since"] is not None


def test_a_change_of_nothing_leaves_a_hook_as_it_is(desk: Desk, receiver: Receiver) -> None:
    hook = desk.hook(receiver.url)

    reply = desk.publisher.patch(f"{HOOKS}/{hook['id']}")

    assert reply.status == 200
    (shown,) = desk.publisher.get(HOOKS).json["webhooks"]
    assert reply.json == shown


def test_another_address_gets_events_at_once_though_the_former_one_did_not_answer(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_failing("refuses", monkeypatch) as server:
        path = f"{HOOKS}/{desk.hook(server.url)['id']}"
        desk.post()
        desk.workers.drain()
    assert desk.publisher.patch(path, url=receiver.url).status == 200
    desk.publisher.post(f"{path}/trials")
    desk.workers.drain()

    assert len(receiver.calls) == 1


def test_a_hook_that_is_removed_while_an_event_is_due_gets_nothing(
    desk: Desk, receiver: Receiver
) -> None:
    hook = desk.hook(receiver.url)
    receiver.status = lambda: 500
    desk.post()
    desk.workers.drain()
    (row,) = desk.rows()
    assert desk.publisher.delete(f"{HOOKS}/{hook['id']}").status == 204
    assert desk.rows() == []
    # A worker with the hooks of a moment ago makes one more.
    DELIVERIES.of(desk.runtime.database).insert_one(row)
    desk.clock.advance(minutes=6)
    deliveries.run(desk.runtime, row["_id"])

    assert desk.rows() == []
    assert len(receiver.calls) == 1


def test_what_is_due_while_a_hook_is_off_fails_and_can_be_replayed(
    desk: Desk, receiver: Receiver
) -> None:
    hook = desk.hook(receiver.url)
    path = f"{HOOKS}/{hook['id']}"
    receiver.status = lambda: 500
    desk.post()
    desk.workers.drain()
    assert desk.publisher.patch(path, state="off").status == 200
    desk.clock.advance(minutes=6)
    desk.sweep()
    (shown,) = desk.publisher.get(f"{path}/deliveries").json["deliveries"]
    assert (shown["state"], shown["due_at"]) == ("failed", None)

    receiver.status = lambda: 200
    assert desk.publisher.patch(path, state="on").status == 200
    again = desk.publisher.post(f"{path}/deliveries/{shown['id']}/replay")
    assert again.status == 202
    desk.workers.drain()

    (shown,) = desk.publisher.get(f"{path}/deliveries").json["deliveries"]
    assert (shown["state"], shown["status"], shown["tries"]) == ("sent", 200, 1)
    first, second = receiver.calls
    assert (first.event, first.body) == (second.event, second.body)
