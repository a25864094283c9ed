"""A letter of notifications: once, of what is new, whatever comes twice or crashes."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.identity import Principal
from chalicelib.limits import DIGESTS
from chalicelib.mail import letters
from chalicelib.notifications import digests, events, inbox, mailing
from chalicelib.notifications.inbox import ShownThing
from chalicelib.notifications.mailing import MAILINGS
from chalicelib.notifications.rows import NotificationItem
from chalicelib.runtime import Runtime
from deploy import restored
from deploy.replay import Replay
from tests.comments.support.crash_points import crash_everywhere
from tests.notifications.support.mailbox import (
    ANN,
    run,
    show,
    state_of,
    tell,
    turn_on,
    written,
)
from tests.support.clock import Clock
from tests.support.commands import Commands


def subjects(runtime: Runtime) -> list[str]:
    return [each["subject"] for each in written(runtime)]


def test_a_letter_comes_five_minutes_after_a_notification(runtime: Runtime, clock: Clock) -> None:
    turn_on(runtime)
    clock.advance(hours=1)
    assert run(runtime) == 0
    tell(runtime)
    clock.advance(minutes=4, seconds=59)
    assert run(runtime) == 0
    clock.advance(seconds=1)

    assert run(runtime) == 1
    (letter,) = written(runtime)
    assert (letter["to"], letter["subject"]) == (ANN, "Ben replied to you: Moon")
    assert letter["stop_url"].startswith("https://plaza.example/notifications/mail/stop?token=")
    for part in ("text", "html"):
        assert "Reply 1." in letter[part]
        assert "https://a.example/#plaza-1" in letter[part]
    clock.advance(hours=1)
    assert run(runtime) == 0


def test_a_restore_sends_no_letter_again(runtime: Runtime, clock: Clock) -> None:
    """The letter's id is of its end, which another run of the schedule chooses anew."""
    turn_on(runtime)
    clock.advance(hours=1)
    tell(runtime)
    point, before = clock(), list(MAILINGS.of(runtime.database).find())
    clock.advance(minutes=5)
    assert run(runtime) == 1
    for row in before:
        MAILINGS.of(runtime.database).replace_one({"_id": row["_id"]}, row)
    clock.advance(hours=1)

    done = restored.restore(runtime, point, Replay(), refunds=False)

    assert done.skipped == 1
    assert run(runtime) == 0
    assert len(written(runtime)) == 1
    clock.advance(seconds=1)
    tell(runtime, "2")
    clock.advance(minutes=6)
    again = restored.restore(runtime, point, Replay(), refunds=False)
    assert (again.skipped, run(runtime)) == (0, 1)


@pytest.mark.parametrize("mark", ["seen", "read", "read until"])
def test_there_is_no_letter_of_what_its_reader_has_met(
    runtime: Runtime, clock: Clock, mark: str
) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime)
    clock.advance(minutes=2)
    match mark:
        case "seen":
            inbox.mark_seen(runtime, "ann", runtime.now())
        case "read":
            inbox.mark_read(runtime, "ann", ["ann:1"])
        case _:
            inbox.mark_read_until(runtime, "ann", runtime.now())
    clock.advance(minutes=3)

    assert run(runtime) == 0
    assert written(runtime) == []


def test_a_row_rests_until_there_is_news(runtime: Runtime, clock: Clock) -> None:
    turn_on(runtime, every="daily")
    clock.advance(days=1)
    assert run(runtime) == 0
    assert "next_due" not in state_of(runtime)

    tell(runtime)

    assert state_of(runtime)["next_due"] > runtime.now()


def test_people_whose_letters_come_at_one_time_are_woken_by_one_write(
    listened: Runtime, commands: Commands
) -> None:
    people = [f"reader-{number}" for number in range(30)]
    for number, who in enumerate(people):
        turn_on(listened, who, every=("at_once", "hourly", "daily")[number % 3])
    MAILINGS.of(listened.database).update_many({}, {"$unset": {"next_due": ""}})
    commands.names.clear()

    mailing.wake(listened, people)

    assert commands.names == ["find"] + ["update"] * 3
    for row in MAILINGS.of(listened.database).find():
        assert row["wakes"] == 2
        due = mailing.due_after(mailing.rhythm_of(row), listened.now())
        assert row.get("next_due") == due


