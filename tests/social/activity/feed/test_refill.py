"""A feed is what its reader's place and mutes say today, however they came to be so."""

import random
from datetime import timedelta
from typing import Any

import pytest

from chalicelib import deadlines
from chalicelib.jobs import outbox
from chalicelib.social.activity.feed import items, refill
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.people import StoredPerson
from chalicelib.social.jobs import handle
from chalicelib.social.messages import Refill
from tests.social.activity.support.office import Interrupt, Office
from tests.support.commands import Commands, listening
from tests.support.people import erase, remaining


def feeds(office: Office) -> dict[str, list[str]]:
    return {reader: sorted(office.feed(reader)) for reader in ("ann", "bob", "cy", "dan")}


def test_whoever_joins_a_team_finds_what_it_has_done(office: Office) -> None:
    actions = [office.act("ann"), office.act("bob"), office.act("cy")]
    office.workers.drain()

    office.place("dan", team="hiring")
    office.workers.drain()

    assert feeds(office)["dan"] == sorted(actions[:2])


def test_actions_of_a_new_place_rank_by_the_ties_of_their_time(office: Office) -> None:
    conducted = office.clock()
    action = office.act("ann")
    office.clock.advance(hours=1)
    office.comment("bob", action)
    office.clock.advance(hours=1)

    office.place("dan", team="hiring", department="people")
    office.workers.drain()
    assert office.relevancy("dan", action) == conducted - timedelta(days=1)

    office.comment("bob", action)
    office.workers.drain()
    assert office.relevancy("dan", action) == office.clock() - timedelta(minutes=10)


def test_a_new_place_moves_nothing_that_is_there(office: Office) -> None:
    action = office.act("ann", "department")
    office.workers.drain()
    before = office.standing(action, ["ann", "bob", "cy"])

    office.place("cy", team="hiring", department="people", manager="ann")
    office.place("ann", team="payroll", department="people")
    office.workers.drain()

    assert office.standing(action, ["ann", "bob", "cy"]) == before


def test_whoever_leaves_keeps_only_what_is_still_theirs(office: Office) -> None:
    own, of_team = office.act("bob"), office.act("ann")
    of_department = office.act("ann", "department")
    sent = office.tell("ann", "restricted", audience=["bob"])
    office.workers.drain()
    assert feeds(office)["bob"] == sorted([own, of_team, of_department, sent])

    office.place("bob", team="payroll", department="people")
    office.workers.drain()

    assert feeds(office)["bob"] == sorted([own, of_department, sent])
    assert office.readers(of_team) == ["ann"]


def test_whoever_comes_back_finds_all_where_it_was(office: Office) -> None:
    actions = [office.act("ann"), office.act("ann")]
    office.clock.advance(hours=1)
    office.comment("bob", actions[0])
    office.workers.drain()
    before = {action: office.relevancy("bob", action) for action in actions}

    office.clock.advance(days=1)
    office.place("bob", team="web")
    office.workers.drain()
    assert feeds(office)["bob"] == []
    office.place("bob", team="hiring", department="people")
    office.workers.drain()

    assert {action: office.relevancy("bob", action) for action in actions} == before


def test_muting_removes_actions_and_unmuting_restores_them(office: Office) -> None:
    muted, other = office.act("ann"), office.act("bob")
    office.workers.drain()
    before = office.relevancy("bob", muted)

    office.mute("bob", "ann")
    office.workers.drain()
    meantime = office.act("ann")
    office.workers.drain()
    assert feeds(office)["bob"] == [other]
    assert "bob" not in office.readers(muted)

    office.unmute("bob", "ann")
    office.workers.drain()
    assert feeds(office)["bob"] == sorted([muted, other, meantime])
    assert office.relevancy("bob", muted) == before


def test_what_is_hidden_comes_hidden(office: Office) -> None:
    action = office.act("ann")
    office.hide("ann", action)
    office.place("dan", team="hiring")
    office.workers.drain()
    assert feeds(office)["dan"] == []

    office.hide("ann", action, hidden=False)
    office.workers.drain()

    assert feeds(office)["dan"] == [action]


