"""Telling what happened, and what others may do with it."""

from typing import Any

import pytest

from tests.social.activity.support.office import APPLIED, MARY, Office
from tests.support.http_client import Client


def test_an_action_is_answered_as_it_was_told(office: Office) -> None:
    reply = office.try_action("ann", "department")

    assert reply.status == 201
    assert reply.json == {
        "id": reply.json["id"],
        "actor": {"id": "ann", "name": "Ann"},
        "conducted_at": "2026-03-01T12:00:00Z",
        "scope": "department",
        "refs": [
            {"id": "mary", "type": "applicant", "name": "Mary Fanning"},
            {"id": "engineer", "type": "position", "name": "Senior Software Engineer"},
        ],
        "descriptor": APPLIED,
        "is_hidden": False,
        "comment_count": 0,
        "reaction_count": 0,
        "reactions": {},
    }
    read = office.client.as_("cy").get(f"/actions/{reply.json['id']}").json
    assert read == {**reply.json, "own_reaction": None}


def test_an_action_keeps_its_actors_team_and_department_of_the_time(office: Office) -> None:
    action = office.act("ann")
    office.place("ann", team="web", department="product")

    stored = office.stored(action)

    assert (stored["team"], stored["department"]) == ("hiring", "people")


@pytest.mark.parametrize("scope", ["team", "department"])
def test_who_has_no_place_has_nobody_to_tell(office: Office, scope: str) -> None:
    assert office.try_action("eve", scope).code == "no_org_unit"


@pytest.mark.parametrize(
    "given",
    [
        {"scope": "everybody"},
        {"scope": "restricted"},
        {"scope": "restricted", "audience": []},
        {"scope": "team", "audience": ["bob"]},
        {"scope": "restricted", "audience": ["bob", "bob"]},
        {"scope": "restricted", "audience": ["$where"]},
        {"scope": "restricted", "audience": [f"u{n}" for n in range(1_001)]},
        {"refs": [{**MARY, "id": "a.$b"}]},
        {"refs": [{**MARY, "type": "$ne"}]},
        {"refs": [MARY, MARY]},
        {"refs": [{**MARY, "id": f"m{n}"} for n in range(21)]},
        {"descriptor": {**APPLIED, "type": "nothing"}},
        {"descriptor": {**APPLIED, "$set": 1}},
        {"hidden": True},
    ],
    ids=str,
)
def test_what_is_told_wrongly_is_refused(office: Office, given: dict[str, Any]) -> None:
    body = {"scope": "team", **given}
    reply = office.try_action("ann", **body)
    assert (reply.status, reply.code) == (422, "invalid_request")


def test_an_unknown_type_is_answered_with_the_known_ones(office: Office) -> None:
    reply = office.try_action("ann", descriptor={"type": "nothing"})

    (fault,) = reply.json["errors"]
    assert "applicant_hired, application_rating, new_applicant" in fault["detail"]


@pytest.mark.parametrize(
    ("scope", "seen_by"),
    [
        ({"scope": "team"}, ["ann", "bob"]),
        ({"scope": "department"}, ["ann", "bob", "cy"]),
        ({"scope": "restricted", "audience": ["dan"]}, ["ann", "dan"]),
    ],
    ids=str,
)
def test_an_action_is_shown_to_those_of_its_scope(
    office: Office, scope: dict[str, Any], seen_by: list[str]
) -> None:
    action = office.tell("ann", **scope)

    found = {who: office.client.as_(who).get(f"/actions/{action}") for who in ("ann", "bob", "cy")}
    found["dan"] = office.client.as_("dan").get(f"/actions/{action}")

    assert [who for who, reply in found.items() if reply.status == 200] == seen_by
    assert {reply.code for reply in found.values() if reply.status != 200} <= {"unknown_action"}


def test_the_scope_is_that_of_today(office: Office) -> None:
    action = office.act("ann")

    office.place("dan", team="hiring")
    office.place("bob", team="web")

    assert office.client.as_("dan").get(f"/actions/{action}").status == 200
    assert office.client.as_("bob").get(f"/actions/{action}").code == "unknown_action"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "/actions/{}/comments", {"text": "Hello"}),
        ("put", "/actions/{}/reaction", {"kind": "like"}),
        ("put", "/actions/{}/hidden", {"is_hidden": True}),
        ("get", "/actions/{}/comments", {}),
        ("delete", "/actions/{}", {}),
    ],
)
def test_who_does_not_see_an_action_can_do_nothing_with_it(
    office: Office, method: str, path: str, body: dict[str, Any]
) -> None:
    action = office.act("ann")

    reply = getattr(office.client.as_("dan"), method)(path.format(action), **body)

    assert reply.code == "unknown_action"
    assert office.stored(action)["event_count"] == 0


def test_all_of_it_needs_a_token(client: Client) -> None:
    assert client.post("/actions", scope="team").code == "unauthenticated"
    assert client.get("/actions/x").code == "unauthenticated"
    assert client.put("/actions/x/hidden", is_hidden=True).code == "unauthenticated"


