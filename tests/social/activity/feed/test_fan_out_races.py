"""What happens to an action while it is delivered to feeds holds for every item."""

from datetime import timedelta
from typing import Any

import pytest
from pymongo.collection import Collection

from chalicelib.database import Document, insert_missing
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.feed import items, refill
from chalicelib.social.jobs import handle
from chalicelib.social.messages import DeliverAction
from tests.social.activity.support.office import Interrupt, Office
from tests.support.people import erase, remaining

TEAM = ["ann", "bob"]


def test_hiding_during_a_fan_out_hides_all_items(office: Office, interrupted: Interrupt) -> None:
    action = office.act("ann")

    def hide() -> None:
        office.hide("ann", action)
        office.deliver_jobs()

    interrupted(hide)
    office.workers.drain()

    assert office.readers(action) == []
    assert {item["hidden"] for item in office.items(action_id=action)} == {True}


def test_showing_again_during_a_fan_out_shows_all_items(
    office: Office, interrupted: Interrupt
) -> None:
    action = office.act("ann")
    office.hide("ann", action)
    office.deliver_jobs()

    def show() -> None:
        office.hide("ann", action, hidden=False)
        office.deliver_jobs()

    interrupted(show)
    office.workers.drain()

    assert office.readers(action) == TEAM


def test_deleting_during_a_fan_out_leaves_nothing(office: Office, interrupted: Interrupt) -> None:
    action = office.act("ann")
    office.comment("bob", action)

    def delete() -> None:
        office.delete("ann", action)
        office.deliver_jobs()

    interrupted(delete)
    office.workers.drain()

    assert office.items() == []
    assert office.runtime.database["feed.event"].count_documents({}) == 0


@pytest.mark.parametrize(
    "chunk",
    [
        pytest.param(2, marks=pytest.mark.bounds(social={"chunk_readers": 2})),
        pytest.param(100, marks=pytest.mark.bounds(social={"chunk_readers": 100})),
    ],
)
def test_concealing_during_a_fan_out_leaves_the_actors_item_alone(
    office: Office, interrupted: Interrupt, chunk: int
) -> None:
    action = office.act("ann", "department")
    assert office.runtime.bounds.social.chunk_readers == chunk

    def conceal() -> None:
        office.conceal("ann", action)
        office.deliver_jobs()

    interrupted(conceal)
    office.workers.drain()

    assert office.readers(action) == ["ann"]
    assert office.stored(action)["fan_out"]["state"] == "done"


def test_an_action_revealed_while_its_items_are_removed_reaches_all_readers(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = office.act("ann")
    office.workers.drain()
    remove = items.remove

    def remove_late(*given: Any, **options: Any) -> None:
        monkeypatch.setattr(items, "remove", remove)
        actions.reveal(office.runtime, action)
        handle(office.runtime, DeliverAction(action_id=action))
        assert office.readers(action) == TEAM
        remove(*given, **options)

    monkeypatch.setattr(items, "remove", remove_late)
    office.conceal("ann", action)
    office.deliver_jobs()
    office.workers.drain()

    assert items.remove is remove
    assert office.readers(action) == TEAM
    assert office.stored(action)["fan_out"]["state"] == "done"


@pytest.mark.parametrize("change", ["conceal", "hide"])
def test_an_action_is_delivered_once_whatever_its_items_follow(office: Office, change: str) -> None:
    action = office.act("ann")
    office.workers.drain()
    before = office.stored(action)["fan_out"]

    getattr(office, change)("ann", action)
    office.deliver_jobs()
    office.workers.drain()

    assert office.stored(action)["fan_out"] == before


@pytest.mark.parametrize("scope", ["team", "restricted"])
@pytest.mark.parametrize("change", ["mute", "erase", "move"])
def test_who_ceases_to_be_a_reader_during_a_fan_out_keeps_nothing(
    office: Office, interrupted: Interrupt, change: str, scope: str
) -> None:
    action = office.act("ann", scope, audience=["bob"] if scope == "restricted" else [])

    def cease() -> None:
        match change:
            case "mute":
                office.mute("bob", "ann")
            case "move":
                office.place("bob", team="web")
            case "erase":
                erase(office.runtime, "bob")
                assert remaining(office.runtime, "bob") == 0
        refill.refill(office.runtime, "bob")

    interrupted(cease)
    handle(office.runtime, DeliverAction(action_id=action))

    assert "ann" in office.readers(action)
    still = change == "move" and scope == "restricted"
    assert [item["user_id"] for item in office.items(user_id="bob")] == ["bob"] * still


def test_who_moves_away_and_back_during_a_fan_out_keeps_the_action(
    office: Office, interrupted: Interrupt
) -> None:
    action = office.act("ann")

    def away_and_back() -> None:
        office.place("bob", team="web")
        refill.refill(office.runtime, "bob")
        office.place("bob", team="hiring", department="people")
        refill.refill(office.runtime, "bob")

    interrupted(away_and_back)
    handle(office.runtime, DeliverAction(action_id=action))

    assert office.readers(action) == TEAM


def test_a_worker_that_lost_its_lease_leaves_nothing_of_what_was_deleted(
    office: Office, interrupted: Interrupt
) -> None:
    action = office.act("ann")

    def delete_and_overtake() -> None:
        office.delete("ann", action)
        office.deliver_jobs()
        office.clock.advance(milliseconds=office.runtime.settings.lease_ms)
        handle(office.runtime, DeliverAction(action_id=action))
        assert office.stored(action)["fan_out"]["state"] == "done"

    interrupted(delete_and_overtake)
    handle(office.runtime, DeliverAction(action_id=action))

    assert office.items() == []


def test_a_comment_during_a_fan_out_counts_for_all(office: Office, interrupted: Interrupt) -> None:
    action = office.act("ann", "department")

    def comment() -> None:
        office.clock.advance(hours=5)
        office.comment("cy", action)
        # Ranked at once, before the items are there.
        handle(office.runtime, office.rank_of(action))

    interrupted(comment)
    office.workers.drain()

    now = office.clock()
    assert office.relevancy("cy", action) == now
    assert office.relevancy("bob", action) == now.replace(hour=now.hour - 1)


class Died(Exception):
    """A worker's process is gone."""


@pytest.mark.parametrize("delivered_by", ["fan-out", "refill"])
@pytest.mark.parametrize("change", ["hide", "conceal", "delete", "comment"])
def test_whoever_dies_after_writing_what_has_changed_is_followed_by_another(
    office: Office, monkeypatch: pytest.MonkeyPatch, change: str, delivered_by: str
) -> None:
    action = office.act("ann")
    if delivered_by == "refill":
        office.workers.drain()
        office.place("dan", team="hiring", department="people")
    office.clock.advance(hours=2)
    died: list[str] = []

    def write_and_die(rows: Collection[Document], documents: list[Document]) -> None:
        if died:
            insert_missing(rows, documents)
            return
        died.append(change)
        getattr(office, change)("ann", action)
        office.deliver_jobs()
        insert_missing(rows, documents)
        raise Died

    monkeypatch.setattr("chalicelib.social.activity.feed.items.insert_missing", write_and_die)
    office.workers.drain()
    happened = office.clock()
    office.sweep_expired()

    assert died
    if change == "comment":
        reader = {"fan-out": "bob", "refill": "dan"}[delivered_by]
        assert office.relevancy(reader, action) == happened - timedelta(minutes=10)
    elif change == "conceal":
        assert office.readers(action) == ["ann"]
    else:
        assert office.readers(action) == []
        assert change == "hide" or office.items() == []
