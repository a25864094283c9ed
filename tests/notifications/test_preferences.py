"""A person chooses kinds, channels and quiet hours: nothing unwanted comes, and nothing is lost."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.notifications import digests, events, inbox, mailing, personal_data, preferences
from chalicelib.notifications.errors import KindAlwaysOn
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.preferences import KINDS, NONE, Preferences, quiet_until
from chalicelib.notifications.rows import INBOXES, ITEMS, Kind
from chalicelib.runtime import Runtime
from tests.notifications.support.mailbox import run, state_of, tell, turn_on, written
from tests.support.clock import Clock
from tests.support.http_client import Client

PATH = "/notifications/preferences"


def choose(client: Client, who: str = "ann", **body: Any) -> Any:
    reply = client.as_(who).put(PATH, **body)
    assert reply.status == 200, reply.body
    return reply.json


def off(*chosen: tuple[Any, Any]) -> Preferences:
    return Preferences(frozenset(chosen), None)


def quiet(begin: int, end: int) -> Preferences:
    return Preferences(frozenset(), {"begin": begin, "end": end})


def happen(runtime: Runtime, kind: Kind, key: str = "k1", *, is_there: bool = True) -> None:
    """Have a comment, which may be hidden, concern Ann."""
    recipients: dict[str, Kind] = {"ann": kind} if is_there else {}
    at = runtime.now()
    events.agree(
        runtime,
        NotificationEvent(key, "harbour", f"moon/{key}", "ben", at, recipients, is_new=False),
        at,
    )


def unread(runtime: Runtime) -> int:
    return inbox.count(runtime, "ann").unread


def test_all_kinds_come_by_all_channels_until_a_person_chooses(client: Client) -> None:
    found = client.as_("ann").get(PATH).json

    assert set(found["kinds"]) == set(KINDS)
    assert all({*each.values()} == {True} for each in found["kinds"].values())
    assert found["always_on"] == ["post.wall"]
    assert found["quiet"] is None


def test_a_choice_replaces_the_earlier_one(client: Client) -> None:
    first = choose(client, kinds={"follow": {"in_app": False}}, quiet={"from": 22, "to": 7})
    assert first["kinds"]["follow"] == {"in_app": False, "email": False, "push": False}
    assert first["quiet"] == {"from": 22, "to": 7}

    second = choose(client, kinds={"post.reaction": {"email": False}})

    assert second == client.as_("ann").get(PATH).json
    assert second["kinds"]["follow"]["in_app"] is True
    assert second["kinds"]["post.reaction"] == {"in_app": True, "email": False, "push": True}
    assert second["quiet"] is None
    assert client.as_("ben").get(PATH).json["kinds"]["post.reaction"]["email"] is True


def test_a_kind_that_is_always_on_is_refused_and_nothing_is_stored(client: Client) -> None:
    chosen = {"post.wall": {"in_app": False}, "follow": {"in_app": False}}
    reply = client.as_("ann").put(PATH, kinds=chosen)

    assert (reply.status, reply.code) == (422, "notification_always_on")
    assert client.as_("ann").get(PATH).json["kinds"]["follow"]["in_app"] is True
    assert choose(client, kinds={"post.wall": {"email": False}})["kinds"]["post.wall"]["in_app"]


@pytest.mark.parametrize(
    "body",
    [
        {"kinds": {"post.like": {"in_app": False}}},
        {"kinds": {"follow": {"sms": True}}},
        {"kinds": {"follow": {"in_app": False, "email": True}}},
        {"kinds": {"follow": {"in_app": None}}},
        {"kinds": {"$where": {}}},
        {"kinds": []},
        {"quiet": {"from": 22}},
        {"quiet": {"from": 7, "to": 7}},
        {"quiet": {"from": 24, "to": 7}},
        {"quiet": {"from": -1, "to": 7}},
        {"quiet": {"from": 1.5, "to": 7}},
    ],
)
def test_an_unclear_choice_is_refused(client: Client, body: dict[str, Any]) -> None:
    reply = client.as_("ann").put(PATH, **body)

    assert (reply.status, reply.code) == (422, "invalid_request")


def test_a_kind_that_is_off_is_not_told_then_nor_by_a_repeat_after_the_next_choice(
    runtime: Runtime, clock: Clock
) -> None:
    preferences.choose(runtime, "ann", off(("in_app", "comment.reply")))
    happen(runtime, "comment.reply")
    happen(runtime, "comment.mention", "k2")
    assert unread(runtime) == 1
    preferences.choose(runtime, "ann", NONE)
    clock.advance(seconds=1)

    # Its comment is edited, hidden and shown again.
    happen(runtime, "comment.reply")
    happen(runtime, "comment.reply", is_there=False)
    happen(runtime, "comment.reply")
    assert unread(runtime) == 1

    happen(runtime, "comment.reply", "k3")
    assert unread(runtime) == 2


def test_a_choice_leaves_what_was_told_before(runtime: Runtime) -> None:
    happen(runtime, "comment.reply")
    preferences.choose(runtime, "ann", off(("in_app", "comment.reply")))
    happen(runtime, "comment.reply")

    assert unread(runtime) == 1


def test_a_kind_that_is_off_in_letters_is_in_the_inbox_alone(
    runtime: Runtime, clock: Clock
) -> None:
    turn_on(runtime)
    preferences.choose(runtime, "ann", off(("email", "comment.reply")))
    clock.advance(seconds=1)
    tell(runtime)
    clock.advance(minutes=6)
    assert run(runtime) == 0
    assert unread(runtime) == 1
    assert "next_due" not in state_of(runtime), "it rests: there is no news for letters"

    happen(runtime, "comment.mention", "k2")
    clock.advance(minutes=6)
    assert run(runtime) == 1
    (letter,) = written(runtime)
    assert "mentioned" in letter["subject"]


def test_a_choice_while_a_letter_is_due_is_heeded(runtime: Runtime, clock: Clock) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime)
    clock.advance(minutes=6)
    preferences.choose(runtime, "ann", off(("email", "comment.reply")))

    assert run(runtime) == 0
    assert written(runtime) == []


def test_a_mark_as_seen_keeps_the_choices_and_a_choice_the_mark(
    runtime: Runtime, clock: Clock
) -> None:
    clock.advance(seconds=1)
    tell(runtime)
    inbox.mark_seen(runtime, "ann", runtime.now())
    preferences.choose(runtime, "ann", off(("email", "follow")))
    inbox.mark_seen(runtime, "ann", runtime.now())

    assert inbox.count(runtime, "ann").unseen == 0
    assert preferences.find(runtime, "ann") == off(("email", "follow"))


def test_of_choices_at_once_one_stands_whole(runtime: Runtime) -> None:
    wanted = [off(("email", kind), ("in_app", kind)) for kind in ("follow", "post.comment")] * 4

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: preferences.choose(runtime, "ann", each), wanted))

    assert preferences.find(runtime, "ann") in wanted


def test_the_rule_of_a_kind_that_is_always_on_holds_below_the_api(runtime: Runtime) -> None:
    with pytest.raises(KindAlwaysOn):
        preferences.choose(runtime, "ann", off(("in_app", "post.wall")))


def test_kinds_of_a_later_release_harm_nothing(runtime: Runtime) -> None:
    preferences.choose(runtime, "ann", off(("email", "follow")))
    later = {"$push": {"off": "email/poll.ended"}}
    INBOXES.of(runtime.database).update_one({"_id": "ann"}, later)

    assert preferences.find(runtime, "ann") == off(("email", "follow"))


# Quiet hours.


@pytest.mark.parametrize(
    ("hours", "now", "until"),
    [
        ((22, 7), "2026-03-01T21:59:59", None),
        ((22, 7), "2026-03-01T22:00:00", "2026-03-02T07:00:00"),
        ((22, 7), "2026-03-02T06:59:59", "2026-03-02T07:00:00"),
        ((22, 7), "2026-03-02T07:00:00", None),
        ((9, 17), "2026-03-01T08:59:59", None),
        ((9, 17), "2026-03-01T09:00:00", "2026-03-01T17:00:00"),
        ((9, 17), "2026-03-01T17:00:00", None),
        ((23, 0), "2026-03-01T23:30:00", "2026-03-02T00:00:00"),
        ((0, 23), "2026-03-01T00:00:00", "2026-03-01T23:00:00"),
    ],
)
def test_quiet_hours_begin_with_the_first_and_end_before_the_last(
    hours: tuple[int, int], now: str, until: str | None
) -> None:
    at = datetime.fromisoformat(f"{now}+00:00")

    found = quiet_until(quiet(*hours), "UTC", at)

    assert found == (until and datetime.fromisoformat(f"{until}+00:00"))


@pytest.mark.parametrize(
    ("zone", "now", "until"),
    [
        ("Europe/Berlin", (2026, 3, 28, 21), (2026, 3, 29, 5)),
        # The clock went forward in the night.
        ("Europe/Berlin", (2026, 3, 29, 4, 59), (2026, 3, 29, 5)),
        # And back in this one.
        ("Europe/Berlin", (2026, 10, 24, 20), (2026, 10, 25, 6)),
        ("Asia/Kathmandu", (2026, 3, 1, 16, 15), (2026, 3, 2, 1, 15)),
        ("Asia/Tokyo", (2026, 3, 1, 13), (2026, 3, 1, 22)),
    ],
)
def test_quiet_hours_are_of_the_clock_of_the_letters(
    zone: str, now: tuple[int, ...], until: tuple[int, ...]
) -> None:
    at, end = (datetime(*each, tzinfo=UTC) for each in (now, until))  # type: ignore[misc,arg-type]

    assert quiet_until(quiet(22, 7), zone, at) == end


def test_a_letter_in_quiet_hours_comes_at_their_end_with_all_that_came(
    runtime: Runtime, clock: Clock
) -> None:
    turn_on(runtime)
    preferences.choose(runtime, "ann", quiet(12, 14))
    for number in range(3):
        clock.advance(minutes=20)
        tell(runtime, str(number))
        assert run(runtime) == 0
    clock.advance(minutes=59)
    assert run(runtime) == 0
    clock.advance(minutes=1)
    assert run(runtime) == 1

    (letter,) = written(runtime)
    assert all(f"Reply {number}." in letter["text"] for number in range(3))
    assert run(runtime) == 0


def test_a_letter_that_a_worker_left_waits_and_is_written_once(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_on(runtime)
    clock.advance(seconds=1)
    tell(runtime)
    clock.advance(minutes=5)
    with monkeypatch.context() as dying:
        dying.setattr(digests, "send", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(runtime)
    left = state_of(runtime)
    preferences.choose(runtime, "ann", quiet(12, 14))
    clock.advance(minutes=11)
    assert run(runtime) == 0
    assert state_of(runtime)["until"] == left["until"]
    assert mailing.find_due(runtime, 1) == [], "no run looks at it before their end"

    clock.advance(hours=2)

    assert run(runtime) == 1
    assert len(written(runtime)) == 1


def test_a_setting_changed_while_a_letter_is_put_off_stands(runtime: Runtime) -> None:
    turn_on(runtime)
    row = mailing.find(runtime, "ann")
    assert row is not None
    mailing.stop(runtime, "ann")

    mailing.postpone(runtime, row, runtime.now())

    assert "next_due" not in state_of(runtime)


# Personal data.


def test_an_export_has_the_choices_and_a_late_erasure_leaves_later_ones(
    runtime: Runtime, clock: Clock
) -> None:
    chosen = Preferences(frozenset({("email", "follow")}), {"begin": 22, "end": 7})
    preferences.choose(runtime, "ann", chosen)
    (trace,) = [
        each for each in personal_data.traces(runtime.database, "ann") if each.name == "inbox"
    ]
    (row,) = trace.rows.find(trace.where)
    assert trace.show is not None
    (shown,) = trace.show(row)
    assert shown["data"]["off"] == ["email/follow"]
    assert shown["data"]["quiet"] == {"begin": 22, "end": 7}

    ended = runtime.now()
    clock.advance(seconds=1)
    preferences.choose(runtime, "ann", chosen)
    personal_data.erase(runtime, "ann", ended)
    assert preferences.find(runtime, "ann") == chosen

    personal_data.erase(runtime, "ann")
    assert INBOXES.of(runtime.database).count_documents({}) == 0


def test_an_account_without_choices_takes_those_of_its_past(runtime: Runtime) -> None:
    preferences.choose(runtime, "guest", quiet(22, 7))
    preferences.choose(runtime, "other", quiet(1, 2))
    preferences.choose(runtime, "ann", off(("email", "follow")))

    for _ in range(2):
        preferences.give(runtime, "guest", "bo")
        preferences.give(runtime, "other", "ann")

    assert preferences.find(runtime, "bo") == quiet(22, 7)
    assert preferences.find(runtime, "ann") == off(("email", "follow"))
    gone = {"_id": {"$in": ["guest", "other"]}}
    assert INBOXES.of(runtime.database).count_documents(gone) == 0


@pytest.mark.parametrize("has_chosen", [False, True])
def test_a_past_takes_the_place_of_no_choice_of_its_account(
    runtime: Runtime, *, has_chosen: bool
) -> None:
    """Also of the choice of everything, which a row without choices means, too."""
    preferences.choose(runtime, "guest", quiet(22, 7))
    inbox.mark_seen(runtime, "ann", runtime.now())
    if has_chosen:
        preferences.choose(runtime, "ann", preferences.NONE)

    preferences.give(runtime, "guest", "ann")

    assert preferences.find(runtime, "ann") == (preferences.NONE if has_chosen else quiet(22, 7))


def test_a_withheld_item_is_in_no_list(runtime: Runtime) -> None:
    preferences.choose(runtime, "ann", off(("in_app", "comment.reply")))
    happen(runtime, "comment.reply")

    (item,) = ITEMS.of(runtime.database).find({})
    assert (item["wanted"], item.get("withheld")) == (False, True)
    assert unread(runtime) == 0