def test_comments_are_read_oldest_first_by_pages(office: Office) -> None:
    action = office.act("ann")
    for number in range(5):
        # Two at the same time, which their ids then put in order.
        office.clock.advance(seconds=number % 2)
        office.comment("bob", action, str(number))
    bob = office.client.as_("bob")

    pages, target = [], f"/actions/{action}/comments?limit=2"
    cursor = ""
    while cursor is not None:
        reply = bob.get(target + (f"&cursor={cursor}" if cursor else ""))
        pages.append([comment["text"] for comment in reply.json["comments"]])
        cursor = reply.json["next"]

    assert [len(page) for page in pages] == [2, 2, 1]
    texts = [text for page in pages for text in page]
    assert sorted(texts) == list("01234")
    assert texts[0] == "0"
    assert texts[-1] in "34"
    assert bob.get(f"/actions/{action}").json["comment_count"] == 5


def test_a_cursor_of_another_action_is_refused(office: Office) -> None:
    first, second = office.act("ann"), office.act("ann")
    for text in "ab":
        office.comment("bob", first, text)
    cursor = office.client.as_("bob").get(f"/actions/{first}/comments?limit=1").json["next"]

    reply = office.client.as_("bob").get(f"/actions/{second}/comments?cursor={cursor}")

    assert reply.code == "invalid_cursor"


def test_everybody_has_one_reaction(office: Office) -> None:
    action = office.act("ann")

    for kind in ("like", "like", "celebrate"):
        office.react("bob", action, kind)
    office.react("ann", action)

    assert office.stored(action)["reaction_count"] == 2
    events = office.runtime.database["feed.event"].find({"action_id": action, "by.id": "bob"})
    assert [event["kind"] for event in events] == ["celebrate"]


@pytest.mark.parametrize("body", [{}, {"kind": "$set"}, {"kind": 1}, {"kind": "like", "x": 1}])
def test_a_reaction_is_of_a_known_kind(office: Office, body: dict[str, Any]) -> None:
    action = office.act("ann")
    reply = office.client.as_("bob").put(f"/actions/{action}/reaction", **body)
    assert (reply.status, reply.code) == (422, "invalid_request")


def is_hidden(office: Office, action: str) -> bool:
    return bool(office.stored(action)["hidden"])


@pytest.mark.parametrize("first", ["actor", "moderator"])
def test_what_a_moderator_hid_its_actor_cannot_show(office: Office, first: str) -> None:
    action = office.act("ann")
    target = f"/actions/{action}/hidden"
    moderator = office.client.as_("dan", roles=["social_moderator"])
    callers = [office.client.as_("ann"), moderator]
    for caller in callers if first == "actor" else callers[::-1]:
        assert caller.put(target, is_hidden=True).status == 204

    assert office.client.as_("ann").put(target, is_hidden=False).code == "forbidden"
    assert is_hidden(office, action)

    assert moderator.put(target, is_hidden=False).status == 204
    assert not is_hidden(office, action)


def test_what_a_moderator_showed_again_is_its_actors_to_hide_and_show(office: Office) -> None:
    action = office.act("ann")
    target = f"/actions/{action}/hidden"
    moderator = office.client.as_("dan", roles=["social_moderator"])
    for hidden in (True, False):
        assert moderator.put(target, is_hidden=hidden).status == 204

    for hidden in (True, False, False):
        office.hide("ann", action, hidden=hidden)
        assert is_hidden(office, action) is hidden


def test_hiding_and_showing_twice_changes_nothing(office: Office) -> None:
    action = office.act("ann")
    for hidden in (True, True, False, False):
        office.hide("ann", action, hidden=hidden)
    assert office.stored(action)["hidden_version"] == 2


def test_a_tombstone_names_nobody(office: Office) -> None:
    action = office.act("ann")
    office.delete("ann", action)
    office.workers.drain()
    assert "Ann" not in str(office.stored(action))


def test_only_its_actor_and_moderators_hide_and_delete_an_action(office: Office) -> None:
    action = office.act("ann")
    bob = office.client.as_("bob")
    moderator = office.client.as_("dan", roles=["social_moderator"])

    assert bob.put(f"/actions/{action}/hidden", is_hidden=True).code == "forbidden"
    assert bob.delete(f"/actions/{action}").code == "forbidden"

    assert moderator.put(f"/actions/{action}/hidden", is_hidden=True).status == 204
    assert bob.get(f"/actions/{action}").code == "unknown_action"
    assert office.client.as_("ann").get(f"/actions/{action}").json["is_hidden"]
    assert moderator.delete(f"/actions/{action}").status == 204
    assert moderator.delete(f"/actions/{action}").code == "unknown_action"
    assert office.client.as_("ann").get(f"/actions/{action}").code == "unknown_action"
