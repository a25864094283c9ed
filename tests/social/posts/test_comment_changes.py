"""Comments on posts are edited and deleted by whoever may, in every design."""

from typing import Any

import pytest

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.settings import Settings
from chalicelib.social.posts import comment_changes
from chalicelib.social.timelines import propagation
from tests.social.support.designs import Design
from tests.social.support.drivers import (
    Town,
    circle,
    comment,
    follow,
    publish,
    settle,
)
from tests.social.support.interleaving import Meantime
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers


@pytest.fixture
def settings(settings: Settings, design: Design) -> Settings:
    return design.of(settings)


def edit(client: Client, caller: str, post: str, made: str, text: str = "Changed") -> Reply:
    return client.as_(caller).patch(f"/posts/{post}/comments/{made}", text=text)


def delete(client: Client, caller: str, post: str, made: str) -> Reply:
    return client.as_(caller).delete(f"/posts/{post}/comments/{made}")


def shown(client: Client, reader: str, post: str) -> list[tuple[list[str], int]]:
    """Return the texts and the count that a reader sees by id, in news, on the wall, and listed."""
    caller = client.as_(reader)
    pages = [caller.get(f"/users/me/{name}").json["posts"] for name in ("news", "wall", "incoming")]
    pages.append(caller.get("/users/ann/wall").json["posts"])
    found = [each for page in pages for each in page if each["id"] == post]
    found.append(caller.get(f"/posts/{post}").json)
    seen = [([each["text"] for each in one["comments"]], one["comment_count"]) for one in found]
    listed = caller.get(f"/posts/{post}/comments").json["comments"]
    return [*seen, ([each["text"] for each in listed], found[-1]["comment_count"])]


def test_an_edit_and_a_deletion_reach_every_copy(client: Client, workers: Workers) -> None:
    follow(client, "cy", "ann")
    post = publish(client, "ann")
    made = comment(client, "bob", post, "First")
    comment(client, "cy", post, "Second")
    workers.drain()

    edited = edit(client, "bob", post, made, " So\nit was ")
    assert edited.status == 200
    assert edited.json["text"] == "So\nit was"
    assert edited.json["edited_at"] == "2026-03-01T12:00:00Z"
    workers.drain()
    for reader in ("ann", "bob", "cy"):
        for seen in shown(client, reader, post):
            assert seen == (["So\nit was", "Second"], 2)
    (listed, _) = client.get(f"/posts/{post}/comments").json["comments"]
    assert listed == edited.json

    assert delete(client, "bob", post, made).status == 204
    workers.drain()
    for reader in ("ann", "bob", "cy"):
        for seen in shown(client, reader, post):
            assert seen == (["Second"], 1)


@pytest.mark.parametrize("remover", ["bob", "ann", "mod"])
def test_its_author_the_posts_author_and_a_moderator_delete_a_comment(
    client: Client, workers: Workers, remover: str
) -> None:
    post = publish(client, "ann")
    made, other = comment(client, "bob", post, "Abuse"), comment(client, "cy", post, "Kind")
    caller = client.as_(remover, roles=("social_moderator",) if remover == "mod" else ())

    assert caller.delete(f"/posts/{post}/comments/{made}").status == 204
    workers.drain()

    assert caller.delete(f"/posts/{post}/comments/{made}").code == "unknown_comment"
    assert [each["id"] for each in client.get(f"/posts/{post}/comments").json["comments"]] == [
        other
    ]
    assert client.get(f"/posts/{post}").json["comment_count"] == 1


def test_nobody_else_edits_or_deletes_a_comment(client: Client) -> None:
    circle(client, "ann", "club", "bob", "cy")
    post = publish(client, "ann", ["club"])
    made = comment(client, "bob", post)

    assert delete(client, "cy", post, made).code == "forbidden"
    assert delete(client, "dan", post, made).code == "unknown_post"
    moderator = client.as_("mod", roles=("social_moderator",))
    for caller in (client.as_("cy"), client.as_("ann")):
        assert caller.patch(f"/posts/{post}/comments/{made}", text="No").code == "forbidden"
    for stranger in (client.as_("dan"), moderator):
        assert stranger.patch(f"/posts/{post}/comments/{made}", text="No").code == "unknown_post"
    public = publish(client, "ann")
    of_public = comment(client, "bob", public)
    assert moderator.patch(f"/posts/{public}/comments/{of_public}", text="No").code == "forbidden"
    assert client.delete(f"/posts/{public}/comments/{of_public}").status == 401
    assert client.as_("bob").get(f"/posts/{post}").json["comment_count"] == 1


