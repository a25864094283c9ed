"""The log of moderation: what moderators did, told to moderators, and undone by them."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments.log.rows import KEPT, LOG
from chalicelib.runtime import Runtime
from tests.support.clock import Clock
from tests.support.http_client import Client

pytestmark = pytest.mark.usefixtures("passing_time")
NODE = "/nodes/blog:moon"
ANN = "/sites/blog/people/ann"
LOG_OF_BLOG = "/moderation/log?site=blog"


@pytest.fixture
def moderator(client: Client) -> Client:
    mo = client.as_("mo", name="Mo", roles=["moderator"], sites=["blog"])
    assert mo.put(NODE, title="Moon", url="https://blog.example/moon").status == 201
    return mo


@pytest.fixture
def comment(client: Client, moderator: Client) -> str:
    """The path of a visible comment of Ann's."""
    del moderator
    made = client.as_("ann", name="Ann").post(f"{NODE}/comments", text="Full tonight")
    return f"{NODE}/comments/{made.json['id']}"


def acts(moderator: Client, query: str = "") -> list[dict[str, Any]]:
    reply = moderator.get(LOG_OF_BLOG + query)
    assert reply.status == 200, reply.body
    found: list[dict[str, Any]] = reply.json["acts"]
    return found


def set_state(moderator: Client, comment: str, state: str, **said: str) -> None:
    assert moderator.post(f"{comment}/state", state=state, **said).status == 200


def undo(moderator: Client, act: dict[str, Any]) -> Any:
    return moderator.post(f"/moderation/log/{act['id']}/undo")


def state_of(moderator: Client, comment: str) -> str:
    return str(moderator.get(comment).json["state"])


def test_a_decision_is_told_with_who_made_it_and_why(moderator: Client, comment: str) -> None:
    set_state(moderator, comment, "hidden", reason="Off topic")

    (act,) = acts(moderator)
    assert act["action"] == "state"
    assert (act["before"], act["after"]) == ({"state": "visible"}, {"state": "hidden"})
    assert (act["by"], act["person"]) == ({"id": "mo", "name": "Mo"}, {"id": "ann", "name": "Ann"})
    assert (act["reason"], act["undoes"], act["can_undo"]) == ("Off topic", None, True)
    assert f"/nodes/{act['node_id']}/comments/{act['comment_id']}" == comment


def test_what_is_done_with_a_person_is_told(moderator: Client, clock: Clock) -> None:
    until = (clock() + timedelta(days=1)).isoformat()
    moderator.patch(ANN, status="suspended", until=until, reason="Heated")
    moderator.patch(ANN, note="Calm again", badges=["Helper"])

    noted, suspended = acts(moderator)
    assert suspended["action"] == "person"
    assert suspended["before"] == {"status": "ok", "until": None}
    assert suspended["after"]["status"] == "suspended"
    assert suspended["after"]["until"]
    assert (suspended["reason"], suspended["person"]["id"]) == ("Heated", "ann")
    assert noted["before"] == {"badges": [], "note": ""}
    assert noted["after"] == {"badges": ["Helper"], "note": "Calm again"}


def test_an_edit_and_a_deletion_by_a_moderator_are_told_and_stay(
    client: Client, moderator: Client, comment: str
) -> None:
    assert client.as_("ann").patch(comment, text="Mine, changed").status == 200
    assert moderator.patch(comment, text="Theirs, changed").status == 200
    assert moderator.delete(comment).status == 204

    deleted, edited = acts(moderator)
    assert (edited["action"], edited["before"], edited["after"]) == ("edit", {}, {})
    assert (deleted["action"], deleted["after"]) == ("delete", {"state": "deleted"})
    for act in (deleted, edited):
        assert not act["can_undo"]
        assert undo(moderator, act).code == "act_not_undoable"


def test_what_authors_do_with_their_own_is_no_act(client: Client, comment: str) -> None:
    ann = client.as_("ann")
    assert ann.patch(comment, text="Mine, changed").status == 200
    assert ann.delete(comment).status == 204
    mo = client.as_("mo", roles=["moderator"], sites=["blog"])
    assert acts(mo) == []


