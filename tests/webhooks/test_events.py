"""What a receiver hears of comments: each event once, whatever becomes of messages and workers."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.comments import jobs as comment_jobs
from chalicelib.comments import nodes
from chalicelib.comments import webhooks as comment_webhooks
from chalicelib.comments.stores import ask
from chalicelib.comments.writing import decisions
from chalicelib.messaging import Queues
from chalicelib.notifications.events import Notify
from chalicelib.webhooks import deliveries, events
from chalicelib.webhooks.rows import DELIVERIES, TOLD
from tests.comments.support.flagging import know
from tests.webhooks.conftest import ALL, COMMENTS, HOOKS, NODE, SITE, Desk
from tests.webhooks.support.receiver import Receiver

WORKERS = 8


def silence(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Queues, "send", lambda _queues, *_messages: False)


def test_the_life_of_a_comment_is_told_in_its_order(desk: Desk, receiver: Receiver) -> None:
    desk.hook(receiver.url)
    comment = desk.post()
    desk.workers.drain()
    own = desk.client.as_("ann", name="Ann")
    assert own.patch(f"{COMMENTS}/{comment}", text="The moon is down.").status == 200
    desk.workers.drain()
    assert desk.client.as_("ben").put(f"{COMMENTS}/{comment}/flag", reason="spam").status == 204
    desk.workers.drain()
    desk.set_state(comment, "hidden")
    desk.workers.drain()
    assert own.delete(f"{COMMENTS}/{comment}").status == 204
    desk.workers.drain()

    told = ["created", "edited", "flagged", "state_changed", "deleted"]
    assert receiver.kinds == [f"comment.{name}" for name in told]
    states = [each.json["data"]["state"] for each in receiver.calls]
    assert states == ["visible", "visible", "visible", "hidden", "deleted"]
    assert len({each.event for each in receiver.calls}) == len(told)


def test_an_event_names_the_comment_and_no_person(desk: Desk, receiver: Receiver) -> None:
    desk.hook(receiver.url)
    comment = desk.post("A text by Ann.")
    desk.workers.drain()

    (call,) = receiver.calls
    assert call.path == "/hook?of=plaza"
    assert call.json == {
        "type": "comment.created",
        "timestamp": "2026-03-01T12:00:06.000Z",
        "data": {
            "id": comment,
            "site": SITE,
            "node_id": NODE,
            "parent_id": None,
            "state": "visible",
            "posted_at": "2026-03-01T12:00:06.000Z",
            "permalink": f"https://a.example/moon#plaza-{comment}",
        },
    }
    stored = str(desk.rows()) + str(list(TOLD.of(desk.runtime.database).find()))
    assert "ann" not in stored
    assert "Ann" not in stored


def test_a_held_comment_is_told_as_held_and_again_when_it_is_shown(
    desk: Desk, receiver: Receiver
) -> None:
    admin = desk.client.as_("admin", roles=["admin"])
    assert admin.put(f"/sites/{SITE}/comments/settings", moderation="before").status == 200
    desk.hook(receiver.url)
    comment = desk.post()
    desk.workers.drain()
    desk.set_state(comment, "visible")
    desk.workers.drain()

    assert receiver.kinds == ["comment.created", "comment.state_changed"]
    assert [each.json["data"]["state"] for each in receiver.calls] == ["pending", "visible"]


def test_a_hook_gets_the_kinds_that_it_chose(desk: Desk, receiver: Receiver) -> None:
    desk.hook(receiver.url, ["comment.state_changed"])
    comment = desk.post()
    desk.workers.drain()
    desk.set_state(comment, "hidden")
    desk.workers.drain()

    assert receiver.kinds == ["comment.state_changed"]


def test_of_a_comment_from_before_the_hook_the_change_is_told_and_no_creation(
    desk: Desk, receiver: Receiver
) -> None:
    comments = [desk.post(f"Comment {n}.") for n in range(4)]
    desk.clock.advance(minutes=2)
    desk.hook(receiver.url)
    hidden, edited, flagged, deleted = comments
    desk.set_state(hidden, "hidden")
    own = desk.client.as_("ann", name="Ann")
    assert own.patch(f"{COMMENTS}/{edited}", text="The moon is down.").status == 200
    assert desk.client.as_("ben").put(f"{COMMENTS}/{flagged}/flag", reason="spam").status == 204
    assert own.delete(f"{COMMENTS}/{deleted}").status == 204
    desk.workers.drain()

    told = {each.json["data"]["id"]: each.json["type"] for each in receiver.calls}
    assert told == {
        hidden: "comment.state_changed",
        edited: "comment.edited",
        flagged: "comment.flagged",
        deleted: "comment.deleted",
    }


def test_a_comment_of_before_the_hook_that_a_check_shows_has_changed(
    desk: Desk, receiver: Receiver
) -> None:
    """No moderator has acted on it."""
    admin = desk.client.as_("admin", roles=["admin"])
    assert admin.put(f"/sites/{SITE}/comments/settings", moderation="before").status == 200
    comment = desk.post()
    desk.clock.advance(minutes=2)
    desk.hook(receiver.url)
    node = nodes.find(desk.runtime.database, NODE)
    found = ask(desk.runtime, node, lambda store, current: store.get(current, comment))
    assert found is not None

    assert decisions.conclude(desk.runtime, node, found, {"state": "visible", "reasons": []})
    desk.workers.drain()

    assert receiver.kinds == ["comment.state_changed"]


def test_a_flag_that_moderators_do_not_see_is_no_event(desk: Desk, receiver: Receiver) -> None:
    comment = desk.post()
    desk.clock.advance(minutes=2)
    desk.hook(receiver.url)
    know(desk.runtime, "ben", SITE, visible=9, flags_wrong=3)

    assert desk.client.as_("ben").put(f"{COMMENTS}/{comment}/flag", reason="spam").status == 204
    desk.clock.advance(hours=1)
    comment_jobs.run_due(desk.runtime)
    desk.workers.drain()

    assert receiver.kinds == []


@pytest.mark.parametrize("seed", range(3))
def test_messages_thrice_and_shuffled_by_workers_at_once_tell_each_event_once(
    desk: Desk, receiver: Receiver, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.hook(receiver.url)
    sent: list[Any] = []

    def keep(_queues: Queues, *messages: Any) -> bool:
        sent.extend(messages)
        return True

    monkeypatch.setattr(Queues, "send", keep)
    comments = [desk.post(f"Comment {n}.") for n in range(6)]
    for comment in comments[:3]:
        desk.set_state(comment, "hidden")
    work = [each for each in sent if isinstance(each, Notify)] * 3
    random.Random(seed).shuffle(work)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda message: comment_webhooks.run(desk.runtime, message), work))

    assert sorted(each["kind"] for each in desk.rows()) == ["comment.created"] * 6


def test_a_state_that_a_slow_worker_read_before_a_change_is_told_by_nobody(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers see different states; the later state is the last that is told."""
    desk.hook(receiver.url)
    comment = desk.post()
    desk.workers.drain()
    desk.set_state(comment, "hidden")
    note = events._note
    races = iter([True])

    def note_late(*given: Any) -> Any:
        if next(races, False):
            # Between the reading of this worker and its write, another tells of a later state.
            desk.set_state(comment, "visible")
            desk.set_state(comment, "spam")
            comment_webhooks.run(desk.runtime, Notify(comment=f"{NODE}/{comment}"))
        return note(*given)

    monkeypatch.setattr(events, "_note", note_late)
    comment_webhooks.run(desk.runtime, Notify(comment=f"{NODE}/{comment}"))
    monkeypatch.undo()
    desk.workers.drain()

    assert receiver.kinds == ["comment.created", "comment.state_changed"]
    assert receiver.calls[-1].json["data"]["state"] == "spam"