@pytest.mark.parametrize("by", ["ann", "bob"])
def test_who_is_blocked_finds_no_comment_to_change(client: Client, by: str) -> None:
    settle(client, "ann", "bob", "cy")
    post = publish(client, "ann")
    made = comment(client, "bob", post)
    client.as_(by).put("/users/me/blocked/cy")

    code = "unknown_post" if by == "ann" else "unknown_comment"
    assert delete(client, "cy", post, made).code == code
    assert edit(client, "cy", post, made).code == code


def test_a_comment_is_of_its_own_post_alone(client: Client) -> None:
    post, other = publish(client, "ann"), publish(client, "bob")
    made = comment(client, "cy", post)

    for caller in ("cy", "bob"):
        assert delete(client, caller, other, made).code == "unknown_comment"
        assert edit(client, caller, other, made).code == "unknown_comment"
    for caller in ("ann", "cy"):
        assert delete(client, caller, post, "none").code == "unknown_comment"
        assert delete(client, caller, "none", made).code == "unknown_post"
        assert edit(client, caller, "none", made).code == "unknown_post"
    client.as_("ann").delete(f"/posts/{post}")
    assert delete(client, "cy", post, made).code == "unknown_post"
    assert edit(client, "cy", post, made).code == "unknown_post"


@pytest.mark.parametrize(("seconds", "code"), [(900, None), (901, "edit_window_over")])
def test_an_author_edits_for_a_quarter_of_an_hour_and_deletes_at_any_time(
    town: Town, seconds: int, code: str | None
) -> None:
    post = town.publish()
    made = comment(town.client, "bob", post)
    town.clock.advance(seconds=seconds)

    edited = edit(town.client, "bob", post, made)
    assert (edited.code if code else edited.status) == (code or 200)
    own = comment(town.client, "mod", post)
    town.clock.advance(days=1)
    moderator = town.client.as_("mod", roles=("social_moderator",))
    assert moderator.patch(f"/posts/{post}/comments/{own}", text="Changed").status == 200
    assert delete(town.client, "bob", post, made).status == 204


@pytest.mark.parametrize("text", ["", " ", "x" * 2_001, "a\x00b", None, 1, {"$gt": ""}])
def test_a_hostile_edit_is_refused(client: Client, text: Any) -> None:
    post = publish(client, "ann")
    made = comment(client, "bob", post)

    assert edit(client, "bob", post, made, text).code == "invalid_request"
    assert client.get(f"/posts/{post}/comments").json["comments"][0]["edited_at"] is None


def test_a_call_that_is_repeated_after_the_deletion_does_not_bring_the_comment_back(
    client: Client,
) -> None:
    settle(client, "bob")
    post = publish(client, "ann")
    headers = {"Content-Type": "application/json", "Idempotency-Key": "once"}
    path, body = f"/posts/{post}/comments", b'{"text": "So it is"}'
    made = client.as_("bob").request("POST", path, body=body, headers=headers)
    assert delete(client, "bob", post, made.json["id"]).status == 204

    again = client.as_("bob").request("POST", path, body=body, headers=headers)

    assert again.code == "unknown_comment"
    assert client.get(f"/posts/{post}").json["comment_count"] == 0


def test_a_comment_is_deleted_after_its_author_may_no_longer_see_the_post(client: Client) -> None:
    circle(client, "ann", "club", "bob")
    post = publish(client, "ann", ["club"])
    made = comment(client, "bob", post)
    client.as_("ann").delete("/users/me/circles/club/members/bob")

    assert edit(client, "bob", post, made).code == "unknown_post"
    assert delete(client, "bob", post, made).status == 204
    assert client.as_("ann").get(f"/posts/{post}").json["comment_count"] == 0