def test_a_refill_whose_message_is_lost_is_found_by_the_sweep(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    office.place("dan", team="hiring")
    office.forget_messages()

    office.sweep_expired()

    assert "dan" in office.readers(action)


@pytest.mark.bounds(social={"refill_newest": 2})
def test_of_long_ago_only_the_newest_come(office: Office) -> None:
    for _ in range(2):
        office.act("ann")
    office.clock.advance(minutes=1)
    newest = [office.act("ann"), office.act("bob")]
    of_department = office.act("cy", "department")
    office.workers.drain()

    office.place("dan", team="hiring", department="people")
    office.workers.drain()

    assert sorted(office.feed("dan")) == sorted([*newest, of_department])


@pytest.mark.bounds(social={"refill_added_at_once": 2, "refill_checked_at_once": 3})
def test_many_actions_are_added_and_checked_in_batches(office: Office) -> None:
    actions = [office.act("ann") for _ in range(7)]
    for number in range(4):
        office.place(f"dan{number}", team="hiring")
    office.place("dan", team="hiring")
    office.workers.drain()
    assert feeds(office)["dan"] == sorted(actions)

    office.place("dan", team="web")
    office.workers.drain()

    assert feeds(office)["dan"] == []
    assert all("dan3" in office.readers(action) for action in actions)


def test_a_batch_takes_as_many_commands_for_ten_actions_as_for_one(office: Office) -> None:
    sent: list[list[str]] = []
    for reader, number in (("dan", 1), ("eve", 9)):
        for _ in range(number):
            office.comment("bob", office.act("ann"))
        office.workers.drain()
        office.place(reader, team="hiring")
        commands = Commands()
        with listening(office.runtime, commands) as runtime:
            refill.refill(runtime, reader)
        sent.append(commands.names)

    assert len(office.feed("eve")) == 10
    assert sent[0] == sent[1]


@pytest.mark.bounds(social={"refill_checked_at_once": 3})
def test_a_refill_without_time_goes_on_by_another_message(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    actions = sorted(office.act("ann") for _ in range(7))
    office.workers.drain()
    runtime, courier = office.with_courier()
    office.place("bob", team="web")
    monkeypatch.setattr(deadlines, "share", lambda _part: lambda: False)

    handle(runtime, Refill(user_id="bob"))

    (rest,) = courier.take()
    assert rest == Refill(user_id="bob", after=actions[2])
    assert [action for action in actions if "bob" in office.readers(action)] == actions[3:]
    courier.send(rest)
    courier.deliver(runtime, random.Random(7), twice=True)
    assert feeds(office)["bob"] == []
    assert office.runtime.database["social.errand"].count_documents({}) == 0


def test_an_erasure_deletes_what_is_left_of_a_refill(office: Office) -> None:
    for job in (Refill(user_id="bob"), Refill(user_id="bob", after="x"), Refill(user_id="bobby")):
        outbox.note(office.runtime, job)

    erase(office.runtime, "bob")

    noted = office.runtime.database["social.errand"].find({"errand.type": "refill"})
    assert [job["errand"]["user_id"] for job in noted] == ["bobby"]


def test_a_whole_refill_has_the_key_of_earlier_releases(office: Office) -> None:
    outbox.note(office.runtime, Refill(user_id="bob"))

    noted = office.runtime.database["social.errand"].find_one({"_id": "refill:bob"})
    assert noted is not None
    assert noted["errand"] == {"version": 1, "type": "refill", "user_id": "bob"}


def test_a_late_refill_takes_nothing_that_a_later_one_has_found_due(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = office.act("ann")
    office.workers.drain()
    office.place("bob", team="web")
    find, seen = people.find, []

    def find_then_come_back(*args: Any) -> StoredPerson:
        """Have Bob come back right after he was seen elsewhere, to judge his items by."""
        person = find(*args)
        seen.append(person["team"])
        if len(seen) == 2:
            monkeypatch.setattr(people, "find", find)
            office.place("bob", team="hiring", department="people")
            refill.refill(office.runtime, "bob")
        return person

    monkeypatch.setattr(people, "find", find_then_come_back)
    refill.refill(office.runtime, "bob")

    assert seen == ["web", "web"]
    assert office.readers(action) == ["ann", "bob"]


def test_two_late_refills_take_nothing_that_the_latest_has_found_due(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one notes what it kept, and the second removes what it found undue."""
    action = office.act("ann")
    office.workers.drain()
    database = office.runtime.database
    first = people.find(database, "bob")
    found = refill.find_due(database, first, 10)
    office.place("bob", team="web")
    second = people.find(database, "bob")
    office.place("bob", team="hiring", department="people")
    refill.refill(office.runtime, "bob")

    items.deliver(office.runtime, found, ["bob"], first["version"])
    monkeypatch.setattr(people, "find", lambda *_: second)
    refill.take_undue(database, "bob", [action])

    assert office.readers(action) == ["ann", "bob"]


def join(office: Office) -> None:
    """Have Dan join the team, and his feed follow."""
    office.place("dan", team="hiring", department="people")
    refill.refill(office.runtime, "dan")


def test_hiding_during_a_refill_hides_what_it_adds(office: Office, interrupted: Interrupt) -> None:
    action = office.act("ann")

    def hide() -> None:
        office.hide("ann", action)
        office.deliver_jobs()

    interrupted(hide)
    join(office)

    assert {item["hidden"] for item in office.items()} == {True}


def test_deleting_during_a_refill_leaves_nothing(office: Office, interrupted: Interrupt) -> None:
    action = office.act("ann")

    def delete() -> None:
        office.delete("ann", action)
        office.deliver_jobs()

    interrupted(delete)
    join(office)

    assert office.items() == []


def test_erasing_the_reader_during_a_refill_leaves_nothing(
    office: Office, interrupted: Interrupt
) -> None:
    office.act("ann")

    interrupted(lambda: erase(office.runtime, "dan"))
    join(office)

    assert office.items() == []
    assert remaining(office.runtime, "dan") == 0


def test_a_comment_during_a_refill_counts_for_what_it_adds(
    office: Office, interrupted: Interrupt
) -> None:
    action = office.act("ann")
    office.place("dan", team="hiring", department="people")
    office.clock.advance(hours=3)

    def comment() -> None:
        office.comment("bob", action)
        office.deliver_jobs()

    interrupted(comment)
    refill.refill(office.runtime, "dan")

    assert office.relevancy("dan", action) == office.clock() - timedelta(minutes=10)
