"""Slices of what was done: by ref and by tag."""

import dataclasses
from datetime import timedelta
from typing import Any

import pytest
from pymongo import MongoClient

from chalicelib.bounds import BOUNDS
from chalicelib.database import Document, open_database
from chalicelib.http import PageQuery
from chalicelib.social.activity.feed import listings
from tests.social.activity.feed.test_queries import Sent
from tests.social.activity.support import bulk
from tests.social.activity.support.office import APPLIED, ENGINEER, MARY, Office
from tests.social.activity.support.reading import ids
from tests.support.clock import START
from tests.support.http_client import Client

PAUL = {"id": "paul", "type": "applicant", "name": "Paul"}


def of_ref(office: Office, reader: str, ref: str, query: str = "") -> list[str]:
    return ids(office.client.as_(reader).get(f"/refs/{ref}/actions{query}"))


def of_tag(office: Office, reader: str, tag: str) -> list[str]:
    return ids(office.client.as_(reader).get(f"/tags/{tag}/actions"))


def read_all(office: Office, reader: str, ref: str, limit: int) -> list[str]:
    """Return a slice, read by pages of so many."""
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        query = f"?limit={limit}" + (f"&cursor={cursor}" if cursor else "")
        page = office.client.as_(reader).get(f"/refs/{ref}/actions{query}")
        assert len(ids(page)) <= limit
        found += ids(page)
        cursor = page.json["next"]
    return found


def tagged(*tags: str) -> dict[str, Any]:
    return {**APPLIED, "tags": list(tags)}


def test_a_slice_has_what_is_about_a_ref_newest_first(office: Office) -> None:
    first = office.act("ann", refs=[MARY, ENGINEER])
    office.clock.advance(seconds=1)
    other = office.act("ann", refs=[PAUL])
    office.clock.advance(seconds=1)
    last = office.act("bob", refs=[MARY])
    assert of_ref(office, "bob", "mary") == [last, first]
    assert of_ref(office, "bob", "paul") == [other]
    assert of_ref(office, "bob", "engineer") == [first]
    assert of_ref(office, "bob", "nobody") == []


def test_an_action_shows_its_whole_self_but_no_relevancy(office: Office) -> None:
    action = office.act("ann", refs=[MARY])
    (shown,) = office.client.as_("bob").get("/refs/mary/actions").json["actions"]
    assert shown == {
        "id": action,
        "actor": {"id": "ann", "name": "Ann"},
        "conducted_at": "2026-03-01T12:00:00Z",
        "scope": "team",
        "refs": [MARY],
        "descriptor": APPLIED,
        "is_hidden": False,
        "comment_count": 0,
        "reaction_count": 0,
        "reactions": {},
    }


def test_comments_move_nothing_in_a_slice(office: Office) -> None:
    first = office.act("ann")
    office.clock.advance(seconds=1)
    last = office.act("ann")
    office.clock.advance(seconds=1)
    office.comment("bob", first)
    office.workers.drain()
    assert of_ref(office, "bob", "mary") == [last, first]


def test_a_slice_shows_what_the_scope_allows(office: Office) -> None:
    team, department = office.act("ann", "team"), office.act("ann", "department")
    restricted = office.tell("ann", "restricted", audience=["dan"])
    assert set(of_ref(office, "ann", "mary")) == {team, department, restricted}
    assert set(of_ref(office, "bob", "mary")) == {team, department}
    assert of_ref(office, "cy", "mary") == [department]
    assert of_ref(office, "dan", "mary") == [restricted]
    assert of_ref(office, "eve", "mary") == []


def test_a_slice_follows_a_move_at_once(office: Office) -> None:
    team = office.act("ann", "team")
    office.place("dan", team="hiring")
    office.place("bob", team="web")
    assert of_ref(office, "dan", "mary") == [team]
    assert of_ref(office, "bob", "mary") == []


def test_what_is_hidden_shows_to_its_actor_alone(office: Office) -> None:
    action = office.act("ann")
    office.hide("ann", action)
    assert of_ref(office, "bob", "mary") == []
    (shown,) = office.client.as_("ann").get("/refs/mary/actions").json["actions"]
    assert (shown["id"], shown["is_hidden"]) == (action, True)
    office.hide("ann", action, hidden=False)
    assert of_ref(office, "bob", "mary") == [action]


