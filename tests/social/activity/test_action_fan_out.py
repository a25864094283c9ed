"""Actions find their way into feeds, once each, whatever happens on the way."""

import random
from datetime import timedelta
from typing import Any

import pytest
from pymongo.collection import Collection

from chalicelib.database import Document, NotInserted, insert_missing
from chalicelib.social import delivery, erasure, leases
from chalicelib.social.activity import items, refill, work
from chalicelib.social.messages import DeliverAction
from tests.social.activity.office import Interrupt, Office

TEAM = ["ann", "bob"]
DEPARTMENT = [*TEAM, "cy"]


@pytest.fixture
def chunks_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks so small that a few readers make several."""
    monkeypatch.setattr(delivery, "CHUNK_READERS", 2)


@pytest.mark.parametrize(
    ("scope", "readers"),
    [
        ({"scope": "team"}, TEAM),
        ({"scope": "department"}, DEPARTMENT),
        ({"scope": "restricted", "audience": ["dan", "zoe"]}, ["ann", "dan", "zoe"]),
    ],
    ids=str,
)
def test_an_action_goes_to_its_actor_and_those_of_its_scope(
    office: Office, scope: dict[str, Any], readers: list[str]
) -> None:
    action = office.act("ann", **scope)
    assert office.stored(action)["fan_out"]["state"] == "pending"

    office.workers.drain()

    assert office.readers(action) == readers
    assert office.stored(action)["fan_out"]["state"] == "done"


def test_an_actor_who_has_moved_keeps_the_action(office: Office) -> None:
    action = office.act("ann")
    office.place("ann", team="web")

    office.workers.drain()

    assert office.readers(action) == TEAM


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
@pytest.mark.usefixtures("chunks_of_two")
def test_audiences_of_any_size_are_cut_without_loss(office: Office, size: int) -> None:
    others = [f"member-{number}" for number in range(size - 1)]
    office.place("max", *others, team="large")
    office.workers.drain()

    action = office.act("max")
    office.workers.drain()

    assert office.readers(action) == sorted(["max", *others])
    fan_out = office.stored(action)["fan_out"]
    assert (fan_out["state"], sum(chunk["size"] for chunk in fan_out["chunks"])) == ("done", size)


def test_who_has_muted_the_actor_gets_nothing(office: Office) -> None:
    office.mute("bob", "ann")
    office.workers.drain()

    action = office.act("ann")
    office.workers.drain()

    assert office.readers(action) == ["ann"]


@pytest.mark.usefixtures("chunks_of_two")
def test_messages_may_come_twice_and_in_any_order(office: Office) -> None:
    runtime, courier = office.with_courier()
    actions = [office.act(who, "department") for who in DEPARTMENT * 3]
    standing = {}

    for seed in range(3):
        courier.send(*(DeliverAction(action_id=action) for action in actions))
        courier.deliver(runtime, random.Random(seed), twice=True)
        standing[seed] = {item["_id"]: item["relevancy"] for item in office.items()}

    assert len(standing[0]) == len(actions) * 3
    assert standing[0] == standing[1] == standing[2]


def test_what_is_forgotten_is_found_by_the_sweep(office: Office) -> None:
    action = office.act("ann")
    office.forget_messages()

    office.workers.drain()
    assert office.readers(action) == []

    office.sweep_expired()
    assert office.readers(action) == TEAM


def test_how_far_a_fan_out_has_come_is_told_to_its_actor_and_to_staff(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    ann, bob = office.client.as_("ann"), office.client.as_("bob")
    staff = office.client.as_("dan", roles=["moderator"])

    come = {"state": "done", "delivered": 2, "total": 2}
    assert ann.get(f"/actions/{action}/fan-out").json == come
    assert staff.get(f"/actions/{action}/fan-out").json == {**come, "reason": None}
    assert bob.get(f"/actions/{action}/fan-out").code == "forbidden"
    assert office.client.as_("cy").get(f"/actions/{action}/fan-out").code == "unknown_action"
    assert staff.post(f"/actions/{action}/fan-out").code == "not_failed"
    assert staff.post("/actions/gone/fan-out").code == "unknown_action"
    assert ann.post(f"/actions/{action}/fan-out").code == "forbidden"
    assert ann.get("/fan-outs/failed-actions").code == "forbidden"


def test_a_fan_out_that_is_given_up_is_listed_and_tried_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise NotInserted("2 refused, code 121")

    action = office.act("ann")
    staff = office.client.as_("dan", roles=["moderator"])
    with monkeypatch.context() as patch:
        patch.setattr("chalicelib.social.activity.items.insert_missing", refuse)
        for _ in range(leases.MAX_ATTEMPTS + 1):
            office.sweep_expired()
    (listed,) = staff.get("/fan-outs/failed-actions").json["fan_outs"]
    assert (listed["action"], listed["reason"]) == (action, "NotInserted")

    assert staff.post(f"/actions/{action}/fan-out").status == 204
    office.workers.drain()

    assert office.readers(action) == TEAM
    assert staff.get("/fan-outs/failed-actions").json == {"fan_outs": [], "next": None}


def test_hiding_during_a_fan_out_hides_all_items(office: Office, interrupted: Interrupt) -> None:
    action = office.act("ann")

    def hide() -> None:
        office.hide("ann", action)
        office.deliver_errands()

    interrupted(hide)
    office.workers.drain()

    assert office.readers(action) == []
    assert {item["hidden"] for item in office.items(action_id=action)} == {True}


def test_showing_again_during_a_fan_out_shows_all_items(
    office: Office, interrupted: Interrupt
) -> None:
    action = office.act("ann")
    office.hide("ann", action)
    office.deliver_errands()

    def show() -> None:
        office.hide("ann", action, hidden=False)
        office.deliver_errands()

    interrupted(show)
    office.workers.drain()

    assert office.readers(action) == TEAM


def test_deleting_during_a_fan_out_leaves_nothing(office: Office, interrupted: Interrupt) -> None:
    action = office.act("ann")
    office.comment("bob", action)

    def delete() -> None:
        office.delete("ann", action)
        office.deliver_errands()

    interrupted(delete)
    office.workers.drain()

    assert office.items() == []
    assert office.runtime.database["feed.event"].count_documents({}) == 0


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
                erasure.erase(office.runtime, "bob")
                assert erasure.remaining(office.runtime, "bob") == 0
        refill.refill(office.runtime, "bob")

    interrupted(cease)
    work.handle(office.runtime, DeliverAction(action_id=action))

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
    work.handle(office.runtime, DeliverAction(action_id=action))

    assert office.readers(action) == TEAM


def test_a_worker_that_lost_its_lease_leaves_nothing_of_what_was_deleted(
    office: Office, interrupted: Interrupt
) -> None:
    action = office.act("ann")

    def delete_and_overtake() -> None:
        office.delete("ann", action)
        office.deliver_errands()
        office.clock.advance(milliseconds=office.runtime.settings.lease_ms)
        work.handle(office.runtime, DeliverAction(action_id=action))
        assert office.stored(action)["fan_out"]["state"] == "done"

    interrupted(delete_and_overtake)
    work.handle(office.runtime, DeliverAction(action_id=action))

    assert office.items() == []


def test_a_comment_during_a_fan_out_counts_for_all(office: Office, interrupted: Interrupt) -> None:
    action = office.act("ann", "department")

    def comment() -> None:
        office.clock.advance(hours=5)
        office.comment("cy", action)
        # Ranked at once, before the items are there.
        work.handle(office.runtime, office.rank_of(action))

    interrupted(comment)
    office.workers.drain()

    now = office.clock()
    assert office.relevancy("cy", action) == now
    assert office.relevancy("bob", action) == now.replace(hour=now.hour - 1)


class Died(Exception):
    """A worker's process is gone."""