def test_what_a_block_hides_from_the_posts_author_they_can_read_and_delete(
    client: Client, workers: Workers
) -> None:
    settle(client, "ann", "bob", "cy")
    post = publish(client, "ann")
    kind, abuse = comment(client, "cy", post, "Kind"), comment(client, "bob", post, "Abuse")
    client.as_("ann").put("/users/me/blocked/bob")
    workers.drain()
    path = f"/posts/{post}/comments"

    assert [each["id"] for each in client.as_("ann").get(path).json["comments"]] == [kind]
    hidden = client.as_("ann").get(f"{path}?blocked=true").json["comments"]
    assert [each["id"] for each in hidden] == [kind, abuse]
    assert client.as_("cy").get(f"{path}?blocked=true").code == "forbidden"
    assert client.get(f"{path}?blocked=true").code == "forbidden"

    assert client.as_("ann").delete(f"{path}/{abuse}").status == 204
    workers.drain()
    assert shown(client, "cy", post)[-1] == (["Kind"], 1)


def test_a_moderator_lists_the_comments_of_a_post_to_a_circle_and_is_audited(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    circle(client, "ann", "club", "bob")
    post = publish(client, "ann", ["club"])
    made = comment(client, "bob", post)
    moderator = client.as_("mod", roles=("social_moderator",))

    listed = moderator.get(f"/posts/{post}/comments").json
    assert (listed["read_as"], [each["id"] for each in listed["comments"]]) == ("moderator", [made])
    assert audits(caplog)[-1]["details"] == {"read_as": "moderator"}
    assert "read_as" not in client.as_("bob").get(f"/posts/{post}/comments").json
    assert moderator.get("/posts/none/comments").code == "unknown_post"
    assert client.as_("dan").get(f"/posts/{post}/comments").code == "unknown_post"

    assert moderator.delete(f"/posts/{post}/comments/{made}").status == 204
    line = audits(caplog)[-1]
    assert line["details"] == {"removed_as": "moderator"}
    assert line["things"] == {"post": post, "comment": made}


def audits(caplog: pytest.LogCaptureFixture) -> list[Document]:
    return [each.fields for each in caplog.records if each.getMessage() == "audit"]  # type: ignore[attr-defined]


def test_a_change_whose_message_is_lost_is_propagated_by_the_sweep(
    town: Town, workers: Workers
) -> None:
    follow(town.client, "cy", "ann")
    post = town.publish()
    kept, made = comment(town.client, "bob", post), comment(town.client, "bob", post)
    workers.drain()
    lost, _courier = town.with_courier()
    bob = Principal("bob", "Bob")
    comment_changes.edit(lost, post, kept, bob, "Changed")
    comment_changes.remove(lost, post, made, bob)

    town.let_lease_expire()
    propagation.sweep(town.runtime)
    workers.drain()

    for seen in shown(town.client, "cy", post):
        assert seen == (["Changed"], 1)
    stored = town.runtime.database["social.post"].find_one({"_id": post})
    assert stored
    assert "due" not in stored["spread"]


def test_changes_that_are_propagated_late_and_twice_bring_nothing_back(watched: Town) -> None:
    client = watched.client
    follow(client, "cy", "ann")
    post = publish(client, "ann")
    kept, made = comment(client, "bob", post, "Kept"), comment(client, "bob", post, "Gone")
    edit(client, "bob", post, kept)
    delete(client, "bob", post, made)

    watched.courier.deliver(watched.runtime, watched.runtime.random, twice=True)

    for seen in shown(client, "cy", post):
        assert seen == (["Changed"], 1)


@pytest.mark.parametrize("late", ["edit", "delete"])
def test_of_two_at_once_a_deletion_wins_and_is_counted_once(
    watched: Town, meantime: Meantime, late: str
) -> None:
    client = watched.client
    post = publish(client, "ann")
    made, other = comment(client, "bob", post), comment(client, "bob", post, "Other")

    def meanwhile() -> None:
        assert delete(client, "ann", post, made).status == 204

    meantime.before("update", "social.post", meanwhile)
    reply = (edit if late == "edit" else delete)(client, "bob", post, made)

    assert meantime.done()
    assert reply.code == "unknown_comment"
    listed = client.get(f"/posts/{post}/comments").json["comments"]
    assert [each["id"] for each in listed] == [other]
    assert client.get(f"/posts/{post}").json["comment_count"] == 1
