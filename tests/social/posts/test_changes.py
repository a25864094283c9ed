"""What changes on a post after it was posted: its text, its audience, its end; in every design."""

from typing import Any

import pytest

from chalicelib.settings import Settings
from chalicelib.social import jobs
from tests.social.support.designs import Design
from tests.social.support.drivers import (
    Town,
    circle,
    comment,
    fan_out,
    follow,
    ids,
    news,
    publish,
    settle,
    try_post,
    wall,
)
from tests.support.http_client import Client


@pytest.fixture
def settings(settings: Settings, design: Design) -> Settings:
    return design.of(settings)


def incoming(client: Client, reader: str) -> list[str]:
    return ids(client.as_(reader).get("/users/me/incoming"))


def test_an_edit_reaches_every_copy(town: Town) -> None:
    follow(town.client, "bob", "ann")
    post = town.publish()
    town.workers.drain()
    town.clock.advance(days=40)

    edited = town.client.as_("ann").patch(f"/posts/{post}", detail={"text": "Better"})
    town.workers.drain()

    assert edited.status == 200
    assert edited.json["detail"] == {"text": "Better"}
    assert edited.json["edited_at"] == "2026-04-10T12:00:00Z"
    shown = {name: value for name, value in edited.json.items() if name != "circles"}
    for path in ("/users/me/news", "/users/ann/wall"):
        assert town.client.as_("bob").get(path).json["posts"] == [shown]


def test_only_its_author_edits_a_post_and_as_its_type_allows(client: Client) -> None:
    circle(client, "ann", "club", "bob")
    post = publish(client, "ann", ["club"])
    path, text = f"/posts/{post}", {"text": "Mine"}

    assert client.as_("bob").patch(path, detail=text).code == "forbidden"
    assert client.as_("cy").patch(path, detail=text).code == "unknown_post"
    assert client.patch(path, detail=text).status == 401
    ann = client.as_("ann")
    bodies: list[dict[str, Any]] = [
        {"detail": {"text": ""}},
        {"detail": {}},
        {"detail": text, "circles": []},
        {},
    ]
    for body in bodies:
        assert ann.patch(path, **body).code == "invalid_request"


def test_a_deleted_post_is_nowhere(town: Town) -> None:
    client = town.client
    settle(client, "cy")
    follow(client, "bob", "ann")
    post = publish(client, "ann", wall_owner_id="cy")
    comment(client, "bob", post)
    town.workers.drain()

    assert client.as_("bob").delete(f"/posts/{post}").code == "forbidden"
    assert client.as_("ann").delete(f"/posts/{post}").status == 204
    town.workers.drain()

    assert client.as_("ann").delete(f"/posts/{post}").code == "unknown_post"
    assert client.as_("ann").get(f"/posts/{post}").code == "unknown_post"
    assert client.as_("ann").get(f"/posts/{post}/fan-out").code == "unknown_post"
    assert news(client, "bob") == incoming(client, "cy") == []
    assert wall(client, "ann", "ann") == wall(client, "cy", "cy") == []
    assert town.runtime.database["social.news_item"].count_documents({}) == 0


def test_a_moderator_deletes_anyone_s_post(client: Client) -> None:
    circle(client, "ann", "club")
    post = publish(client, "ann", ["club"])

    assert client.as_("mo", roles=["social_moderator"]).delete(f"/posts/{post}").status == 204
    assert client.as_("ann").get(f"/posts/{post}").status == 404


def test_an_audience_at_post_is_the_members_of_that_moment(town: Town) -> None:
    client = town.client
    circle(client, "ann", "club", "bob", "dan")
    for reader in ("bob", "cy"):
        follow(client, reader, "ann")
    post = publish(client, "ann", ["club"], audience="at_post")
    town.workers.drain()

    client.as_("ann").delete("/users/me/circles/club/members/bob")
    circle(client, "ann", "club", "cy")
    town.workers.drain()

    assert news(client, "bob") == incoming(client, "bob") == [post]
    assert incoming(client, "dan") == [post]
    assert news(client, "cy") == incoming(client, "cy") == []
    assert client.as_("cy").get(f"/posts/{post}").status == 404
    assert try_post(client, "ann", audience="at_post").code == "invalid_request"


