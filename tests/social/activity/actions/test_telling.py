"""Who an action speaks for, what it calls everything, and who of an audience is told."""

from typing import Any, Literal

import pytest

from chalicelib.identity import Principal
from chalicelib.people.ids import UserId
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.forms import NewAction
from chalicelib.social.activity.actions.types import Descriptor
from chalicelib.social.activity.org import people
from chalicelib.social.activity.refs import Name
from chalicelib.social.graph import promotion
from tests.social.activity.support.office import APPLIED, ENGINEER, MARY, Office
from tests.social.activity.support.types import Register
from tests.social.support.drivers import Town, follow
from tests.social.support.interleaving import Meantime

RATING = {**APPLIED, "type": "application_rating", "rating_score": 0.5}
HIRED = {**APPLIED, "type": "applicant_hired"}
REQUESTED = {**APPLIED, "type": "rating_requested"}
BY_USERS = [(RATING, "rater"), (HIRED, "hired_by"), (REQUESTED, "requester")]


def by(who: str, descriptor: dict[str, Any], field: str, **name: str) -> dict[str, Any]:
    return {**descriptor, f"{field}_id": who, **{f"{field}_{key}": name[key] for key in name}}


@pytest.mark.parametrize(("descriptor", "field"), BY_USERS)
@pytest.mark.parametrize("roles", [[], ["moderator", "social_moderator", "publisher"]])
def test_nobody_says_what_somebody_else_did(
    office: Office, descriptor: dict[str, Any], field: str, roles: list[str]
) -> None:
    office.settle("ann", "bob")
    forged = by("bob", descriptor, field, name="Bob")

    reply = office.try_action("ann", roles=roles, descriptor=forged)

    assert (reply.status, reply.code) == (403, "speaks_for_others")
    assert office.runtime.database["feed.action"].count_documents({}) == 0


@pytest.mark.parametrize(("descriptor", "field"), BY_USERS)
def test_who_speaks_of_themselves_is_called_by_their_own_name(
    office: Office, descriptor: dict[str, Any], field: str
) -> None:
    office.client.as_("ann").put("/users/me", name="Ann Abel")

    action = office.act("ann", descriptor=by("ann", descriptor, field, name="The director"))
    nameless = office.act("ann", descriptor=by("ann", descriptor, field))

    for each in (action, nameless):
        assert office.stored(each)["descriptor"][f"{field}_name"] == "Ann Abel"


@pytest.mark.parametrize("role", ["application", "admin"])
def test_an_application_says_what_others_did_under_their_own_names(
    office: Office, role: str
) -> None:
    office.client.as_("bob").put("/users/me", name="Bob Bell")
    rating = by("bob", RATING, "rater", name="The director")

    reply = office.try_action("ann", roles=[role], descriptor=rating)

    assert reply.status == 201
    assert reply.json["descriptor"]["rater_name"] == "Bob Bell"
    assert reply.json["actor"] == {"id": "ann", "name": "Ann"}


@pytest.mark.parametrize("who", ["nobody", "cy"])
def test_an_action_names_nobody_who_is_no_user(office: Office, who: str) -> None:
    named = office.try_action("ann", roles=["application"], descriptor=by(who, RATING, "rater"))
    about = office.try_action("ann", refs=[{"id": who, "type": "user", "name": "Anybody"}])

    assert [each.code for each in (named, about)] == ["unknown_person"] * 2
    assert office.runtime.database["feed.action"].count_documents({}) == 0


def test_a_user_among_the_refs_has_the_users_own_name(office: Office) -> None:
    office.client.as_("bob").put("/users/me", name="Bob Bell")
    action = office.act("ann", refs=[{"id": "bob", "type": "user", "name": "The thief"}])
    assert office.stored(action)["refs"] == [{"id": "bob", "type": "user", "name": "Bob Bell"}]


def test_a_ref_gets_its_stored_name(office: Office) -> None:
    admin = office.client.as_("root", roles=["admin"])
    assert admin.put("/refs/mary", name="Mary Smith").status == 204
    office.workers.drain()

    stored = office.stored(office.act("ann"))

    assert stored["refs"] == [{**MARY, "name": "Mary Smith"}, ENGINEER]
    assert stored["descriptor"] == {**APPLIED, "applicant_name": "Mary Smith"}


