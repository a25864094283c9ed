"""A circle made again under a deleted circle's id is another circle, in every design."""

from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.social import jobs
from chalicelib.social.graph import circles, memberships, promotion
from tests.social.support.designs import Design
from tests.social.support.drivers import (
    Town,
    circle,
    comment,
    follow,
    ids,
    news,
    publish,
    wall,
)
from tests.social.support.graphs import assert_directions_agree
from tests.social.support.interleaving import Meantime
from tests.support.http_client import Client
from tests.support.workers import Workers

TEAM = "/users/me/circles/team"


@pytest.fixture
def settings(settings: Settings, design: Design) -> Settings:
    return design.of(settings)


def incoming(client: Client, reader: str) -> list[str]:
    return ids(client.as_(reader).get("/users/me/incoming"))


def make_again(client: Client, *members: str) -> None:
    """Delete Ann's circle and make one with the same id and other members."""
    assert client.as_("ann").delete(TEAM).status == 204
    circle(client, "ann", "team", *members)


def make_old(runtime: Runtime, owner: str, members: list[str]) -> None:
    """Make an owner's circle `team`, and its members' side, what older releases stored."""
    database = runtime.database
    database["social.user"].update_one({"_id": owner}, {"$unset": {"circles.team.key": ""}})
    database["social.user"].update_many(
        {"_id": {"$in": members}, f"followers.{owner}": {"$exists": True}},
        {"$set": {f"followers.{owner}.circles": ["team"]}},
    )
    database["social.edge"].update_many(
        {"_id.owner": owner, "_id.member": {"$in": members}}, {"$set": {"circles": ["team"]}}
    )


def assert_unseen(client: Client, post: str, *readers: str) -> None:
    for reader in readers:
        assert client.as_(reader).get(f"/posts/{post}").code == "unknown_post"
        assert client.as_(reader).get(f"/posts/{post}/comments").code == "unknown_post"
        assert client.as_(reader).post(f"/posts/{post}/comments", text="Me too").status == 404
        assert post not in news(client, reader)
        assert post not in incoming(client, reader)
        assert post not in wall(client, "ann", reader)


def test_posts_to_a_circle_are_not_shown_to_a_later_circle_of_its_id(
    client: Client, workers: Workers, runtime: Runtime
) -> None:
    circle(client, "ann", "team", "bob", "dan")
    follow(client, "cy", "ann")
    follow(client, "dan", "ann")
    post = publish(client, "ann", ["team"])
    workers.drain()
    assert news(client, "dan") == incoming(client, "bob") == [post]

    make_again(client, "cy", "dan")
    workers.drain()

    assert_unseen(client, post, "bob", "cy", "dan")
    later = publish(client, "ann", ["team"])
    workers.drain()
    assert news(client, "cy") == news(client, "dan") == [later]
    assert incoming(client, "cy") == [later]
    assert wall(client, "ann", "cy") == [later]
    for reader in ("cy", "dan"):
        jobs.verify_news(runtime, reader)
    assert news(client, "cy") == news(client, "dan") == [later]
    assert_directions_agree(runtime)


def test_the_author_is_shown_the_ids_that_were_sent(client: Client, workers: Workers) -> None:
    circle(client, "ann", "team", "bob")
    post = publish(client, "ann", ["team"])
    workers.drain()
    make_again(client, "cy")

    assert client.as_("ann").get(f"/posts/{post}").json["circles"] == ["team"]
    (copy,) = client.as_("ann").get("/users/me/wall").json["posts"]
    assert copy["circles"] == ["team"]


def test_fields_of_a_profile_are_not_shown_to_a_later_circle_of_their_id(client: Client) -> None:
    circle(client, "ann", "team", "bob")
    profile, who = {"age": 40, "about": "I row."}, {"age": ["team"]}
    own = client.as_("ann").put("/users/me", profile=profile, profile_circles=who)
    assert own.json["profile_circles"] == who
    assert client.as_("bob").get("/users/ann").json["profile"] == profile

    make_again(client, "bob", "cy")

    for reader in ("bob", "cy"):
        assert client.as_(reader).get("/users/ann").json["profile"] == {"about": "I row."}
    again = client.as_("ann").put("/users/me", profile_circles=who)
    assert again.json["profile_circles"] == who
    assert client.as_("cy").get("/users/ann").json["profile"] == profile


