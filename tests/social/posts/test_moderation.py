"""Who moderates what lies outside sites: social moderators and admins, and no other moderator."""

from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.observability.logs import log
from tests.social.activity.support.office import Office
from tests.social.support.drivers import Town, circle, publish, settle, try_post
from tests.support.http_client import Reply

OUTSIDERS: tuple[dict[str, Any], ...] = (
    {"roles": ["moderator"]},
    {"roles": ["moderator"], "sites": ["alpha"]},
    {"roles": ["moderator"], "sites": []},
    {"roles": ["publisher", "advertiser", "application"]},
)
MODERATORS = ("social_moderator", "admin")


@pytest.fixture
def office(town: Town) -> Office:
    office = Office(town.client, town.workers, town.runtime, town.clock)
    office.place("ann", "bob", team="hiring")
    office.workers.drain()
    return office


@pytest.fixture
def reads(caplog: pytest.LogCaptureFixture) -> Iterator[list[dict[str, Any]]]:
    """What the audit says of reads, so far."""
    found: list[dict[str, Any]] = []

    class Reads:
        def __call__(self, record: Any) -> bool:
            if record.getMessage() == "audit" and record.fields["method"] == "GET":
                found.append({"caller": record.fields["caller"], **record.fields["things"]})
            return True

    caplog.handler.addFilter(Reads())
    log.addHandler(caplog.handler)
    yield found
    log.removeHandler(caplog.handler)


def to_the_club(town: Town) -> str:
    """Publish what Ann's friends alone may see."""
    circle(town.client, "ann", "club", "bob")
    return publish(town.client, "ann", ["club"])


def everything_on_a_post(town: Town, claims: dict[str, Any], post: str) -> list[Reply]:
    caller = town.client.as_("mo", **claims)
    return [
        caller.get(f"/posts/{post}"),
        caller.get(f"/posts/{post}/fan-out"),
        caller.post(f"/posts/{post}/fan-out"),
        caller.get("/fan-outs/failed-posts"),
        caller.delete(f"/posts/{post}"),
    ]


def everything_on_an_action(office: Office, claims: dict[str, Any], action: str) -> list[Reply]:
    caller = office.client.as_("mo", **claims)
    return [
        caller.get(f"/actions/{action}"),
        caller.get(f"/actions/{action}/fan-out"),
        caller.post(f"/actions/{action}/fan-out"),
        caller.get("/fan-outs/failed-actions"),
        caller.put(f"/actions/{action}/hidden", is_hidden=True),
        caller.put(f"/actions/{action}/hidden", is_hidden=False),
        caller.delete(f"/actions/{action}"),
    ]


@pytest.mark.parametrize("claims", OUTSIDERS, ids=str)
def test_moderators_of_sites_have_no_power_over_posts(town: Town, claims: dict[str, Any]) -> None:
    hidden_from_mo, public = to_the_club(town), publish(town.client, "ann")
    town.workers.drain()

    assert [each.status for each in everything_on_a_post(town, claims, hidden_from_mo)] == [
        *(404, 404, 403, 403, 404),
    ]
    assert [each.status for each in everything_on_a_post(town, claims, public)] == [
        *(200, 403, 403, 403, 403),
    ]


@pytest.mark.parametrize("claims", OUTSIDERS, ids=str)
def test_moderators_of_sites_have_no_power_over_actions(
    office: Office, claims: dict[str, Any]
) -> None:
    action = office.act("ann")
    office.workers.drain()
    moderator = office.client.as_("sam", roles=["social_moderator"])
    assert moderator.put(f"/actions/{action}/hidden", is_hidden=True).status == 204

    statuses = [each.status for each in everything_on_an_action(office, claims, action)]

    assert statuses == [404, 404, 403, 403, 404, 404, 404]
    assert office.stored(action)["hidden_by"] == "moderator"


@pytest.mark.parametrize("role", MODERATORS)
def test_social_moderators_have_all_power_over_posts(town: Town, role: str) -> None:
    post = to_the_club(town)
    town.workers.drain()

    replies = everything_on_a_post(town, {"roles": [role]}, post)

    assert [each.status for each in replies] == [200, 200, 409, 200, 204]


@pytest.mark.parametrize("role", MODERATORS)
def test_social_moderators_have_all_power_over_actions(office: Office, role: str) -> None:
    action = office.act("ann")
    office.workers.drain()

    replies = everything_on_an_action(office, {"roles": [role]}, action)

    assert [each.status for each in replies] == [200, 200, 409, 200, 204, 204, 204]


def test_what_a_moderator_may_not_see_as_a_reader_is_marked_and_audited(
    town: Town, reads: list[dict[str, Any]]
) -> None:
    post = to_the_club(town)
    moderator = town.client.as_("mo", roles=["social_moderator"])

    shown = moderator.get(f"/posts/{post}").json

    assert (shown["read_as"], shown["detail"]) == ("moderator", {"text": "Hello"})
    assert reads == [{"caller": "mo", "post": post}]
    assert "read_as" not in town.client.as_("bob").get(f"/posts/{post}").json


def test_what_a_moderator_sees_as_a_reader_is_neither_marked_nor_audited(
    town: Town, office: Office, reads: list[dict[str, Any]]
) -> None:
    post, action = publish(town.client, "ann"), office.act("ann")

    assert "read_as" not in town.client.as_("mo", roles=["admin"]).get(f"/posts/{post}").json
    in_team = office.client.as_("bob", roles=["social_moderator"])
    assert "read_as" not in in_team.get(f"/actions/{action}").json
    assert reads == []


def test_a_moderator_reads_the_action_that_another_hid(
    office: Office, reads: list[dict[str, Any]]
) -> None:
    action = office.act("ann")
    office.hide("ann", action)

    shown = office.client.as_("mo", roles=["social_moderator"]).get(f"/actions/{action}").json

    assert (shown["is_hidden"], shown["read_as"]) == (True, "moderator")
    assert reads == [{"caller": "mo", "action": action}]
    assert office.client.as_("bob").get(f"/actions/{action}").code == "unknown_action"


def test_a_moderator_reads_nothing_of_what_was_deleted(
    town: Town, office: Office, reads: list[dict[str, Any]]
) -> None:
    post, action = to_the_club(town), office.act("ann")
    assert town.client.as_("ann").delete(f"/posts/{post}").status == 204
    office.delete("ann", action)
    moderator = town.client.as_("mo", roles=["social_moderator"])

    assert moderator.get(f"/posts/{post}").code == "unknown_post"
    assert moderator.get("/posts/never").code == "unknown_post"
    assert moderator.get(f"/actions/{action}").code == "unknown_action"
    assert reads == []


def test_a_moderator_who_is_blocked_still_reads_what_is_to_be_judged(town: Town) -> None:
    settle(town.client, "ann", "mo")
    post = try_post(town.client, "ann").json["id"]
    assert town.client.as_("ann").put("/users/me/blocked/mo").status == 204

    assert town.client.as_("mo").get(f"/posts/{post}").code == "unknown_post"
    shown = town.client.as_("mo", roles=["social_moderator"]).get(f"/posts/{post}").json
    assert shown["read_as"] == "moderator"