def test_incoming_is_what_was_sent_to_me_by_anyone(town: Town) -> None:
    client = town.client
    circle(client, "ann", "club", "bob")
    settle(client, "bob", "cy")
    sent = [publish(client, "ann", ["club"]), publish(client, "cy", wall_owner_id="bob")]
    publish(client, "ann")
    publish(client, "bob", wall_owner_id="bob")
    town.workers.drain()

    assert sorted(incoming(client, "bob")) == sorted(sent)
    assert news(client, "bob") == []
    assert client.get("/users/me/incoming").status == 401


def test_joining_delivers_what_was_posted_before(town: Town) -> None:
    client = town.client
    circle(client, "ann", "club")
    public, club = town.publish(), publish(client, "ann", ["club"])
    town.workers.drain()

    follow(client, "bob", "ann")
    town.workers.drain()
    assert news(client, "bob") == [public]

    circle(client, "ann", "club", "bob")
    town.workers.drain()
    assert sorted(news(client, "bob")) == sorted([public, club])
    assert incoming(client, "bob") == [club]


def test_a_block_hides_each_from_the_other(town: Town) -> None:
    client = town.client
    circle(client, "ann", "club", "bob")
    follow(client, "bob", "ann")
    post, other = town.publish(), publish(client, "cy")
    comment(client, "bob", other)
    town.workers.drain()
    bob, ann = client.as_("bob"), client.as_("ann")

    assert ann.put("/users/me/blocked/bob").status == 204
    assert ann.put("/users/me/blocked/bob").status == 204
    town.workers.drain()

    assert news(client, "bob") == wall(client, "ann", "bob") == []
    assert bob.get(f"/posts/{post}").status == 404
    assert client.get("/users/bob").json["counts"] == {"followers": 0, "following": 0}
    assert bob.put("/users/me/circles/read/members/ann").code == "cannot_circle"
    for path in (f"/posts/{other}", f"/posts/{other}/comments"):
        assert ann.get(path).json["comments"] == []
        assert len(client.as_("cy").get(path).json["comments"]) == 1
    (shown,) = ann.get("/users/cy/wall").json["posts"]
    assert shown["comments"] == []

    assert ann.delete("/users/me/blocked/bob").status == 204
    assert wall(client, "ann", "bob") == [post]
    assert news(client, "bob") == []


def test_a_post_to_the_wall_of_someone_who_blocks_its_author_reaches_neither(town: Town) -> None:
    client = town.client
    circle(client, "ann", "club", "cy")
    settle(client, "bob")
    bob = client.as_("bob")
    bob.put("/users/me/blocked/ann")
    before = [wall(client, "bob", reader) for reader in ("bob", "cy", "ann")]

    post = publish(client, "ann", ["club"], wall_owner_id="bob")
    as_published = town.fan_out(post)
    town.workers.drain()

    def assert_it_stands_with_its_author_alone() -> None:
        assert [wall(client, "bob", reader) for reader in ("bob", "cy", "ann")] == before
        assert incoming(client, "bob") == news(client, "bob") == []
        assert bob.get(f"/posts/{post}").status == 404
        assert wall(client, "ann", "cy") == wall(client, "ann", "ann") == [post]

    assert_it_stands_with_its_author_alone()

    # Nor does it when they are friends again, whatever is delivered, changed or repaired.
    bob.delete("/users/me/blocked/ann")
    follow(client, "bob", "ann")
    client.as_("ann").patch(f"/posts/{post}", detail={"text": "Better"})
    again = {"$set": {"fan_out": as_published}}
    town.runtime.database["social.post"].update_one({"_id": post}, again)
    town.sweep_expired()
    assert town.fan_out(post)["state"] == "done"
    assert_it_stands_with_its_author_alone()
    jobs.verify_news(town.runtime, "bob")
    assert_it_stands_with_its_author_alone()
    later = publish(client, "ann", ["club"], wall_owner_id="bob")
    town.workers.drain()
    assert wall(client, "bob", "bob") == incoming(client, "bob") == [later]