def test_what_is_deleted_is_in_no_slice(office: Office) -> None:
    action = office.act("ann")
    office.delete("ann", action)
    assert of_ref(office, "ann", "mary") == []
    assert of_tag(office, "ann", "skilled") == []


def test_pages_of_a_slice_are_full_whatever_is_left_out(office: Office) -> None:
    seen = []
    for number in range(12):
        office.tell("ann", "restricted", audience=["dan"])
        if number % 3 == 0:
            seen.append(office.act("ann"))
        office.clock.advance(seconds=1)
    first = office.client.as_("bob").get("/refs/mary/actions?limit=3")
    assert ids(first) == seen[:0:-1]
    rest = office.client.as_("bob").get(f"/refs/mary/actions?limit=3&cursor={first.json['next']}")
    assert ids(rest) == seen[:1]
    assert rest.json["next"] is None


def test_a_slice_by_tag(office: Office) -> None:
    skilled = office.act("ann", descriptor=tagged("skilled", "no cookie"))
    office.clock.advance(seconds=1)
    both = office.act("ann", descriptor=tagged("skilled", "R&D / Köln"))
    assert of_tag(office, "bob", "skilled") == [both, skilled]
    assert of_tag(office, "bob", "no%20cookie") == [skilled]
    assert of_tag(office, "bob", "R%26D%20%2F%20K%C3%B6ln") == [both]
    assert of_tag(office, "dan", "skilled") == []


def test_a_cursor_belongs_to_its_slice_and_reader(office: Office) -> None:
    for _ in range(2):
        office.act("ann", refs=[MARY, PAUL])
    cursor = office.client.as_("bob").get("/refs/mary/actions?limit=1").json["next"]
    for reader, path in (
        ("bob", "/refs/paul/actions"),
        ("ann", "/refs/mary/actions"),
        ("bob", "/tags/mary/actions"),
        ("bob", "/feed"),
    ):
        reply = office.client.as_(reader).get(f"{path}?cursor={cursor}")
        assert reply.code == "invalid_cursor", path


def plant_unseen(office: Office, count: int) -> list[str]:
    """Store so many actions about Mary for Dan alone, the newest first; return their ids."""
    ids_ = [f"unseen{number:06}" for number in range(count)]
    given = {"scope": "restricted", "audience": ["dan"], "refs": [MARY]}
    rows = [
        bulk.action(office.runtime, id_, START - timedelta(seconds=number), **given)
        for number, id_ in enumerate(ids_)
    ]
    office.runtime.database["feed.action"].insert_many(rows)
    return ids_


@pytest.mark.parametrize("limit", [1, 99, 100])
def test_pages_over_many_that_are_not_shown_miss_nothing(office: Office, limit: int) -> None:
    unseen = plant_unseen(office, 550)
    shown = unseen[100:130] + unseen[540:]
    rows = office.runtime.database["feed.action"]
    rows.update_many({"_id": {"$in": shown}}, {"$set": {"audience": ["bob"]}})

    assert read_all(office, "bob", "mary", limit) == shown


def test_a_short_page_of_many_that_are_not_shown_takes_few_queries(
    office: Office, mongodb_uri: str
) -> None:
    plant_unseen(office, 2_200)
    sent = Sent()
    with MongoClient[Document](mongodb_uri, event_listeners=[sent]) as client:
        database = open_database(client, office.runtime.settings.database)
        runtime = dataclasses.replace(office.runtime, database=database)
        page = listings.of_ref(runtime, "bob", "mary", PageQuery(limit=1))
        commands = [name for command in sent.take() for name in command if name == "find"]

    assert page["actions"] == []
    assert page["next"] is not None
    assert len(commands) <= 2 + BOUNDS.social.page_examined / BOUNDS.social.page_refill


@pytest.mark.parametrize(
    "path", ["/refs/$where/actions", "/refs/a%2Fb/actions", "/tags/%00/actions"]
)
def test_hostile_refs_and_tags_are_refused(client: Client, path: str) -> None:
    assert client.as_("bob").get(path).code == "invalid_request"
    assert client.get("/refs/mary/actions").code == "unauthenticated"