def test_news_while_a_letter_is_written_are_in_the_next(runtime: Runtime, clock: Clock) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime, "1")
    clock.advance(minutes=5)

    def late(here: Runtime, reader: Principal, items: Sequence[NotificationItem]) -> Any:
        tell(runtime, "2")
        return show(here, reader, items)

    assert digests.send_due(runtime, late) == 1
    clock.advance(minutes=5)
    assert run(runtime) == 1

    first, second = written(runtime)
    assert "Reply 2." not in first["text"]
    assert "Reply 1." not in second["text"]


def test_an_item_that_is_stored_late_is_in_a_letter(runtime: Runtime, clock: Clock) -> None:
    """Its time is from before its write, and other workers write letters between."""
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime, "1")
    clock.advance(minutes=5)
    risen = runtime.now() - timedelta(seconds=30)
    assert run(runtime) == 1
    clock.time, now = risen, clock.time
    tell(runtime, "2")
    clock.time = now + timedelta(minutes=6)

    assert run(runtime) == 1
    assert "Reply 2." in written(runtime)[1]["text"]


def test_two_schedules_at_once_write_one_letter(runtime: Runtime, clock: Clock) -> None:
    for number in range(8):
        turn_on(runtime, f"reader-{number}")
        clock.advance(seconds=1)
        tell(runtime, str(number), f"reader-{number}")
    clock.advance(minutes=5)
    begun, counts = threading.Barrier(4), []

    def work() -> None:
        begun.wait()
        counts.append(run(runtime))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(counts) == 8
    assert len(written(runtime)) == 8


def test_a_crash_anywhere_leaves_one_letter(
    runtime: Runtime, mongodb_uri: str, clock: Clock
) -> None:
    """Each repeat of one span is the letter with its id, and the next span begins after it."""
    points = 0
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime, "first")
    clock.advance(minutes=5)
    for _ in crash_everywhere(runtime, mongodb_uri, run):
        points += 1
        clock.advance(minutes=10)
    run(runtime)

    assert points > 8
    (letter,) = written(runtime)
    assert "Reply first." in letter["text"]
    clock.advance(minutes=10)
    run(runtime)
    assert state_of(runtime).keys().isdisjoint({"until", "lease", "next_due"})


def test_a_crash_after_the_letter_tells_nothing_twice(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime, "1")
    clock.advance(minutes=5)
    with monkeypatch.context() as patched:
        patched.setattr(mailing, "finish", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(runtime)
    tell(runtime, "2")
    clock.advance(minutes=10)
    run(runtime)
    clock.advance(minutes=10)
    run(runtime)

    texts = [each["text"] for each in written(runtime)]
    assert [("Reply 1." in each, "Reply 2." in each) for each in texts] == [
        (True, False),
        (False, True),
    ]


def test_a_letter_that_fails_stops_no_other(runtime: Runtime, clock: Clock) -> None:
    for who in ("ann", "bo"):
        turn_on(runtime, who, f"{who}@plaza.example")
        clock.advance(seconds=1)
        tell(runtime, who, who)
    clock.advance(minutes=5)

    def failing(here: Runtime, reader: Principal, items: Sequence[NotificationItem]) -> Any:
        if reader.id == "ann":
            raise ValueError("no letter")
        return show(here, reader, items)

    with pytest.raises(ValueError, match="no letter"):
        digests.send_due(runtime, failing)
    assert [each["to"] for each in written(runtime)] == ["bo@plaza.example"]
    clock.advance(minutes=9)
    assert run(runtime) == 0
    clock.advance(minutes=1)
    assert run(runtime) == 1


@pytest.mark.parametrize(
    ("number", "subject"),
    [
        (0, None),
        (1, "Ben replied to you: Moon"),
        (2, "Notifications (2)"),
        (99, "Notifications (99)"),
        (100, "Notifications (99+)"),
        (101, "Notifications (99+)"),
    ],
)
def test_a_letter_counts_up_to_99_and_lists_20(
    runtime: Runtime, clock: Clock, number: int, subject: str | None
) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    for each in range(number):
        tell(runtime, f"{each:03}")
    clock.advance(minutes=5)

    assert run(runtime) == (1 if subject else 0)
    if subject:
        (letter,) = written(runtime)
        assert letter["subject"] == subject
        assert letter["text"].count("Reply ") == letter["html"].count("Reply ") == min(number, 20)
        assert ("There are more" in letter["text"]) == (number > 20)
        clock.advance(minutes=5)
        assert run(runtime) == 0, "the letter has told of all"


def test_only_what_the_reader_sees_now_is_in_a_letter(runtime: Runtime, clock: Clock) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    for number in range(3):
        tell(runtime, str(number))
    clock.advance(minutes=5)

    def one(here: Runtime, reader: Principal, items: Sequence[NotificationItem]) -> Any:
        assert (reader.id, reader.roles) == ("ann", frozenset())
        return {name: each for name, each in show(here, reader, items).items() if name == "ann:1"}

    assert digests.send_due(runtime, one) == 1
    assert subjects(runtime) == ["Ben replied to you: Moon"]


def test_there_is_no_letter_if_its_reader_sees_nothing(runtime: Runtime, clock: Clock) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime)
    clock.advance(minutes=5)
    nothing: Callable[..., dict[str, ShownThing]] = lambda *_: {}  # noqa: E731

    assert digests.send_due(runtime, nothing) == 0
    assert written(runtime) == []