def test_the_rule_holds_for_types_of_the_applications_own(
    office: Office, registered: Register
) -> None:
    class Praised(Descriptor):
        type: Literal["praised"]
        fan_id: UserId
        fan_name: Name | None = None

    registered(Praised)
    office.settle("ann", "bob")

    assert office.try_action("ann", descriptor={"type": "praised", "fan_id": "bob"}).code == (
        "speaks_for_others"
    )
    body = {"scope": "team", "descriptor": {"type": "praised", "fan_id": "ann"}}
    own = actions.conduct(office.runtime, Principal("ann", "Ann"), NewAction.model_validate(body))
    assert own["descriptor"]["fan_name"] == "Ann"


STRANGERS = [f"stranger-{number}" for number in range(999)]


def test_ids_that_are_nobodys_are_told_nothing(office: Office) -> None:
    office.settle("zoe")
    for roles, told in (([], ["bob"]), (["application"], ["bob", "zoe"])):
        reply = office.try_action(
            "ann", "restricted", roles=roles, audience=["bob", "zoe", *STRANGERS[:998]]
        )
        assert reply.json["audience_count"] == len(told)
        assert office.stored(reply.json["id"])["audience"] == told
    office.workers.drain()
    assert {item["user_id"] for item in office.items()} == {"ann", "bob", "zoe"}


@pytest.mark.parametrize("roles", [[], ["application"]])
def test_an_audience_of_nobody_is_refused(office: Office, roles: list[str]) -> None:
    reply = office.try_action("ann", "restricted", roles=roles, audience=STRANGERS)
    assert (reply.status, reply.code) == (422, "nobody_to_tell")
    assert office.runtime.database["feed.action"].count_documents({}) == 0


@pytest.mark.parametrize(
    ("tie", "audience"),
    [
        ("team", ["bob"]),
        ("department", ["cy"]),
        ("manager", ["max"]),
        ("report", ["rex"]),
        ("follower", ["fay"]),
        ("none", []),
        ("followed by the actor alone", []),
        ("blocked by the actor", []),
        ("blocks the actor", []),
        ("the actor", ["ann"]),
    ],
)
def test_who_is_told_has_a_tie_to_the_actor(office: Office, tie: str, audience: list[str]) -> None:
    who = {
        "team": "bob",
        "department": "cy",
        "manager": "max",
        "report": "rex",
        "follower": "fay",
        "the actor": "ann",
    }
    other = who.get(tie, "dan")
    office.settle("ann", "bob", "dan", "max")
    office.place("ann", team="hiring", department="people", manager="max")
    office.place("max", team="board", department="house")
    office.place("rex", manager="ann")
    follow(office.client, "fay", "ann")
    follow(office.client, "ann", "dan")
    if tie.startswith("block"):
        other = "bob"
        one, two = ("ann", "bob") if tie == "blocked by the actor" else ("bob", "ann")
        assert office.client.as_(one).put(f"/users/me/blocked/{two}").status == 204

    reply = office.try_action("ann", "restricted", audience=[other])

    if audience:
        assert office.stored(reply.json["id"])["audience"] == audience
    else:
        assert reply.code == "nobody_to_tell"


def test_followers_of_an_actor_with_very_many_are_told(office: Office) -> None:
    follow(office.client, "fay", "ann")
    promotion.promote(office.runtime, "ann")
    follow(office.client, "flo", "ann")

    action = office.act("ann", "restricted", audience=["fay", "flo", "dan"])

    assert office.stored(action)["audience"] == ["fay", "flo"]


def test_an_application_is_not_heard_by_who_blocked_it(office: Office) -> None:
    office.settle("bob", "dan", "hirer")
    assert office.client.as_("dan").put("/users/me/blocked/hirer").status == 204
    action = office.tell("hirer", "restricted", audience=["bob", "dan"])
    assert office.stored(action)["audience"] == ["bob"]


def test_all_of_it_is_asked_in_one_round_trip(watched: Town, meantime: Meantime) -> None:
    office = Office(watched.client, watched.workers, watched.runtime, watched.clock)
    office.settle("ann")
    places = [{"_id": each, **people.NEW_PERSON, "team": "hiring"} for each in ["ann", *STRANGERS]]
    office.runtime.database[people.PEOPLE.name].insert_many(places)
    meantime.sent.clear()

    office.act("ann", "restricted", audience=STRANGERS, descriptor=by("ann", RATING, "rater"))

    assert meantime.sent == ["find", "aggregate", "insert"]
