"""New names of users and of refs reach the actions that mention them."""

from datetime import timedelta
from typing import Any

import pytest
from pymongo import monitoring

from chalicelib.jobs import outbox
from chalicelib.social.activity import renaming
from chalicelib.social.activity.actions import actions, types
from tests.social.activity.support.office import APPLIED, ENGINEER, MARY, Office
from tests.support.commands import listening
from tests.support.http_client import Client

RATED: dict[str, Any] = {
    **APPLIED,
    "type": "application_rating",
    "rater_id": "bob",
    "rater_name": "Bob",
    "rating_score": 4.5,
}


def rename_ref(office: Office, ref: str, name: str) -> None:
    admin = office.client.as_("root", roles=["admin"])
    assert admin.put(f"/refs/{ref}", name=name).status == 204


def rename(office: Office, user: str, name: str) -> None:
    assert office.client.as_(user).put("/users/me", name=name).status == 200


def shown(office: Office, action: str) -> Any:
    return office.client.as_("ann").get(f"/actions/{action}").json


def test_a_ref_is_renamed_among_the_refs_and_in_the_descriptor(office: Office) -> None:
    action = office.act("ann")
    rename_ref(office, "mary", "Mary Smith")
    office.workers.drain()
    read = shown(office, action)
    assert read["refs"] == [{**MARY, "name": "Mary Smith"}, ENGINEER]
    assert read["descriptor"] == {**APPLIED, "applicant_name": "Mary Smith"}


def test_a_ref_that_only_the_descriptor_names_is_renamed(office: Office) -> None:
    action = office.act("ann", refs=[])
    rename_ref(office, "engineer", "Architect")
    office.workers.drain()
    assert shown(office, action)["descriptor"]["position_name"] == "Architect"


def test_a_user_is_renamed_in_actions_of_a_type_that_is_registered_no_more(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.act("bob")
    about_bob = office.tell("ann", descriptor=RATED)
    monkeypatch.delitem(types.DESCRIPTORS, "application_rating")

    rename(office, "bob", "Robert")
    office.workers.drain()

    left = office.stored(about_bob)["descriptor"]
    assert (left["rater_id"], left["rater_name"]) == ("bob", "Robert")
    assert left["applicant_name"] == APPLIED["applicant_name"]


class Updates(monitoring.CommandListener):
    """Counts the updates of actions that a client sends."""

    def __init__(self) -> None:
        self.count = 0

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        self.count += event.command.get("update") == actions.ACTIONS.name

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        pass

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        pass


def test_a_second_attempt_writes_none_of_the_renamed_actions_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.settle("bob")
    for _ in range(3):
        office.tell("ann", descriptor=RATED)
    monkeypatch.delitem(types.DESCRIPTORS, "application_rating")
    updates = Updates()
    sent = []

    with listening(office.runtime, updates) as heard:
        for _ in range(2):
            renaming.rename_user(heard.database, "bob", "Robert")
            sent.append(updates.count)
            updates.count = 0

    assert sent[0] - sent[1] == 3


def test_a_user_is_renamed_as_actor_in_descriptors_refs_and_comments(office: Office) -> None:
    bob = {"id": "bob", "type": "user", "name": "Bob"}
    by_bob, about_bob = office.act("bob"), office.tell("ann", descriptor=RATED, refs=[bob])
    office.comment("bob", about_bob)
    office.workers.drain()
    rename(office, "bob", "Robert")
    office.workers.drain()
    assert shown(office, by_bob)["actor"] == {"id": "bob", "name": "Robert"}
    read = shown(office, about_bob)
    assert read["descriptor"]["rater_name"] == "Robert"
    assert read["refs"] == [{**bob, "name": "Robert"}]
    assert read["actor"] == {"id": "ann", "name": "Ann"}
    comments = office.client.as_("ann").get(f"/actions/{about_bob}/comments").json["comments"]
    assert [each["author"]["name"] for each in comments] == ["Robert"]


# What an application may keep under the id of a user.
POSITION_BOB = {"id": "bob", "type": "position", "name": "Baker"}
IN_DESCRIPTOR = {**RATED, "position_id": "bob", "position_name": "Baker"}


def test_a_user_and_a_position_of_one_id_are_renamed_apart(office: Office) -> None:
    office.settle("bob")
    about_position = office.tell("ann", refs=[POSITION_BOB], descriptor=IN_DESCRIPTOR)
    about_user = office.act("ann", refs=[{**POSITION_BOB, "type": "user"}])

    rename(office, "bob", "Robert")
    office.workers.drain()
    assert shown(office, about_position)["refs"] == [POSITION_BOB]
    assert shown(office, about_position)["descriptor"]["position_name"] == "Baker"

    rename_ref(office, "bob", "Head baker")
    office.workers.drain()
    read = shown(office, about_position)
    assert read["refs"] == [{**POSITION_BOB, "name": "Head baker"}]
    assert read["descriptor"]["position_name"] == "Head baker"
    assert read["descriptor"]["rater_name"] == "Robert"
    assert [ref["name"] for ref in shown(office, about_user)["refs"]] == ["Robert"]


def test_the_last_of_several_names_stays_whatever_the_order(office: Office) -> None:
    action = office.act("ann")
    for name in ("First", "Second", "Third"):
        rename_ref(office, "mary", name)
    office.deliver_jobs()
    office.workers.drain()
    assert shown(office, action)["refs"][0]["name"] == "Third"


def test_a_name_that_was_never_sent_for_is_found_by_the_sweep(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    rename_ref(office, "mary", "Mary Smith")
    office.forget_messages()
    office.sweep_expired()
    assert shown(office, action)["refs"][0]["name"] == "Mary Smith"


def test_an_action_that_was_told_with_the_former_name_meanwhile_is_found(office: Office) -> None:
    rename_ref(office, "mary", "Mary Smith")
    office.workers.drain()
    late = office.act("ann")
    office.clock.advance(seconds=outbox.OUTLIVES_ALL / timedelta(seconds=1))
    office.sweep_expired()
    assert shown(office, late)["refs"][0]["name"] == "Mary Smith"


def test_other_names_stay_as_they_are(office: Office) -> None:
    action = office.act("ann")
    before = office.stored(action)
    rename_ref(office, "nobody", "Mary Smith")
    rename(office, "cy", "Cyrus")
    office.workers.drain()
    assert office.stored(action)["descriptor"] == before["descriptor"]
    assert office.stored(action)["refs"] == before["refs"]


def test_only_an_admin_renames_refs(client: Client) -> None:
    for roles in ([], ["publisher"], ["social_moderator"]):
        assert client.as_("ann", roles=roles).put("/refs/mary", name="M").code == "forbidden"
    assert client.put("/refs/mary", name="M").code == "unauthenticated"


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": {"$set": 1}}, {"name": "x", "id": 1}])
def test_a_name_is_a_line_of_text(client: Client, body: dict[str, Any]) -> None:
    reply = client.as_("root", roles=["admin"]).put("/refs/mary", **body)
    assert reply.code == "invalid_request"
