"""Moderators change how a person stands at their site, and the person is told a part of it."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments.people import changing
from tests.support.clock import Clock
from tests.support.http_client import Client

NODE = "/nodes/blog:moon"
COMMENTS = f"{NODE}/comments"
ANN = "/sites/blog/people/ann"
NONE = dict.fromkeys(("visible", "pending", "rejected", "spam", "flags_right", "flags_wrong"), 0)


@pytest.fixture
def moderator(client: Client) -> Client:
    mo = client.as_("mo", roles=["moderator"], sites=["blog"])
    assert mo.put(NODE, title="Moon", url="https://blog.example/moon").status == 201
    return mo


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann")


def told(reply: Any) -> tuple[int, str]:
    return reply.status, reply.code


def test_somebody_of_whom_nothing_is_known_is_as_new(moderator: Client, ann: Client) -> None:
    own: dict[str, Any] = {
        "id": "ann",
        "site": "blog",
        "name": "ann",
        "status": "ok",
        "until": None,
    }
    own |= {"badges": [], "first_at": None}

    assert ann.get(ANN).json == own
    assert moderator.get(ANN).json == {**own, "trust": 0, "counts": NONE, "note": ""}


def test_a_first_post_makes_a_person(moderator: Client, ann: Client, clock: Clock) -> None:
    assert ann.post(COMMENTS, text="hello").status == 201

    found = moderator.get(ANN).json
    assert (found["name"], found["status"], found["trust"]) == ("Ann", "ok", 0)
    assert found["first_at"] == clock().isoformat().replace("+00:00", "Z")


def test_only_moderators_of_the_site_and_the_person_may_ask(client: Client) -> None:
    other = client.as_("bob")
    elsewhere = client.as_("eve", roles=["moderator"], sites=["shop"])

    assert told(other.get(ANN)) == (403, "forbidden")
    assert told(elsewhere.get(ANN)) == (403, "forbidden")
    assert told(elsewhere.patch(ANN, status="banned")) == (403, "forbidden")
    assert told(other.patch(ANN, status="banned")) == (403, "forbidden")


def test_who_is_banned_neither_posts_nor_edits(moderator: Client, ann: Client) -> None:
    posted = ann.post(COMMENTS, text="hello").json["id"]
    assert moderator.patch(ANN, status="banned", note="Sells things").json["note"] == "Sells things"

    assert told(ann.post(COMMENTS, text="again")) == (403, "banned")
    assert told(ann.patch(f"{COMMENTS}/{posted}", text="again")) == (403, "banned")
    assert ann.get(ANN).json["status"] == "banned"
    assert "note" not in ann.get(ANN).json
    assert ann.delete(f"{COMMENTS}/{posted}").status == 204


def test_who_is_suspended_is_told_until_when(moderator: Client, ann: Client, clock: Clock) -> None:
    posted = ann.post(COMMENTS, text="hello").json["id"]
    until = (clock() + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    moderator.patch(ANN, status="suspended", until=until)

    refused = ann.post(COMMENTS, text="again")
    assert told(refused) == (403, "suspended")
    assert refused.json["facts"] == {"until": until}
    assert told(ann.patch(f"{COMMENTS}/{posted}", text="again")) == (403, "suspended")
    assert ann.get(ANN).json["until"] == until

    clock.advance(hours=1)
    assert ann.post(COMMENTS, text="again").status == 201
    assert (ann.get(ANN).json["status"], ann.get(ANN).json["until"]) == ("ok", None)


def test_another_status_ends_a_suspension(moderator: Client, ann: Client, clock: Clock) -> None:
    until = (clock() + timedelta(hours=1)).isoformat()
    moderator.patch(ANN, status="suspended", until=until)
    moderator.patch(ANN, badges=["Author", "Author"])
    assert moderator.get(ANN).json["status"] == "suspended"

    changed = moderator.patch(ANN, status="ok").json

    assert (changed["status"], changed["until"], changed["badges"]) == ("ok", None, ["Author"])
    assert ann.post(COMMENTS, text="again").status == 201


def test_a_status_holds_at_its_site_alone(moderator: Client, client: Client, ann: Client) -> None:
    root = client.as_("root", roles=["admin"])
    root.put("/nodes/shop:sun", title="Sun", url="https://shop.example/sun")
    moderator.patch(ANN, status="banned")

    assert ann.post("/nodes/shop:sun/comments", text="hello").status == 201


def test_a_person_is_not_told_that_they_are_shadowed(moderator: Client, ann: Client) -> None:
    moderator.patch(ANN, status="shadowed")

    assert ann.get(ANN).json["status"] == "ok"
    assert moderator.get(ANN).json["status"] == "shadowed"


@pytest.mark.parametrize(
    "body",
    [
        {"status": "gone"},
        {"status": "banned", "until": "2099-01-01T00:00:00Z"},
        {"until": "2099-01-01T00:00:00Z"},
        {"status": "suspended", "until": "2001-01-01T00:00:00Z"},
        {"badges": ["x" * 21]},
        {"badges": list("abcdef")},
        {"note": "x" * 501},
    ],
    ids=str,
)
def test_a_change_that_means_nothing_is_refused(moderator: Client, body: dict[str, Any]) -> None:
    assert told(moderator.patch(ANN, **body)) == (422, "invalid_request")


def test_a_node_of_an_earlier_release_asks_the_site_that_it_belongs_to(
    moderator: Client, ann: Client, runtime: Any
) -> None:
    nodes = runtime.database["comments.node"]
    old = {**nodes.find_one({"_id": "blog:moon"}), "_id": "shop:moon"}
    nodes.insert_one(old)
    moderator.patch(ANN, status="banned")

    assert told(ann.post("/nodes/shop:moon/comments", text="hello")) == (403, "banned")


def test_a_decision_on_another_status_than_the_moderator_read_changes_nothing(
    moderator: Client, clock: Clock
) -> None:
    """Else the older form of a moderator would lift the ban of another."""
    ok: dict[str, Any] = {"status": "ok", "until": None}
    end = (clock() + timedelta(days=1)).isoformat()
    banned = moderator.patch(ANN, status="banned", as_shown=ok)
    assert (banned.status, banned.json["status"]) == (200, "banned")

    refused = moderator.patch(ANN, status="suspended", until=end, as_shown=ok)

    assert (refused.status, refused.code) == (409, "person_changed")
    assert refused.json["facts"] == {"status": "banned", "until": None}
    assert moderator.get(ANN).json["status"] == "banned"
    shown = {"status": "banned", "until": None}
    assert moderator.patch(ANN, status="ok", as_shown=shown).json["status"] == "ok"


def test_of_two_decisions_at_once_on_one_status_one_holds(
    moderator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok: dict[str, Any] = {"status": "ok", "until": None}
    moderator.patch(ANN, badges=["Helper"])
    change, others = changing.change, ["banned"]

    def be_overtaken(*given: Any) -> Any:
        if others:
            assert moderator.patch(ANN, status=others.pop()).status == 200
        return change(*given)

    monkeypatch.setattr(changing, "change", be_overtaken)

    assert moderator.patch(ANN, status="shadowed", as_shown=ok).code == "person_changed"
    assert moderator.get(ANN).json["status"] == "banned"
