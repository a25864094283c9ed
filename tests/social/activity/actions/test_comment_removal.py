"""Comments on actions are deleted by whoever may."""

from typing import Any

import pytest

from chalicelib.social.activity.actions import actions
from tests.social.activity.support.office import Office


def audits(caplog: pytest.LogCaptureFixture) -> list[Any]:
    return [each.fields for each in caplog.records if each.getMessage() == "audit"]  # type: ignore[attr-defined]


def delete(office: Office, caller: str, action: str, comment: str, *roles: str) -> str | None:
    reply = office.client.as_(caller, roles=list(roles)).delete(
        f"/actions/{action}/comments/{comment}"
    )
    return None if reply.status == 204 else str(reply.code)


@pytest.mark.parametrize("remover", ["bob", "ann", "mod"])
def test_its_author_the_actor_and_a_moderator_delete_a_comment(
    office: Office, remover: str
) -> None:
    action = office.tell("ann", "restricted", audience=["bob", "dan"])
    gone, kept = office.comment("bob", action, "Abuse"), office.comment("dan", action, "Kind")
    office.workers.drain()
    ranks = office.standing(action, ["ann", "bob", "dan"])
    roles = ["social_moderator"] if remover == "mod" else []

    assert delete(office, remover, action, gone, *roles) is None
    assert delete(office, remover, action, gone, *roles) == "unknown_comment"

    listed = office.client.as_("dan").get(f"/actions/{action}/comments").json["comments"]
    assert [each["id"] for each in listed] == [kept]
    assert office.stored(action)["comment_count"] == 1
    office.workers.drain()
    assert office.standing(action, ["ann", "bob", "dan"]) == ranks


def test_what_a_block_hides_from_the_actor_they_can_read_and_delete(office: Office) -> None:
    action = office.tell("ann", "restricted", audience=["bob", "dan"])
    kind, abuse = office.comment("dan", action, "Kind"), office.comment("bob", action, "Abuse")
    office.client.as_("ann").put("/users/me/blocked/bob")
    path = f"/actions/{action}/comments"

    assert [each["id"] for each in office.client.as_("ann").get(path).json["comments"]] == [kind]
    hidden = office.client.as_("ann").get(f"{path}?blocked=true").json
    assert sorted(each["id"] for each in hidden["comments"]) == sorted([kind, abuse])
    assert "read_as" not in hidden
    assert office.client.as_("dan").get(f"{path}?blocked=true").code == "forbidden"

    assert delete(office, "ann", action, abuse) is None


def test_a_moderator_lists_the_comments_on_an_action_that_is_not_for_them_and_is_audited(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    action = office.tell("ann", "restricted", audience=["bob"])
    made = office.comment("bob", action, "Abuse")
    office.client.as_("mod", roles=["social_moderator"]).put("/users/me/blocked/bob")
    path = f"/actions/{action}/comments"

    read = office.client.as_("mod", roles=["social_moderator"]).get(path).json

    assert ([each["id"] for each in read["comments"]], read["read_as"]) == ([made], "moderator")
    assert office.client.as_("mod").get(path).code == "unknown_action"
    read_line = next(each for each in audits(caplog) if "read_as" in each.get("details", {}))
    assert read_line["details"] == {"read_as": "moderator"}


def test_nobody_else_deletes_a_comment_on_an_action(office: Office) -> None:
    action = office.tell("ann", "restricted", audience=["bob", "dan"])
    other = office.tell("dan", "restricted", audience=["bob", "ann"])
    comment = office.comment("bob", action)

    assert delete(office, "dan", action, comment) == "forbidden"
    assert delete(office, "eve", action, comment) == "unknown_action"
    assert delete(office, "dan", action, "none") == "unknown_comment"
    assert delete(office, "dan", "none", comment) == "unknown_action"
    for caller in ("bob", "dan"):
        assert delete(office, caller, other, comment) == "unknown_comment"
    office.client.as_("bob").put("/users/me/blocked/dan")
    assert delete(office, "dan", action, comment) == "unknown_comment"
    assert office.stored(action)["comment_count"] == 1
    assert actions.find(office.runtime.database, action)["comment_count"] == 1


def test_a_comment_that_is_deleted_before_its_action_rises_raises_nothing_and_fails_nothing(
    office: Office,
) -> None:
    action = office.tell("ann", "restricted", audience=["bob"])
    comment = office.comment("bob", action)

    assert delete(office, "bob", action, comment) is None
    office.workers.drain()

    assert office.stored(action)["comment_count"] == 0
