"""People's places in the organisation, which an admin sets."""

import threading
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.forms import OrgSettings
from chalicelib.social.activity.org.places import Org
from tests.support.clock import START, Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

pytestmark = pytest.mark.usefixtures("workers")

NOWHERE: dict[str, Any] = {
    "team": None,
    "department": None,
    "manager_id": None,
    "assigned_ref_ids": [],
}


def place(client: Client, user: str, **org: Any) -> None:
    reply = client.as_("root", roles=["admin"]).put(f"/users/{user}/org", **org)
    assert reply.status == 200, reply.body


def test_a_place_replaces_the_one_before(client: Client) -> None:
    place(client, "ann", team="red", department="hr", manager_id="bob", assigned_ref_ids=["a-1"])
    place(client, "ann", team="blue")
    assert client.as_("ann").get("/users/me/org").json == {**NOWHERE, "team": "blue"}


def test_who_has_no_place_has_an_empty_one(client: Client) -> None:
    assert client.as_("ann").get("/users/me/org").json == NOWHERE


def test_only_an_admin_sets_places_and_sees_those_of_others(client: Client) -> None:
    for roles in ([], ["publisher"], ["social_moderator"]):
        caller = client.as_("bob", roles=roles)
        assert caller.put("/users/ann/org", team="red").code == "forbidden"
        assert caller.get("/users/ann/org").code == "forbidden"
    assert client.put("/users/ann/org", team="red").code == "unauthenticated"
    place(client, "ann", team="red")
    seen = client.as_("root", roles=["admin"]).get("/users/ann/org")
    assert seen.json == {**NOWHERE, "team": "red"}


def test_nobody_is_their_own_manager(client: Client) -> None:
    reply = client.as_("root", roles=["admin"]).put("/users/ann/org", manager_id="ann")
    assert (reply.status, reply.code) == (422, "own_manager")


@pytest.mark.parametrize(
    "org",
    [
        {"team": ""},
        {"team": "  "},
        {"team": "a\0b"},
        {"team": "x" * 101},
        {"team": {"$ne": None}},
        {"department": ["hr"]},
        {"manager_id": "$where"},
        {"manager_id": "a.b"},
        {"assigned_ref_ids": ["a-1", "a-1"]},
        {"assigned_ref_ids": ["$a"]},
        {"assigned_ref_ids": "a-1"},
        {"assigned_ref_ids": [f"a-{number}" for number in range(201)]},
        {"$set": {"team": "red"}},
        {"version": 7},
    ],
)
def test_a_hostile_place_is_refused(client: Client, org: dict[str, Any]) -> None:
    reply = client.as_("root", roles=["admin"]).put("/users/ann/org", **org)
    assert (reply.status, reply.code) == (422, "invalid_request")
    assert client.as_("ann").get("/users/me/org").json == NOWHERE


@pytest.mark.parametrize("name", ["$team", "team.red", "R&D / Köln", "null", "__proto__"])
def test_a_team_may_be_called_anything(client: Client, name: str) -> None:
    place(client, "ann", team=name)
    assert client.as_("ann").get("/users/me/org").json["team"] == name


def test_every_place_is_remembered_from_its_first_to_its_last_moment(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    place(client, "ann", team="red")
    clock.advance(hours=1)
    place(client, "ann", team="blue", assigned_ref_ids=["a-1", "a-2"])
    moment = timedelta(milliseconds=1)
    times = [START - moment, clock.time]
    ann = people.histories(runtime.database, ["ann"], {"a-1"}, times)["ann"]
    assert ann.at(START - moment) == Org()
    assert ann.at(START) == ann.at(clock.time - moment) == Org(team="red")
    assert ann.at(clock.time) == Org(team="blue", assigned=frozenset({"a-1"}))


def test_one_place_is_found_without_the_others(
    client: Client, runtime: Runtime, clock: Clock
) -> None:
    for team in ("red", "blue", "green"):
        place(client, "ann", team=team)
        clock.advance(hours=1)
    then = START + timedelta(hours=1)
    found = people.histories(runtime.database, ["ann", "nobody"], (), [then])
    assert [each["team"] for each in found["ann"].places] == ["blue"]
    assert found["nobody"].at(then) == Org()


def test_of_two_places_of_one_moment_the_later_holds(client: Client, runtime: Runtime) -> None:
    place(client, "ann", team="red")
    place(client, "ann", team="blue")
    ann = people.histories(runtime.database, ["ann"], (), [START])["ann"]
    assert ann.at(START) == Org(team="blue")


def test_the_same_place_again_is_no_change(
    client: Client, runtime: Runtime, workers: Workers, clock: Clock
) -> None:
    place(client, "ann", team="red", assigned_ref_ids=["a-1"])
    workers.drain()
    before = people.find(runtime.database, "ann")
    clock.advance(hours=1)
    place(client, "ann", team="red", assigned_ref_ids=["a-1"])
    assert people.find(runtime.database, "ann") == before
    assert workers.drain() == 0


def test_a_change_of_place_is_noted_with_what_it_owes(client: Client, runtime: Runtime) -> None:
    place(client, "ann", team="red")
    assert runtime.database[outbox.JOBS.name].find_one({"_id": "refill:ann"})


def test_many_admins_at_once_leave_one_place_that_is_open(runtime: Runtime) -> None:
    def put(number: int) -> None:
        people.put(runtime, "ann", OrgSettings(team=f"team-{number}"))

    threads = [threading.Thread(target=put, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    person = people.find(runtime.database, "ann")
    stored = list(runtime.database[people.PLACES.name].find({"user_id": "ann"}))
    assert person["version"] == len(stored) == 8
    assert [each["team"] for each in stored if each["until"] == people.OPEN] == [person["team"]]