def test_a_post_on_a_wall_before_a_block_is_there_again_after_it(town: Town) -> None:
    client = town.client
    follow(client, "bob", "ann")
    post = publish(client, "ann", wall_owner_id="bob")
    town.workers.drain()

    client.as_("bob").put("/users/me/blocked/ann")
    assert wall(client, "bob", "cy") == wall(client, "bob", "bob") == []
    client.as_("bob").delete("/users/me/blocked/ann")

    assert wall(client, "bob", "bob") == incoming(client, "bob") == [post]
    # Bob follows Ann no more, so others do not see it there.
    assert wall(client, "bob", "cy") == []


def test_what_cannot_be_blocked_is_named(client: Client) -> None:
    settle(client, "ann")

    assert client.as_("ann").put("/users/me/blocked/ann").code == "cannot_block_self"
    assert client.as_("ann").put("/users/me/blocked/nobody").code == "unknown_user"
    assert client.as_("ann").delete("/users/me/blocked/nobody").status == 204
    assert client.put("/users/me/blocked/ann").status == 401


def test_a_new_name_reaches_every_copy(town: Town) -> None:
    client = town.client
    circle(client, "ann", "club", "bob")
    circle(client, "bob", "club", "ann")
    post = town.publish()
    comment(client, "ann", post)
    town.workers.drain()

    client.as_("ann").put("/users/me", name="Anna")
    town.workers.drain()

    anna = {"id": "ann", "name": "Anna"}
    bob = client.as_("bob")
    assert bob.get("/users/me/followers").json["followers"] == [anna]
    assert bob.get("/users/me/circles").json["circles"][0]["members"] == [anna]
    for path in ("/users/me/news", "/users/ann/wall"):
        (shown,) = bob.get(path).json["posts"]
        assert shown["author"] == shown["comments"][0]["author"] == anna


def test_whoever_is_erased_leaves_nothing(town: Town) -> None:
    client = town.client
    for one, other in (("ann", "bob"), ("bob", "ann"), ("cy", "ann"), ("cy", "bob")):
        circle(client, one, "club", other)
    for wall_of, how in (("ann", "at_view"), ("bob", "at_post"), ("ann", "at_post")):
        publish(client, "bob", ["club"], wall_owner_id=wall_of, audience=how)
    kept = [
        publish(client, "cy", wall_owner_id="bob"),
        publish(client, "ann", ["club"], wall_owner_id="bob"),
    ]
    comment(client, "bob", kept[0])
    comment(client, "cy", kept[0])
    client.as_("dan").put("/users/me/blocked/bob")
    town.workers.drain()

    bob = client.as_("bob")
    asked = bob.delete("/users/me")
    assert asked.status == 202
    assert asked.json["remaining"] > 10
    town.workers.drain()

    assert bob.get("/users/me/erasure").json["remaining"] == 0
    assert client.get("/users/bob").code == "unknown_user"
    # The second look, for what was under way meanwhile, has a job of its own until then.
    town.clock.advance(minutes=21)
    jobs.resend_overdue(town.runtime)
    town.workers.drain()
    for collection in town.runtime.database.list_collection_names():
        for document in town.runtime.database[collection].find():
            assert "'bob'" not in str(document), (collection, document)
    assert wall(client, "ann", "ann") == kept[1:]
    (shown,) = client.as_("ann").get("/users/cy/wall").json["posts"]
    assert shown["comment_count"] == len(shown["comments"]) == 1


def test_a_post_is_delivered_whatever_the_design(town: Town) -> None:
    for reader in ("bob", "cy"):
        follow(town.client, reader, "ann")
    post = town.publish()
    town.workers.drain()

    assert fan_out(town.client, "ann", post)["state"] == "done"
    assert news(town.client, "bob") == news(town.client, "cy") == [post]
