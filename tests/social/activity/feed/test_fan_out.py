"""Actions find their way into feeds, once each, and what is forgotten or fails is found."""

import random
from typing import Any

import pytest

from chalicelib.database import NotInserted
from chalicelib.social.delivery import leases
from chalicelib.social.messages import DeliverAction
from tests.social.activity.support.office import Office
from tests.social.support.bounds import CHUNKS_OF_TWO

TEAM = ["ann", "bob"]
DEPARTMENT = [*TEAM, "cy"]


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
    office.settle("zoe")
    action = office.tell("ann", **scope)
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
@CHUNKS_OF_TWO
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


@CHUNKS_OF_TWO
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
    staff = office.client.as_("dan", roles=["social_moderator"])

    come = {"state": "done", "delivered": 2, "total": 2}
    assert ann.get(f"/actions/{action}/fan-out").json == come
    assert staff.get(f"/actions/{action}/fan-out").json == {**come, "reason": None}
    assert bob.get(f"/actions/{action}/fan-out").code == "forbidden"
    assert office.client.as_("cy").get(f"/actions/{action}/fan-out").code == "unknown_action"
    assert staff.post(f"/actions/{action}/fan-out").code == "not_failed"
    assert staff.post("/actions/gone/fan-out").code == "unknown_action"
    assert ann.post(f"/actions/{action}/fan-out").code == "forbidden"
    assert ann.get("/fan-outs/failed-actions").code == "forbidden"


def test_a_failed_fan_out_is_listed_and_retried(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise NotInserted("2 refused, code 121")

    action = office.act("ann")
    staff = office.client.as_("dan", roles=["social_moderator"])
    with monkeypatch.context() as patch:
        patch.setattr("chalicelib.social.activity.feed.items.insert_missing", refuse)
        for _ in range(leases.MAX_ATTEMPTS + 1):
            office.sweep_expired()
    (listed,) = staff.get("/fan-outs/failed-actions").json["fan_outs"]
    assert (listed["action_id"], listed["reason"]) == (action, "NotInserted")

    assert staff.post(f"/actions/{action}/fan-out").status == 204
    office.workers.drain()

    assert office.readers(action) == TEAM
    assert staff.get("/fan-outs/failed-actions").json == {"fan_outs": [], "next": None}
