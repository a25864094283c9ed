"""Muting an actor."""

from chalicelib.runtime import Runtime
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.forms import MAX_MUTED
from tests.social.activity.support.office import Office
from tests.social.activity.support.reading import actions, feed, ids
from tests.support.http_client import Client
from tests.support.workers import Workers


def mute(client: Client, reader: str, actor: str) -> None:
    assert client.as_(reader).put(f"/users/me/muted/{actor}").status == 204


def unmute(client: Client, reader: str, actor: str) -> None:
    assert client.as_(reader).delete(f"/users/me/muted/{actor}").status == 204


def test_who_is_muted_is_passed_over_at_once(office: Office) -> None:
    by_ann, by_cy = office.act("ann", "department"), office.act("cy", "department")
    office.workers.drain()
    mute(office.client, "bob", "ann")
    assert actions(office.client, "bob") == [by_cy]
    assert by_ann in actions(office.client, "cy")


def test_what_is_muted_is_taken_from_the_feed_in_the_background(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    mute(office.client, "bob", "ann")
    office.workers.drain()
    assert office.readers(action) == ["ann"]


def test_new_actions_of_a_muted_person_are_not_delivered(office: Office) -> None:
    mute(office.client, "bob", "ann")
    office.workers.drain()
    action = office.act("ann")
    office.workers.drain()
    assert actions(office.client, "bob") == []
    assert office.readers(action) == ["ann"]


def test_an_explicit_audience_is_muted_as_well(office: Office) -> None:
    mute(office.client, "dan", "ann")
    office.tell("ann", "restricted", audience=["dan"])
    office.workers.drain()
    assert actions(office.client, "dan") == []


def test_after_unmuting_all_is_there_where_it_belongs(office: Office) -> None:
    before = office.act("ann")
    office.workers.drain()
    as_it_was = feed(office.client, "bob")
    mute(office.client, "bob", "ann")
    office.workers.drain()
    meanwhile = office.act("ann")
    office.workers.drain()
    unmute(office.client, "bob", "ann")
    office.workers.drain()
    assert set(actions(office.client, "bob")) == {before, meanwhile}
    assert set(as_it_was) < set(feed(office.client, "bob"))


def test_muting_takes_nothing_from_the_slices(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    mute(office.client, "bob", "ann")
    assert ids(office.client.as_("bob").get("/refs/mary/actions")) == [action]


def test_muting_twice_is_muting_once(office: Office) -> None:
    mute(office.client, "bob", "ann")
    office.workers.drain()
    mute(office.client, "bob", "ann")
    assert office.workers.drain() == 0
    assert office.client.as_("bob").get("/users/me/muted").json == {"user_ids": ["ann"]}
    unmute(office.client, "bob", "ann")
    office.workers.drain()
    unmute(office.client, "bob", "ann")
    assert office.workers.drain() == 0
    assert office.client.as_("bob").get("/users/me/muted").json == {"user_ids": []}


def test_nobody_mutes_themselves(client: Client) -> None:
    reply = client.as_("bob").put("/users/me/muted/bob")
    assert (reply.status, reply.code) == (422, "cannot_mute_self")


def test_mutes_have_a_bound(client: Client, runtime: Runtime, workers: Workers) -> None:
    full = [f"u{number}" for number in range(MAX_MUTED)]
    person = {"_id": "bob", **people.NEW_PERSON, "muted": full}
    runtime.database[people.PEOPLE.name].insert_one(person)
    reply = client.as_("bob").put("/users/me/muted/one-more")
    assert (reply.status, reply.code) == (409, "too_many_muted")
    mute(client, "bob", "u7")
    assert workers.drain() == 0


def test_muting_needs_a_caller_and_an_id(client: Client) -> None:
    assert client.put("/users/me/muted/ann").code == "unauthenticated"
    assert client.as_("bob").put("/users/me/muted/$ann").code == "invalid_request"