def test_what_was_taken_back_is_in_no_letter(runtime: Runtime, clock: Clock) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime)
    events.withdraw(runtime, "1")
    clock.advance(minutes=5)

    assert run(runtime) == 0


@pytest.mark.parametrize("how", ["off", "stopped", "unconfirmed", "nothing chosen"])
def test_there_is_no_letter_for_who_has_none_asked(
    runtime: Runtime, clock: Clock, how: str
) -> None:
    match how:
        case "off":
            turn_on(runtime, every="off")
        case "stopped":
            turn_on(runtime)
            mailing.stop(runtime, "ann")
        case "unconfirmed":
            mailing.choose(runtime, "ann", mailing.NEVER._replace(every="at_once"), ANN, sure=False)
    tell(runtime)
    clock.advance(days=8)

    assert run(runtime) == 0


def test_letters_that_were_off_tell_nothing_of_the_time_between(
    runtime: Runtime, clock: Clock
) -> None:
    turn_on(runtime)
    mailing.stop(runtime, "ann")
    tell(runtime)
    clock.advance(minutes=5)
    turn_on(runtime)
    clock.advance(minutes=10)

    assert run(runtime) == 0


def test_a_letter_due_at_once_reaches_back_no_further_than_its_choice(
    runtime: Runtime, clock: Clock
) -> None:
    """A letter covers what is a minute old, since items are stored late."""
    clock.advance(minutes=59, seconds=20)
    tell(runtime)
    clock.advance(seconds=10)
    turn_on(runtime, every="hourly")
    clock.advance(seconds=40)
    assert run(runtime) == 0

    clock.advance(hours=1)

    assert run(runtime) == 0


def test_who_stops_while_a_letter_is_written_gets_no_further_one(
    runtime: Runtime, clock: Clock
) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime, "1")
    clock.advance(minutes=5)

    def stopping(here: Runtime, reader: Principal, items: Sequence[NotificationItem]) -> Any:
        mailing.stop(runtime, "ann")
        tell(runtime, "2")
        return show(here, reader, items)

    digests.send_due(runtime, stopping)
    clock.advance(days=1)

    assert run(runtime) == 0
    assert "next_due" not in state_of(runtime)


def test_a_mailbox_has_no_more_letters_of_many_people_than_of_one(
    runtime: Runtime, clock: Clock
) -> None:
    """A publisher's tokens may name any mailbox as that of many people."""
    runtime = replace(runtime, settings=runtime.settings.model_copy(update={"limits": 1.0}))
    people = [f"p{number:02}" for number in range(DIGESTS.burst + 1)]
    for number, each in enumerate(people):
        turn_on(runtime, each, f"Ann+{number}@plaza.example")
    turn_on(runtime, "bob", "bob@plaza.example")
    clock.advance(seconds=1)
    for each in (*people, "bob"):
        tell(runtime, "1", each)
    clock.advance(minutes=5)

    assert run(runtime) == DIGESTS.burst + 1, "of whom one is Bob's"
    assert run(runtime) == 0
    clock.advance(seconds=DIGESTS.every.total_seconds())

    assert run(runtime) == 1, "the letter that waited"
    assert len({each["to"] for each in written(runtime)}) == len(people) + 1