def test_a_refused_act_leaves_no_row(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    read = "2020-01-01T00:00:00Z"
    assert moderator.post(f"{comment}/state", state="hidden", edited_at=read).code == (
        "comment_changed"
    )
    client.as_("ann").delete(comment)
    assert moderator.post(f"{comment}/state", state="hidden").code == "unknown_comment"
    assert LOG.of(runtime.database).count_documents({}) == 0


def test_a_decision_is_undone_by_another_moderator_and_done_again(
    client: Client, moderator: Client, comment: str
) -> None:
    set_state(moderator, comment, "hidden")
    mia = client.as_("mia", name="Mia", roles=["moderator"], sites=["blog"])
    (act,) = acts(mia)

    undone = undo(mia, act)

    assert (undone.status, undone.json["undoes"]) == (201, act["id"])
    assert undone.json["by"] == {"id": "mia", "name": "Mia"}
    assert state_of(moderator, comment) == "visible"
    assert undo(moderator, undone.json).status == 201
    assert state_of(moderator, comment) == "hidden"
    assert [each["undoes"] for each in acts(mia)] == [undone.json["id"], act["id"], None]


def test_what_waited_waits_again_with_its_reasons(client: Client, moderator: Client) -> None:
    moderator.put(NODE, title="Moon", url="https://blog.example/moon", moderation="before")
    made = client.as_("ann").post(f"{NODE}/comments", text="Read me first")
    comment = f"{NODE}/comments/{made.json['id']}"
    (waiting,) = moderator.get("/moderation/comments").json["comments"]
    set_state(moderator, comment, "visible")

    assert undo(moderator, acts(moderator)[0]).status == 201

    assert moderator.get("/moderation/comments").json["comments"] == [waiting]


def test_the_shadow_of_a_comment_is_set_back_as_well(client: Client, moderator: Client) -> None:
    ann = client.as_("ann")
    moderator.patch(ANN, status="shadowed")
    made = ann.post(f"{NODE}/comments", text="Nobody sees this")
    comment = f"{NODE}/comments/{made.json['id']}"
    set_state(moderator, comment, "visible")

    assert undo(moderator, acts(moderator)[0]).status == 201

    assert state_of(moderator, comment) == "hidden"
    assert ann.get(comment).json["state"] == "visible"


def test_a_person_is_set_back(moderator: Client) -> None:
    moderator.patch(ANN, status="banned")
    (act,) = acts(moderator)

    assert undo(moderator, act).json["after"] == {"status": "ok", "until": None}
    assert moderator.get(ANN).json["status"] == "ok"
    # The note is another matter.
    moderator.patch(ANN, status="banned")
    moderator.patch(ANN, note="Knows why")
    assert undo(moderator, acts(moderator)[1]).status == 201
    told = moderator.get(ANN).json
    assert (told["status"], told["note"]) == ("ok", "Knows why")


def test_what_was_changed_since_is_not_undone(
    client: Client, moderator: Client, comment: str
) -> None:
    set_state(moderator, comment, "hidden")
    set_state(moderator, comment, "pending")
    held, hidden = acts(moderator)
    assert undo(moderator, hidden).code == "changed_since"
    assert client.as_("ann").delete(comment).status == 204
    assert undo(moderator, held).code == "changed_since"

    moderator.patch(ANN, status="banned")
    moderator.patch(ANN, status="shadowed")
    assert undo(moderator, acts(moderator)[1]).code == "changed_since"
    assert moderator.get(ANN).json["status"] == "shadowed"


def test_a_later_ban_outlasts_the_undoing_of_an_earlier_one(moderator: Client) -> None:
    moderator.patch(ANN, status="banned")
    first = acts(moderator)[0]
    moderator.patch(ANN, status="ok")
    moderator.patch(ANN, status="banned", reason="Threats")

    assert undo(moderator, first).code == "changed_since"

    assert moderator.get(ANN).json["status"] == "banned"
    assert undo(moderator, acts(moderator)[0]).status == 201


def test_an_act_that_changed_nothing_is_not_undone(moderator: Client, comment: str) -> None:
    set_state(moderator, comment, "visible")
    assert undo(moderator, acts(moderator)[0]).code == "act_not_undoable"


def test_an_act_on_a_node_that_is_gone_is_not_undone(
    client: Client, moderator: Client, comment: str
) -> None:
    set_state(moderator, comment, "hidden")
    publisher = client.as_("paula", roles=["publisher"], sites=["blog"])
    assert publisher.delete(NODE).status == 204
    assert undo(moderator, acts(moderator)[0]).code == "changed_since"


@pytest.mark.parametrize(
    ("to", "status", "left"), [("blog:sun", 201, "visible"), ("a:b", 409, "hidden")]
)
def test_an_act_on_a_moved_node_is_undone_where_the_node_is_within_the_site(  # noqa: PLR0913, PLR0917
    client: Client, moderator: Client, comment: str, to: str, status: int, left: str
) -> None:
    set_state(moderator, comment, "hidden")
    admin = client.as_("root", roles=["admin"])
    assert admin.post(f"{NODE}/move", to=to).status == 200

    assert undo(moderator, acts(moderator)[-1]).status == status
    assert state_of(admin, comment.replace(NODE, f"/nodes/{to}")) == left


def test_only_moderators_of_the_site_read_and_undo(
    client: Client, moderator: Client, comment: str
) -> None:
    set_state(moderator, comment, "hidden")
    (act,) = acts(moderator)
    other = client.as_("ody", roles=["moderator"], sites=["sea"])
    assert other.get(LOG_OF_BLOG).code == "forbidden"
    assert undo(other, act).code == "forbidden"
    assert undo(moderator, {"id": "blog:aaneGAECAwQFBgcI"}).code == "unknown_act"


def test_the_log_is_read_page_by_page_of_a_comment_and_of_a_person(
    client: Client, moderator: Client, comment: str
) -> None:
    other = client.as_("bob").post(f"{NODE}/comments", text="Mine").json["id"]
    for state in ("hidden", "visible"):
        set_state(moderator, comment, state)
        set_state(moderator, f"{NODE}/comments/{other}", state)
    moderator.patch(ANN, badges=["Helper"])

    everything = acts(moderator)
    assert len(everything) == 5
    walked, more = [], ""
    while True:
        page = moderator.get(f"{LOG_OF_BLOG}&limit=2{more}").json
        walked += page["acts"]
        if page["next"] is None:
            break
        more = f"&cursor={page['next']}"
    assert walked == everything
    of_other = acts(moderator, f"&node=blog:moon&comment={other}")
    assert [each["after"]["state"] for each in of_other] == ["visible", "hidden"]
    of_ann = acts(moderator, "&person=ann")
    assert [each["action"] for each in of_ann] == ["person", "state", "state"]
    assert moderator.get(f"{LOG_OF_BLOG}&person=ann{more}").code == "invalid_cursor"


@pytest.mark.parametrize(
    "query", ["&node=blog:moon", "&comment=abc", "&node=blog:moon&comment=abc&person=ann"]
)
def test_half_a_filter_is_refused(moderator: Client, query: str) -> None:
    assert moderator.get(LOG_OF_BLOG + query).code == "invalid_request"


def test_a_reason_is_bounded(moderator: Client, comment: str) -> None:
    assert moderator.post(f"{comment}/state", state="hidden", reason="x" * 501).status == 422
    set_state(moderator, comment, "hidden", reason="x" * 500)


def test_rows_go_after_two_years(moderator: Client, comment: str, runtime: Runtime) -> None:
    set_state(moderator, comment, "hidden")
    (index,) = [
        each
        for each in LOG.of(runtime.database).list_indexes()
        if each.get("expireAfterSeconds") is not None
    ]
    assert index["key"] == {"at": 1}
    assert timedelta(seconds=index["expireAfterSeconds"]) == KEPT
