"""Flags of comments: what they weigh, what they hold back, who sees them, what becomes of them."""

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.comments import jobs
from chalicelib.comments.marking import flags
from chalicelib.marks.shapes import MARKS
from chalicelib.runtime import Runtime
from tests.comments.support.flagging import (
    NODE,
    PAGE,
    assert_exact,
    counts,
    entry,
    flag,
    know,
    moderator_of,
    weight,
)
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


def test_a_flag_is_set_changed_and_withdrawn(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    know(runtime, "bob", visible=3)
    for reason, note in (("spam", "A shop"), ("abuse", None), ("abuse", None)):
        assert flag(client, "bob", comment, reason, note=note).status == 204
        (told,) = moderator.get(f"{comment}/flags").json["flags"]
        assert (told["by"], told["reason"], told["note"]) == ("bob", reason, note or "")
        assert (told["weight"], told["outcome"], weight(moderator, comment)) == (1, None, 1)
    assert_exact(runtime)
    for _ in range(2):
        assert client.as_("bob").delete(f"{comment}/flag").status == 204
    assert moderator.get(f"{comment}/flags").json == {"weight": 0, "flags": [], "next": None}
    assert_exact(runtime)


def test_a_flag_stands_beside_the_vote_of_the_same_person(
    client: Client, publisher: Client, comment: str, runtime: Runtime, clock: Clock
) -> None:
    moderator = moderator_of(client)
    know(runtime, "bob", visible=3)
    assert publisher.put("/sites/blog/comments/settings", votes="up").status == 200
    clock.advance(seconds=6)
    bob = client.as_("bob")
    bob.put(f"{comment}/vote", value=1)
    flag(client, "bob", comment)
    bob.put(f"{comment}/vote", value=0)
    assert weight(moderator, comment) == 1
    assert bob.put(f"{comment}/vote", value=1).json["votes"] == {"up": 1, "down": 0}
    bob.delete(f"{comment}/flag")
    assert bob.get(f"{NODE}/marks?ids={comment.rpartition('/')[2]}").json["comments"]


@pytest.mark.parametrize(
    ("counts", "weighs"),
    [
        ({"visible": 0}, 0),
        ({"visible": 2}, 0),
        ({"visible": 3}, 1),
        ({"visible": 3, "flags_right": 3, "flags_wrong": 1}, 0.75),
        ({"visible": 3, "flags_wrong": 1}, 0),
        ({"visible": 20}, 2),
        ({"visible": 20, "flags_right": 3, "flags_wrong": 1}, 1.5),
        ({"visible": 20, "flags_wrong": 1}, 0),
        ({"visible": 20, "rejected": 2}, 1),
    ],
)
def test_a_flag_weighs_by_who_places_it(
    client: Client, comment: str, runtime: Runtime, counts: dict[str, int], weighs: float
) -> None:
    know(runtime, "bob", "blog", **counts)
    flag(client, "bob", comment)
    assert weight(moderator_of(client), comment) == weighs
    assert_exact(runtime)


def test_the_flag_of_somebody_who_is_held_off_weighs_nothing(
    client: Client, moderator: Client, comment: str
) -> None:
    assert moderator.patch("/sites/blog/people/bob", status="shadowed").status == 200
    assert flag(client, "bob", comment).status == 204
    assert weight(moderator, comment) == 0


def test_flags_that_weigh_enough_hold_a_comment_back(
    client: Client, moderator: Client, comment: str, runtime: Runtime, clock: Clock
) -> None:
    for who in ("a", "b", "c"):
        know(runtime, who, visible=3)
    first = clock.time
    for who in ("a", "b"):
        assert flag(client, who, comment).status == 204
        clock.advance(minutes=7)
    assert client.get(comment).status == 200
    assert flag(client, "c", comment).status == 204

    assert client.get(comment).status == 404
    assert client.as_("ann").get(comment).json["state"] == "pending"
    found = entry(runtime, comment)
    assert (found["queue"], found["queued_at"], found["flags"]) == ("flagged", first, 300)
    assert found["excerpt"] == "Full tonight"
    assert "hold_at" not in found
    (waiting,) = moderator.get("/moderation/comments").json["comments"]
    assert (waiting["id"], waiting["reasons"]) == (found["id"], ["flagged"])
    assert_exact(runtime)


def test_the_site_says_how_much_flags_have_to_weigh(
    client: Client, publisher: Client, comment: str, runtime: Runtime, clock: Clock
) -> None:
    for wrong in (0, 1001, "3"):
        assert publisher.put("/sites/blog/comments/settings", flags_hold=wrong).status == 422
    assert publisher.put("/sites/blog/comments/settings", flags_hold=2).json["flags_hold"] == 2
    clock.advance(seconds=6)
    for who in ("bob", "cy"):
        know(runtime, who, visible=3)
    flag(client, "bob", comment)
    assert client.get(comment).status == 200
    flag(client, "cy", comment)
    assert client.get(comment).status == 404


def test_a_moderators_flag_holds_a_comment_back_at_once(
    client: Client, moderator: Client, comment: str
) -> None:
    assert moderator.put(f"{comment}/flag", reason="other").status == 204
    assert client.get(comment).status == 404


@pytest.mark.parametrize(("state", "credit"), [("visible", (0, 1)), ("hidden", (1, 0))])
def test_a_decision_credits_those_who_flagged(
    client: Client, comment: str, runtime: Runtime, state: str, credit: tuple[int, int]
) -> None:
    moderator = moderator_of(client)
    flag(client, "bob", comment)
    moderator.put(f"{comment}/flag", reason="abuse")
    for _ in range(2):
        assert moderator.post(f"{comment}/state", state=state).status == 200
        assert counts(runtime, "bob") == counts(runtime, "mo") == credit
    found = moderator.get(f"{comment}/flags").json
    outcomes = {each["by"]: each["outcome"] for each in found["flags"]}
    assert (found["weight"], set(outcomes.values())) == (0, {"right" if credit[0] else "wrong"})
    assert entry(runtime, comment)["queue"] is None
    assert_exact(runtime)


def test_a_comment_that_waits_again_keeps_its_flags(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    know(runtime, "bob", visible=3)
    flag(client, "bob", comment)
    assert moderator.post(f"{comment}/state", state="pending").status == 200
    assert weight(moderator, comment) == 1
    assert entry(runtime, comment)["queue"] == "pending"
    assert_exact(runtime)


def test_a_moderator_who_deletes_a_flagged_comment_agrees(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    flag(client, "bob", comment)
    assert moderator.delete(comment).status == 204
    assert counts(runtime, "bob") == (1, 0)


def test_an_author_who_deletes_a_flagged_comment_decides_nothing(
    client: Client, comment: str, runtime: Runtime
) -> None:
    flag(client, "bob", comment)
    assert client.as_("ann").delete(comment).status == 204
    assert counts(runtime, "bob") is None


def test_only_later_flags_count_after_a_decision(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    know(runtime, "bob", visible=3)
    moderator.put(f"{comment}/flag", reason="abuse")
    moderator.post(f"{comment}/state", state="visible")
    flag(client, "bob", comment)
    assert weight(moderator, comment) == 1
    assert client.get(comment).status == 200
    assert moderator.put(f"{comment}/flag", reason="abuse").status == 204
    assert weight(moderator, comment) == 1
    assert_exact(runtime)


def test_an_edit_takes_no_flagged_comment_out_of_the_queue(
    client: Client, moderator: Client, publisher: Client, comment: str, runtime: Runtime
) -> None:
    moderator.put(f"{comment}/flag", reason="abuse")
    publisher.put(NODE, **PAGE, moderation="before")
    assert client.as_("ann").patch(comment, text="Better?").status == 200
    found = entry(runtime, comment)
    assert (found["queue"], found["reasons"]) == ("flagged", ["before", "flagged"])
    assert found["excerpt"] == "Better?"
    assert_exact(runtime)


def test_what_a_crash_left_is_held_back_by_the_schedule(
    client: Client, comment: str, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    moderator = moderator_of(client)
    with monkeypatch.context() as patch:
        patch.setattr(flags, "tend", lambda *_: False)
        moderator.put(f"{comment}/flag", reason="abuse")
    assert client.get(comment).status == 200
    assert jobs.run_due(runtime)["flagged_held"] == 0
    clock.advance(minutes=1)
    assert jobs.run_due(runtime)["flagged_held"] == 1
    assert client.get(comment).status == 404
    assert jobs.run_due(runtime)["flagged_held"] == 0
    assert_exact(runtime)


def test_what_was_decided_meanwhile_is_not_held_back(
    client: Client, comment: str, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    moderator = moderator_of(client)
    with monkeypatch.context() as patch:
        patch.setattr(flags, "tend", lambda *_: False)
        moderator.put(f"{comment}/flag", reason="abuse")
    moderator.post(f"{comment}/state", state="visible")
    clock.advance(minutes=1)
    assert jobs.run_due(runtime)["flagged_held"] == 0
    assert client.get(comment).status == 200


def test_many_who_flag_at_once_are_all_counted(
    client: Client, comment: str, runtime: Runtime, publisher: Client, clock: Clock
) -> None:
    publisher.put("/sites/blog/comments/settings", flags_hold=1000)
    clock.advance(seconds=6)
    with ThreadPoolExecutor(8) as pool:
        people = [f"p{number}" for number in range(24)] * 2
        for who in people[:12]:
            know(runtime, who, visible=3)
        replies = list(pool.map(lambda who: flag(client, who, comment).status, people))
    assert set(replies) == {204}
    found = entry(runtime, comment)
    assert (found["flags"], found["reports"], found["queue"]) == (1_200, 24, "flagged")
    assert_exact(runtime)


def test_a_locked_discussion_takes_reports_since_its_comments_stay_public(
    client: Client, runtime: Runtime, publisher: Client, comment: str
) -> None:
    publisher.put(NODE, **PAGE, locked=True)

    assert flag(client, "bob", comment).status == 204
    assert entry(runtime, comment)["queue"] == "flagged"
    assert client.as_("bob").delete(f"{comment}/flag").status == 204
    assert "flags" not in entry(runtime, comment)


def test_what_cannot_be_flagged_is_refused(client: Client, moderator: Client, comment: str) -> None:
    for reason in ("dull", "", None, 1):
        assert flag(client, "bob", comment, reason).status == 422
    assert flag(client, "bob", comment, note="x" * 501).status == 422
    assert flag(client, "ann", comment).code == "own_comment"
    assert flag(client, "bob", f"{NODE}/comments/gone").code == "unknown_comment"
    assert client.put(f"{comment}/flag", reason="spam").status == 401
    bob = client.as_("bob")
    moderator.post(f"{comment}/state", state="hidden")
    assert flag(client, "bob", comment).code == "unknown_comment"
    assert bob.delete(f"{comment}/flag").code == "unknown_comment"


@pytest.mark.parametrize("page", ["unknown", "moved"])
def test_flags_are_of_pages_that_are_there(
    client: Client, moderator: Client, comment: str, page: str
) -> None:
    here = NODE
    if page == "moved":
        admin = client.as_("adam", roles=["admin"])
        assert admin.post(f"{NODE}/move", to="blog:sun").status == 200
    else:
        here = "/nodes/blog:none"
    there = comment.replace(NODE, here)
    told = {"moved": (308, "node_moved"), "unknown": (404, "unknown_node")}[page]

    for reply in (
        flag(client, "bob", there),
        client.as_("bob").delete(f"{there}/flag"),
        moderator.get(f"{there}/flags"),
    ):
        assert (reply.status, reply.code) == told


def test_somebody_flags_ten_comments_an_hour(
    comment: str, clock: Clock, runtime: Runtime, token: Callable[..., str]
) -> None:
    settings = runtime.settings.model_copy(update={"limits": 1.0})
    app = create_app(dataclasses.replace(runtime, settings=settings), LocalChalice)
    client = Client(app, token)
    for _ in range(10):
        assert flag(client, "bob", comment).status == 204
    assert flag(client, "bob", comment).code == "too_fast"
    clock.advance(minutes=6)
    assert flag(client, "bob", comment).status == 204


def test_flags_are_read_page_by_page_by_the_sites_moderators(
    client: Client, moderator: Client, comment: str
) -> None:
    for who in ("cy", "bob", "dan"):
        flag(client, who, comment)
    first = moderator.get(f"{comment}/flags?limit=2").json
    assert [each["by"] for each in first["flags"]] == ["bob", "cy"]
    second = moderator.get(f"{comment}/flags?limit=2&cursor={first['next']}").json
    assert ([each["by"] for each in second["flags"]], second["next"]) == (["dan"], None)
    assert moderator.get(f"{comment}/flags?cursor=nonsense").code == "invalid_cursor"
    assert moderator.get(f"{NODE}/comments/gone/flags").code == "unknown_comment"
    other = client.as_("ody", roles=["moderator"], sites=["sea"])
    assert other.get(f"{comment}/flags").code == "forbidden"
    assert client.as_("ann").get(f"{comment}/flags").code == "forbidden"


def test_a_node_that_moves_takes_its_flags_along(
    client: Client, moderator: Client, comment: str, runtime: Runtime
) -> None:
    know(runtime, "bob", visible=3)
    flag(client, "bob", comment)
    admin = client.as_("adam", roles=["admin"])
    assert admin.post(f"{NODE}/move", to="blog:sun").status == 200

    moved = comment.replace("moon", "sun")
    assert weight(moderator, moved) == 1
    (row,) = moderator.get("/moderation/comments?queue=flagged").json["comments"]
    assert row["node_id"] == "blog:sun"
    assert_exact(runtime)


def test_who_is_erased_takes_their_flags(
    client: Client, moderator: Client, comment: str, runtime: Runtime, workers: Workers
) -> None:
    for who in ("bob", "cy"):
        know(runtime, who, visible=3)
        flag(client, who, comment, note="I know them")
    client.as_("bob").delete("/users/me")
    workers.drain()
    assert [each["by"] for each in moderator.get(f"{comment}/flags").json["flags"]] == ["cy"]
    assert (weight(moderator, comment), entry(runtime, comment)["reports"]) == (1, 1)
    assert MARKS.of(runtime.database).count_documents({"user_id": "bob"}) == 0
    assert_exact(runtime)


def test_an_export_has_what_somebody_flagged(client: Client, comment: str) -> None:
    flag(client, "bob", comment, "abuse", note="Rude")
    entries = client.as_("bob").get("/users/me/export").json["entries"]
    (told,) = [each["data"]["flag"] for each in entries if each["kind"] == "mark"]
    assert (told["reason"], told["note"]) == ("abuse", "Rude")