def test_a_crash_between_the_note_and_the_deliveries_loses_no_event(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook(receiver.url)
    with pytest.MonkeyPatch.context() as patch:
        silence(patch)
        comment = desk.post()
        patch.setattr(deliveries, "make", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            comment_webhooks.run(desk.runtime, Notify(comment=f"{NODE}/{comment}"))
    assert desk.rows() == []

    desk.clock.advance(minutes=20)
    comment_jobs.run_due(desk.runtime)
    desk.workers.drain()

    assert receiver.kinds == ["comment.created"]


def moved_elsewhere(desk: Desk, receiver: Receiver) -> None:
    """Move the discussion to another site, which has a hook too."""
    olga = desk.client.as_("olga", roles=["publisher"], sites=["elsewhere"])
    url = f"{receiver.url}&at=elsewhere"
    assert olga.post("/sites/elsewhere/webhooks", url=url, kinds=ALL).status == 201
    desk.clock.advance(seconds=6)
    admin = desk.client.as_("admin", roles=["admin"])
    assert admin.post(f"/nodes/{NODE}/move", to="elsewhere:moon").status == 200


def test_after_a_move_to_another_site_its_hooks_alone_hear_of_a_comment(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook(receiver.url)
    comment = desk.post()
    desk.workers.drain()
    moved_elsewhere(desk, receiver)
    mo = desk.client.as_("mo", roles=["moderator"], sites=["elsewhere"])
    for state in ("hidden", "visible"):
        path = f"/nodes/elsewhere:moon/comments/{comment}/state"
        assert mo.post(path, state=state).status == 200
        desk.workers.drain()

    first, *later = receiver.calls
    assert (first.path, first.json["data"]["site"]) == ("/hook?of=plaza", SITE)
    assert [each.path for each in later] == ["/hook?of=plaza&at=elsewhere"] * 2
    assert {each.json["data"]["site"] for each in later} == {"elsewhere"}


def test_what_a_comment_owes_before_a_move_goes_to_the_site_where_it_happened(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook(receiver.url)
    with pytest.MonkeyPatch.context() as patch:
        silence(patch)
        comment = desk.post()
        patch.setattr(deliveries, "make", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            comment_webhooks.run(desk.runtime, Notify(comment=f"{NODE}/{comment}"))
    moved_elsewhere(desk, receiver)
    comment_webhooks.run(desk.runtime, Notify(comment=f"elsewhere:moon/{comment}"))
    desk.workers.drain()

    (call,) = receiver.calls
    assert (call.path, call.json["type"]) == ("/hook?of=plaza", "comment.created")


@pytest.mark.parametrize("change", ["post", "state", "flag"])
def test_what_a_lost_message_would_have_told_is_told_by_the_schedule(
    desk: Desk, receiver: Receiver, change: str
) -> None:
    desk.hook(receiver.url)
    comment = desk.post()
    if change != "post":
        # The entry owes nothing of its post any more.
        desk.workers.drain()
        desk.clock.advance(minutes=20)
        comment_jobs.run_due(desk.runtime)
        receiver.calls.clear()
    with pytest.MonkeyPatch.context() as patch:
        silence(patch)
        if change == "post":
            comment = desk.post("Another.", by="ben")
        elif change == "state":
            desk.set_state(comment, "hidden")
        else:
            assert (
                desk.client.as_("ben").put(f"{COMMENTS}/{comment}/flag", reason="spam").status
                == 204
            )
    desk.workers.drain()
    before = len(receiver.calls)

    desk.clock.advance(minutes=20)
    comment_jobs.run_due(desk.runtime)
    desk.workers.drain()

    assert len(receiver.calls) == before + 1
    assert receiver.calls[-1].json["data"]["id"] == comment


def test_a_sweep_after_all_was_told_tells_nothing(desk: Desk, receiver: Receiver) -> None:
    desk.hook(receiver.url)
    desk.post()
    desk.workers.drain()
    desk.clock.advance(minutes=20)
    comment_jobs.run_due(desk.runtime)
    desk.workers.drain()

    assert receiver.kinds == ["comment.created"]


def test_no_id_of_an_event_returns_after_what_was_told_has_expired(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook(receiver.url)
    comment = desk.post()
    for state in ("hidden", "visible"):
        desk.set_state(comment, state)
        desk.workers.drain()
        TOLD.of(desk.runtime.database).delete_many({})
        desk.clock.advance(days=31)

    changed = [each.event for each in receiver.calls if each.json["type"] != "comment.created"]
    assert len(set(changed)) == len(changed)


def test_a_site_without_hooks_sends_no_message_and_stores_nothing(
    desk: Desk, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = desk.hook(receiver.url)
    assert desk.publisher.delete(f"{HOOKS}/{hook['id']}").status == 204
    desk.clock.advance(seconds=6)
    sent: list[Any] = []

    def keep(_queues: Queues, *messages: Any) -> bool:
        sent.extend(messages)
        return True

    monkeypatch.setattr(Queues, "send", keep)
    comment = desk.post()
    desk.set_state(comment, "hidden")

    assert [each for each in sent if isinstance(each, Notify)] == []
    assert TOLD.of(desk.runtime.database).count_documents({}) == 0


def test_an_erased_person_is_in_no_row_and_their_comments_are_told_as_deleted(
    desk: Desk, receiver: Receiver
) -> None:
    desk.hook(receiver.url)
    comment = desk.post()
    desk.workers.drain()
    assert desk.client.as_("ann").delete("/users/me").status in {202, 204}
    desk.workers.drain()

    assert "ann" not in str(list(DELIVERIES.of(desk.runtime.database).find()))
    desk.clock.advance(minutes=20)
    comment_jobs.run_due(desk.runtime)
    desk.workers.drain()
    assert receiver.kinds == ["comment.created", "comment.deleted"]
    assert receiver.calls[-1].json["data"]["id"] == comment