@pytest.mark.parametrize("brings", ["fan-out", "refill"])
@pytest.mark.parametrize("change", ["hide", "delete", "comment"])
def test_whoever_dies_after_writing_what_has_changed_is_followed_by_another(
    office: Office, monkeypatch: pytest.MonkeyPatch, change: str, brings: str
) -> None:
    action = office.act("ann")
    if brings == "refill":
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
        office.deliver_errands()
        insert_missing(rows, documents)
        raise Died

    monkeypatch.setattr("chalicelib.social.activity.items.insert_missing", write_and_die)
    office.workers.drain()
    happened = office.clock()
    office.sweep_expired()

    assert died
    if change == "comment":
        reader = {"fan-out": "bob", "refill": "dan"}[brings]
        assert office.relevancy(reader, action) == happened - timedelta(minutes=10)
    else:
        assert office.readers(action) == []
        assert change == "hide" or office.items() == []


def test_hiding_and_deleting_reach_every_item(office: Office) -> None:
    action, other = office.act("ann", "department"), office.act("ann")
    office.workers.drain()
    before = office.standing(action, DEPARTMENT)

    office.hide("ann", action)
    office.workers.drain()
    assert office.readers(action) == []

    office.hide("ann", action, hidden=False)
    office.workers.drain()
    assert office.standing(action, DEPARTMENT) == before
    assert office.readers(action) == DEPARTMENT

    office.delete("ann", action)
    office.workers.drain()
    assert {item["action_id"] for item in office.items()} == {other}


def test_a_hidden_action_is_ranked_for_when_it_is_shown_again(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    office.hide("ann", action)
    office.clock.advance(hours=1)
    office.comment("ann", action)
    office.workers.drain()

    office.hide("ann", action, hidden=False)
    office.workers.drain()

    assert office.relevancy("ann", action) == office.clock()


def test_a_late_hiding_does_not_undo_a_later_showing(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    office.hide("ann", action)
    seen_hidden = office.stored(action)
    office.hide("ann", action, hidden=False)
    office.workers.drain()

    items.show_or_hide(office.runtime.database, seen_hidden)

    assert office.readers(action) == TEAM


@pytest.mark.parametrize("change", ["hide", "delete"])
def test_a_change_whose_message_is_lost_is_found_by_the_sweep(office: Office, change: str) -> None:
    action = office.act("ann")
    office.workers.drain()

    getattr(office, change)("ann", action)
    office.forget_messages()
    assert office.readers(action) == TEAM

    office.sweep_expired()
    assert office.readers(action) == []


def test_hiding_twice_changes_nothing(office: Office) -> None:
    action = office.act("ann")
    for _ in range(2):
        office.hide("ann", action)
    assert office.stored(action)["hidden_version"] == 1


def test_deleting_leaves_no_content(office: Office) -> None:
    action = office.act("ann", "restricted", audience=["dan"])
    office.comment("dan", action)
    office.delete("ann", action)
    office.workers.drain()

    stored = office.stored(action)

    assert stored["deleted"]
    assert not any(stored[name] for name in ("descriptor", "refs", "tags", "mentions", "audience"))