def test_a_run_is_bounded_and_the_next_goes_on(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "MOST_AT_ONCE", 2)
    for number in range(3):
        turn_on(runtime, f"reader-{number}")
        clock.advance(seconds=1)
        tell(runtime, str(number), f"reader-{number}")
    clock.advance(minutes=5)

    assert [run(runtime) for _ in range(3)] == [2, 1, 0]


def test_a_deployment_without_mail_leases_nothing(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime)
    clock.advance(minutes=5)
    before = state_of(runtime)
    monkeypatch.setattr(letters, "may_link", lambda _: False)

    assert run(runtime) == 0
    assert state_of(runtime) == before


def test_who_is_due_is_found_by_an_index(runtime: Runtime, clock: Clock) -> None:
    turn_on(runtime)
    clock.advance(hours=1)
    rows = MAILINGS.of(runtime.database)
    free: Any = {"next_due": {"$lte": clock()}, "lease": None}
    for due, at in ((free, "next_due"), ({"lease": {"$lte": clock()}}, "lease")):
        plan: Any = rows.find(due).sort(at).explain()

        chosen = str(plan["queryPlanner"]["winningPlan"])
        assert f"IXSCAN', 'keyPattern': {{'{at}': 1}}" in chosen
        assert "'SORT'" not in chosen


def test_letters_at_once_are_found_behind_a_wave_by_an_index(
    runtime: Runtime, clock: Clock
) -> None:
    for number in range(150):
        turn_on(runtime, f"reader-{number}", every="daily")
    turn_on(runtime)
    clock.advance(days=1)
    where = {"every": "at_once", "next_due": {"$lte": clock()}, "lease": None}
    plan: Any = MAILINGS.of(runtime.database).find(where).sort("next_due").explain()

    assert plan["executionStats"]["totalDocsExamined"] == 1
    assert "'SORT'" not in str(plan["queryPlanner"]["winningPlan"])


def test_letters_at_once_wait_behind_no_wave_of_others(runtime: Runtime, clock: Clock) -> None:
    for number in range(6):
        turn_on(runtime, f"daily-{number}", every="daily")
    clock.advance(days=1)
    for number in range(3):
        turn_on(runtime, f"at-once-{number}")
        clock.advance(seconds=1)
    clock.advance(minutes=5)

    found = [each["_id"] for each in mailing.find_due(runtime, 4)]
    assert found[:2] == ["at-once-0", "at-once-1"]
    assert [each.partition("-")[0] for each in found[2:]] == ["daily"] * 2
    assert len({each["_id"] for each in mailing.find_due(runtime, 20)}) == 9
    assert len(mailing.find_due(runtime, 20)) == 9


def test_letters_that_a_worker_left_come_first_and_then_the_longest_due(
    runtime: Runtime, clock: Clock
) -> None:
    people = ["ann", "bo", "cy"]
    for who in people:
        turn_on(runtime, who)
    clock.advance(hours=1)
    run(runtime)
    for who in reversed(people):
        clock.advance(seconds=1)
        tell(runtime, who, who)
    clock.advance(minutes=5)
    left = mailing.find(runtime, "ann")
    assert left is not None
    assert mailing.lease(runtime, left) is not None
    clock.advance(minutes=10)

    for most in (1, 2, 3):
        found = [each["_id"] for each in mailing.find_due(runtime, most)]
        assert found == ["ann", "cy", "bo"][:most]


def test_a_row_stays_due_for_an_item_that_came_after_the_last_look(
    runtime: Runtime, clock: Clock
) -> None:
    turn_on(runtime)
    clock.advance(minutes=5)
    (row,) = mailing.find_due(runtime, 1)
    leased = mailing.lease(runtime, row)
    assert leased is not None
    tell(runtime)

    mailing.finish(runtime, leased, has_later=False)

    assert state_of(runtime)["next_due"] > runtime.now()