def test_what_older_releases_stored_is_read_until_its_circle_is_deleted(
    client: Client, workers: Workers, runtime: Runtime
) -> None:
    circle(client, "ann", "team", "bob", "dan")
    client.as_("ann").put("/users/me", profile={"age": 40}, profile_circles={"age": ["team"]})
    make_old(runtime, "ann", ["bob", "dan"])
    post = publish(client, "ann", ["team"])
    workers.drain()
    runtime.database["social.user"].update_one(
        {"_id": "ann"}, {"$set": {"profile_circles": {"age": ["team"]}}}
    )

    assert incoming(client, "bob") == incoming(client, "dan") == [post]
    assert client.as_("bob").get("/users/ann").json["profile"] == {"age": 40}
    circle(client, "ann", "team", "eve")
    assert client.as_("eve").get(f"/posts/{post}").status == 200
    client.as_("ann").delete(f"{TEAM}/members/eve")
    assert client.as_("eve").get(f"/posts/{post}").status == 404
    assert_directions_agree(runtime)

    make_again(client, "cy", "dan")

    assert_unseen(client, post, "bob", "cy", "dan", "eve")
    assert client.as_("cy").get("/users/ann").json["profile"] == {}
    assert_directions_agree(runtime)


def test_a_fan_out_under_way_reaches_nobody_of_a_later_circle(
    client: Client, workers: Workers, watched: Town
) -> None:
    circle(client, "ann", "team", "bob")
    workers.drain()
    post = publish(watched.client, "ann", ["team"])

    make_again(watched.client, "cy")
    for reader in ("bob", "cy"):
        follow(watched.client, reader, "ann")
    watched.courier.deliver(watched.runtime, watched.runtime.random, twice=True)

    assert_unseen(client, post, "bob", "cy")
    items = watched.runtime.database["social.news_item"]
    assert items.count_documents({"post_id": post, "user_id": {"$ne": "ann"}}) == 0


@pytest.mark.parametrize("audience", ["at_view", "at_post"])
def test_a_post_that_is_stored_while_its_circle_is_made_again_is_the_former_circle_s(
    watched: Town, meantime: Meantime, audience: str
) -> None:
    client = watched.client
    circle(client, "ann", "team", "bob")
    follow(client, "cy", "ann")

    meantime.before("insert", "social.post", lambda: make_again(client, "cy"))
    post = publish(client, "ann", ["team"], audience=audience)
    assert meantime.done()
    watched.courier.deliver(watched.runtime, watched.runtime.random, twice=True)

    assert_unseen(client, post, "cy")


def test_a_profile_that_is_stored_while_its_circle_is_made_again_is_not_the_later_circle_s(
    watched: Town, meantime: Meantime
) -> None:
    client = watched.client
    circle(client, "ann", "team", "bob")

    meantime.before("findAndModify", "social.user", lambda: make_again(client, "cy"))
    client.as_("ann").put("/users/me", profile={"age": 40}, profile_circles={"age": ["team"]})
    assert meantime.done()

    assert client.as_("cy").get("/users/ann").json["profile"] == {}


def test_promotion_keeps_former_and_later_circles_apart(
    client: Client, workers: Workers, runtime: Runtime
) -> None:
    circle(client, "ann", "team", "bob")
    follow(client, "cy", "ann")
    post = publish(client, "ann", ["team"])
    make_again(client, "cy")
    later = publish(client, "ann", ["team"])

    promotion.promote(runtime, "ann")
    promotion.promote(runtime, "cy")
    workers.drain()

    assert_directions_agree(runtime)
    assert_unseen(client, post, "bob", "cy")
    assert news(client, "cy") == [later]
    comment(client, "cy", later)
    make_again(client, "bob")
    assert_unseen(client, later, "bob", "cy")


def test_an_export_names_circles_by_the_ids_that_their_owner_gave(
    client: Client, workers: Workers
) -> None:
    circle(client, "ann", "team", "bob")
    client.as_("ann").put("/users/me", profile={"age": 40}, profile_circles={"age": ["team"]})
    publish(client, "ann", ["team"])
    make_again(client, "bob")
    workers.drain()

    entries = client.as_("ann").get("/users/me/export?limit=200").json["entries"]
    by_kind: dict[str, list[Any]] = {}
    for each in entries:
        by_kind.setdefault(each["kind"], []).append(each["data"])
    (post,), (circled,), (user,) = by_kind["post"], by_kind["circle"], by_kind["user"]
    assert post["circles"] == ["team"]
    assert circled["id"] == "team"
    assert user["profile_circles"] == {"age": ["team"]}
    assert all(each["circle_ids"] == ["team"] for each in by_kind.get("circle_member", []))
    assert "team:" not in str(entries)


@pytest.mark.bounds(social={"members_at_once": 2})
def test_a_deletion_in_steps_leaves_a_circle_alone_that_was_made_again_meanwhile(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    circle(client, "ann", "team", *(f"fan-{number}" for number in range(5)))
    promotion.promote(runtime, "ann")
    count_followers = memberships.count_followers

    def meanwhile(*arguments: Any) -> None:
        count_followers(*arguments)
        monkeypatch.setattr(memberships, "count_followers", count_followers)
        make_again(client, "bob")

    monkeypatch.setattr(memberships, "count_followers", meanwhile)
    circles.delete(runtime, "ann", "team")

    (left,) = client.as_("ann").get("/users/me/circles").json["circles"]
    assert [each["id"] for each in left["members"]] == ["bob"]
    assert_directions_agree(runtime)
