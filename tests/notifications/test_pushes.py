"""A push message: once, of what its reader has not met, whatever comes twice or crashes."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.identity import Principal
from chalicelib.jobs import resending
from chalicelib.notifications import (
    events,
    inbox,
    personal_data,
    preferences,
    push_rows,
    pushes,
    subscriptions,
)
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.preferences import Preferences
from chalicelib.notifications.push_rows import SUBSCRIPTIONS
from chalicelib.notifications.rows import NotificationItem
from chalicelib.push import sending
from chalicelib.push.sending import PushAnswer
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.crash_points import crash_everywhere
from tests.notifications.support.mailbox import show, tell
from tests.notifications.support.pushing import Desk
from tests.push.support.browser import BrowserStandIn
from tests.push.support.keys import KEYS
from tests.support.clock import Clock
from tests.webhooks.support.receiver import Receiver, running

MINUTE = timedelta(minutes=1)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={**KEYS, "public_url": "http://127.0.0.1:8000"})


@pytest.fixture
def service() -> Iterator[Receiver]:
    with running() as started:
        yield started


@pytest.fixture
def desk(runtime: Runtime, clock: Clock, service: Receiver) -> Desk:
    return Desk(runtime, clock, service)


def test_a_message_comes_a_minute_after_a_notification(desk: Desk) -> None:
    desk.subscribe()
    desk.pass_by(hours=1)
    tell(desk.runtime)
    desk.pass_by(seconds=59)
    assert desk.came() == []
    desk.pass_by(seconds=1)

    ((number, said),) = desk.came()
    tag = said["tag"]
    assert (number, said) == (
        1,
        {
            "kind": "comment.reply",
            "title": "Ben replied to you: Moon",
            "body": "Reply 1.",
            "url": "https://a.example/#plaza-1",
            "tag": tag,
            "lang": "en",
            "dir": "ltr",
        },
    )
    heads = desk.service.calls[0].headers
    assert [heads[each] for each in ("topic", "urgency", "ttl")] == [tag, "normal", "86400"]
    desk.pass_by(days=1)
    assert len(desk.came()) == 1


def test_each_browser_gets_a_message_in_its_language(desk: Desk) -> None:
    for number, language in ((1, "de"), (2, "ar")):
        desk.subscribe(number=number, language=language)
    tell(desk.runtime)
    desk.pass_by(minutes=1)

    found = sorted((number, said["title"], said["dir"]) for number, said in desk.came())
    assert [each[2] for each in found] == ["ltr", "rtl"]
    assert found[0][1] == "Ben hat dir geantwortet: Moon"


@pytest.mark.parametrize("mark", ["seen", "read", "read until", "taken back"])
def test_there_is_no_message_of_what_its_reader_has_met(desk: Desk, mark: str) -> None:
    desk.subscribe()
    tell(desk.runtime)
    desk.clock.advance(seconds=30)
    match mark:
        case "seen":
            inbox.mark_seen(desk.runtime, "ann", desk.runtime.now())
        case "read":
            inbox.mark_read(desk.runtime, "ann", ["ann:1"])
        case "read until":
            inbox.mark_read_until(desk.runtime, "ann", desk.runtime.now())
        case _:
            events.withdraw(desk.runtime, "1")
    desk.pass_by(seconds=30)

    assert desk.came() == []
    assert "next" not in desk.rows()[0]


def test_only_what_the_reader_sees_now_is_in_a_message(desk: Desk) -> None:
    desk.subscribe()
    for number in range(3):
        tell(desk.runtime, str(number))
    desk.clock.advance(minutes=1)

    def one(here: Runtime, reader: Principal, items: Sequence[NotificationItem]) -> Any:
        assert (reader.id, reader.roles) == ("ann", frozenset())
        return {name: each for name, each in show(here, reader, items).items() if name == "ann:1"}

    desk.run(show_to=one)

    assert desk.bodies() == ["Reply 1."]


def test_there_is_no_message_if_its_reader_sees_nothing(desk: Desk) -> None:
    desk.subscribe()
    tell(desk.runtime)
    desk.clock.advance(minutes=1)
    desk.run(show_to=lambda *_: {})

    assert desk.came() == []


def test_several_events_are_one_message(desk: Desk) -> None:
    desk.subscribe()
    for number in range(5):
        tell(desk.runtime, str(number))
        desk.clock.advance(seconds=1)
    desk.pass_by(minutes=1)

    ((_, said),) = desk.came()
    assert said["title"] == "Notifications (5)"
    assert said["body"].count("Ben") == 3
    assert said["url"] == "https://a.example/#plaza-4"


def test_a_later_message_of_the_same_thing_has_its_topic(desk: Desk) -> None:
    desk.subscribe()
    desk.subscribe(number=2)
    for key, group in (("1", "like/post"), ("2", "like/post"), ("3", "like/other"), ("4", None)):
        event = NotificationEvent(
            key=key,
            site="harbour",
            thing="post",
            by="ben",
            at=desk.runtime.now(),
            recipients={"ann": "post.reaction"},
            is_new=True,
            group=group,
        )
        events.agree(desk.runtime, event, desk.runtime.now())
        desk.pass_by(minutes=1)

    topics = [call.headers["topic"] for call in desk.service.calls]
    first, second = topics[::2], topics[1::2]
    assert first[0] == first[1]
    assert len({*first}) == 3
    assert {*first}.isdisjoint(second), "a service compares no browsers by topics"
    assert {call.headers["urgency"] for call in desk.service.calls} == {"low"}


def test_the_same_message_of_the_queue_twice_sends_once(desk: Desk) -> None:
    desk.subscribe()
    tell(desk.runtime)
    desk.pass_by(minutes=1)
    desk.run()
    desk.run()

    assert len(desk.came()) == 1


def test_the_same_event_twice_is_told_once(desk: Desk) -> None:
    desk.subscribe()
    tell(desk.runtime)
    desk.pass_by(minutes=1)
    tell(desk.runtime)
    desk.pass_by(minutes=5)

    assert len(desk.came()) == 1


def test_workers_at_once_send_one_message(desk: Desk) -> None:
    for number in range(1, 5):
        desk.subscribe(f"reader-{number}", number)
        tell(desk.runtime, str(number), f"reader-{number}")
    desk.clock.advance(minutes=1)
    begun = threading.Barrier(4)

    def work() -> None:
        begun.wait()
        desk.run()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(number for number, _ in desk.came()) == [1, 2, 3, 4]


def test_a_crash_anywhere_sends_at_most_one_message_and_loses_no_later_one(
    desk: Desk, runtime: Runtime, mongodb_uri: str
) -> None:
    points, subscription = 0, desk.subscribe().browser.id
    for number in crash_everywhere(
        runtime, mongodb_uri, lambda here: pushes.run(here, show, subscription)
    ):
        points += 1
        desk.pass_by(minutes=3)
        desk.pass_by(minutes=3)
        tell(runtime, f"{number}")
        desk.clock.advance(minutes=1)
    desk.pass_by(minutes=3)

    assert points > 6
    told = desk.bodies()
    assert len(told) == len({*told}), "no event is told twice"
    assert len(told) >= points - 3, "at most a claimed message is lost"
    assert desk.rows()[0].keys().isdisjoint({"next", "due", "leased_until", "taken_by"})


def test_a_message_that_may_have_been_sent_is_never_sent_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.subscribe()
    tell(desk.runtime)
    desk.clock.advance(minutes=1)
    with monkeypatch.context() as patched:
        patched.setattr(pushes, "_settle", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            desk.run()
    desk.pass_by(minutes=5)
    tell(desk.runtime, "2")
    desk.pass_by(minutes=5)

    assert desk.bodies() == ["Reply 1.", "Reply 2."]


def test_an_item_that_is_stored_late_is_in_a_message(desk: Desk, clock: Clock) -> None:
    """Its time is from before its write, and other workers send messages between."""
    desk.subscribe()
    tell(desk.runtime, "1")
    clock.advance(minutes=1)
    risen = desk.runtime.now() - timedelta(seconds=30)
    desk.run()
    clock.time, now = risen, clock.time
    tell(desk.runtime, "2")
    clock.time = now + 2 * MINUTE
    desk.run()

    assert desk.bodies() == ["Reply 1.", "Reply 2."]


@pytest.mark.parametrize("when", ["before the lease", "after it"])
def test_news_while_a_message_is_made_are_in_the_next(desk: Desk, when: str) -> None:
    desk.subscribe()
    tell(desk.runtime, "1")
    desk.clock.advance(seconds=30)
    if when == "before the lease":
        tell(desk.runtime, "2")
    desk.clock.advance(seconds=30)

    def late(here: Runtime, reader: Principal, items: Sequence[NotificationItem]) -> Any:
        if when == "after it":
            tell(desk.runtime, "2")
        return show(here, reader, items)

    desk.run(show_to=late)
    desk.pass_by(minutes=1)

    assert desk.bodies() == ["Reply 1.", "Reply 2."]


def test_an_item_after_the_last_look_leaves_its_row_due(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.subscribe()
    tell(desk.runtime, "1")
    desk.clock.advance(minutes=1)
    work = type(push_rows.WORK)
    finish = work.finish

    def late(*given: Any, **named: Any) -> bool:
        tell(desk.runtime, "2")
        return finish(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(work, "finish", late)
        desk.run()
    desk.pass_by(minutes=1)

    assert desk.bodies() == ["Reply 1.", "Reply 2."]


@pytest.mark.parametrize("status", [404, 410])
def test_a_browser_that_has_left_is_forgotten(desk: Desk, status: int) -> None:
    desk.subscribe()
    desk.service.status = lambda: status
    tell(desk.runtime)
    desk.pass_by(minutes=1)

    assert desk.rows() == []


def test_a_busy_service_is_tried_again_when_it_says(desk: Desk) -> None:
    desk.subscribe()
    desk.service.status, desk.service.headers = (lambda: 429), {"Retry-After": "600"}
    tell(desk.runtime)
    desk.pass_by(minutes=1)
    desk.service.status, desk.service.headers = (lambda: 201), {}
    desk.pass_by(seconds=599)
    assert len(desk.service.calls) == 1
    desk.pass_by(seconds=1)

    assert desk.bodies() == ["Reply 1."] * 2
    assert desk.rows()[0]["tries"] == 0


def test_what_was_read_before_the_next_try_is_not_sent(desk: Desk) -> None:
    desk.subscribe()
    desk.service.status = lambda: 503
    tell(desk.runtime)
    desk.pass_by(minutes=1)
    inbox.mark_read(desk.runtime, "ann", ["ann:1"])
    desk.pass_by(minutes=5)

    assert len(desk.service.calls) == 1


def test_a_service_that_takes_nothing_is_given_up(desk: Desk) -> None:
    desk.subscribe()
    desk.service.status = lambda: 500
    tell(desk.runtime)
    for _ in range(3 * len(pushes.PAUSES)):
        desk.pass_by(hours=8)

    assert len(desk.service.calls) == len(pushes.PAUSES) + 1
    desk.service.status = lambda: 201
    tell(desk.runtime, "2")
    desk.pass_by(minutes=1)
    assert desk.bodies()[-1] == "Reply 2."


def test_a_refused_message_is_not_sent_again(desk: Desk) -> None:
    desk.subscribe()
    desk.service.status = lambda: 403
    tell(desk.runtime)
    desk.pass_by(minutes=1)
    desk.pass_by(hours=1)

    assert len(desk.service.calls) == 1
    assert len(desk.rows()) == 1


def test_a_browser_of_another_key_gets_nothing_until_it_registers_again(desk: Desk) -> None:
    desk.subscribe()
    other = "B" + "A" * 86
    former = {"$set": {"key": other, "p256dh": other}}
    SUBSCRIPTIONS.of(desk.runtime.database).update_many({}, former)
    tell(desk.runtime)
    desk.pass_by(minutes=1)
    assert desk.came() == []
    desk.subscribe()
    tell(desk.runtime, "2")
    desk.pass_by(minutes=1)

    assert desk.bodies() == ["Reply 2."]


def test_a_subscription_keeps_its_key_when_its_browser_tells_it_again(desk: Desk) -> None:
    desk.subscribe()
    SUBSCRIPTIONS.of(desk.runtime.database).update_many({}, {"$set": {"key": "B" + "A" * 86}})
    desk.subscribe()
    tell(desk.runtime)
    desk.pass_by(minutes=1)

    assert desk.came() == []


def test_the_next_person_at_a_browser_gets_nothing_of_the_last(desk: Desk) -> None:
    desk.subscribe("ann")
    tell(desk.runtime, "1", "ann")
    desk.subscribe("bo")
    tell(desk.runtime, "2", "ann")
    tell(desk.runtime, "3", "bo")
    desk.pass_by(minutes=5)

    assert desk.bodies() == ["Reply 3."]
    assert [row["user_id"] for row in desk.rows()] == ["bo"]


def test_a_browser_that_changes_hands_while_a_message_is_made_gets_none(desk: Desk) -> None:
    desk.subscribe("ann")
    tell(desk.runtime)
    desk.clock.advance(minutes=1)

    def change(here: Runtime, reader: Principal, items: Sequence[NotificationItem]) -> Any:
        desk.subscribe("bo")
        return show(here, reader, items)

    desk.run(show_to=change)
    desk.pass_by(minutes=5)

    assert desk.came() == []


def test_two_people_at_one_browser_at_once_leave_one(desk: Desk) -> None:
    begun = threading.Barrier(8)

    def register(who: str) -> None:
        begun.wait()
        subscriptions.register(desk.runtime, who, desk.browser().browser, "en", "UTC")

    threads = [threading.Thread(target=register, args=(f"p{number % 2}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(desk.rows()) == 1


def test_a_browser_that_registers_again_keeps_what_it_is_owed(desk: Desk) -> None:
    desk.subscribe()
    tell(desk.runtime)
    desk.clock.advance(seconds=30)
    desk.subscribe(language="de")
    desk.pass_by(seconds=30)

    ((_, said),) = desk.came()
    assert said["title"] == "Ben hat dir geantwortet: Moon"


def test_a_browser_of_a_claimed_guest_gets_nothing_of_the_account(desk: Desk) -> None:
    desk.subscribe("guest")
    tell(desk.runtime, who="guest")
    for _ in range(2):
        personal_data.give(desk.runtime.database, "harbour", "guest", "ann")
        subscriptions.remove_all(desk.runtime, "guest")
    tell(desk.runtime, "2")
    desk.pass_by(minutes=2)

    assert (desk.bodies(), desk.rows()) == ([], [])


def test_quiet_hours_hold_messages_back_until_their_end(desk: Desk, clock: Clock) -> None:
    clock.time = datetime(2026, 3, 1, 21, 0, tzinfo=UTC)
    desk.subscribe(time_zone="Europe/Berlin")
    wanted = Preferences(frozenset(), {"begin": 22, "end": 7})
    preferences.choose(desk.runtime, "ann", wanted)
    for number in ("1", "2"):
        tell(desk.runtime, number)
    desk.pass_by(minutes=1)
    desk.pass_by(hours=8, minutes=58, seconds=58)
    assert desk.came() == []
    desk.pass_by(seconds=1)

    ((_, said),) = desk.came()
    assert said["title"] == "Notifications (2)"
    assert clock.time == datetime(2026, 3, 2, 6, 0, tzinfo=UTC)


def test_a_kind_that_is_off_for_push_is_in_the_inbox_alone(desk: Desk) -> None:
    desk.subscribe()
    off: Any = frozenset({("push", "comment.reply")})
    preferences.choose(desk.runtime, "ann", Preferences(off, None))
    tell(desk.runtime)
    desk.pass_by(minutes=1)

    assert desk.came() == []
    assert inbox.count(desk.runtime, "ann").unread == 1


def test_a_deployment_without_a_key_wakes_and_sends_nothing(desk: Desk) -> None:
    desk.subscribe()
    off = replace(
        desk.runtime, settings=desk.runtime.settings.model_copy(update={"vapid_public_key": ""})
    )
    tell(off)
    assert "next" not in desk.rows()[0]
    tell(desk.runtime, "2")
    desk.clock.advance(minutes=1)
    before = desk.rows()
    desk.run(off)

    assert (desk.came(), desk.rows()) == ([], before)


def test_the_schedule_sends_the_message_of_each_due_row(
    desk: Desk, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(resending, "log_lag", lambda *_: None)

    def keep(_queues: Any, *messages: Any) -> bool:
        sent.extend(messages)
        return True

    monkeypatch.setattr(type(runtime.queues), "send", keep)
    due = desk.subscribe().browser.id
    desk.subscribe("bo", 2)
    tell(runtime)
    push_rows.send_due(runtime)
    desk.clock.advance(minutes=1)
    push_rows.send_due(runtime)
    push_rows.send_due(runtime)

    assert [each.subscription for each in sent] == [due]


@pytest.mark.parametrize(
    "text", ["a", "é" * 1_000, '"' * 1_000, "\U0001f300" * 1_000, "\u202eevil\x00\n"]
)
def test_a_message_is_small_whatever_people_write(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    sent: list[bytes] = []

    def keep(_here: Runtime, _browser: Any, message: sending.PushMessage) -> PushAnswer:
        sent.append(message.body)
        return PushAnswer("sent", 201)

    monkeypatch.setattr(sending, "send", keep)

    def long(here: Runtime, reader: Principal, items: Sequence[NotificationItem]) -> Any:
        return {
            name: each._replace(
                text=text,
                page_title=text,
                by_name=text[:40],
                permalink="https://a.example/" + "a" * 2_000,
            )
            for name, each in show(here, reader, items).items()
        }

    desk.subscribe()
    for number in range(3):
        tell(desk.runtime, str(number))
        desk.clock.advance(minutes=1)
        desk.run(show_to=long)

    assert len(sent) == 3
    for body in sent:
        assert len(body) <= 3_000
        assert "\u202e" not in body.decode()


def test_due_rows_and_a_persons_browsers_are_found_by_indexes(desk: Desk) -> None:
    rows: Any = SUBSCRIPTIONS.of(desk.runtime.database)
    for number in range(1, 4):
        desk.subscribe(number=number)
    for where in (
        {"due": {"$lte": desk.clock()}},
        {"user_id": {"$in": ["ann"]}},
    ):
        plan = rows.find(where).explain()
        assert "COLLSCAN" not in str(plan["queryPlanner"]["winningPlan"])


def test_a_browser_is_named_by_its_endpoint() -> None:
    one = BrowserStandIn("https://fcm.googleapis.com/a", 1).browser
    assert one.id == BrowserStandIn("https://fcm.googleapis.com/a", 2).browser.id
    assert len(one.id) == 43
