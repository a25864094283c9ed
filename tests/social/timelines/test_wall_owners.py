"""Walls belong to their owners, in every design: what is shown there, and who takes it off."""

import random
from typing import Any

import pytest

from chalicelib.social.posts import comments
from chalicelib.social.posts.comments import OLDER_COMMENTS
from tests.social.support.designs import Design
from tests.social.support.drivers import Town, circle, comment, follow, news, publish, settle, wall
from tests.social.support.interleaving import Meantime

pytestmark = pytest.mark.usefixtures("design")


def to_the_wall_of(town: Town, owner: str, author: str) -> str:
    settle(town.client, owner, author, "cy")
    return publish(town.client, author, wall_owner_id=owner)


def test_a_strangers_post_is_shown_to_the_walls_owner_and_to_its_author_alone(town: Town) -> None:
    post = to_the_wall_of(town, "ann", "eve")
    town.workers.drain()

    assert {reader: wall(town.client, "ann", reader) for reader in ("ann", "eve", "cy")} == {
        "ann": [post],
        "eve": [post],
        "cy": [],
    }
    assert town.client.get("/users/ann/wall").json["posts"] == []
    assert wall(town.client, "eve", "cy") == [post]


def test_a_post_by_somebody_that_the_owner_follows_is_shown_to_all(town: Town) -> None:
    post = to_the_wall_of(town, "ann", "bob")
    town.workers.drain()
    follow(town.client, "ann", "bob")

    readers = ("ann", "bob", "cy")
    assert [wall(town.client, "ann", reader) for reader in readers] == [[post]] * 3

    assert town.client.as_("ann").delete("/users/me/circles/read/members/bob").status == 204
    assert wall(town.client, "ann", "cy") == []
    assert wall(town.client, "ann", "ann") == [post]


def test_an_owner_takes_a_post_off_the_wall_and_its_author_keeps_it(town: Town) -> None:
    post = to_the_wall_of(town, "ann", "eve")
    town.workers.drain()
    ann, eve = town.client.as_("ann"), town.client.as_("eve")

    assert ann.delete(f"/users/me/wall/{post}").status == 204

    for is_spread in (False, True):
        assert [wall(town.client, "ann", reader) for reader in ("ann", "eve", "cy")] == [[]] * 3
        assert [wall(town.client, "eve", reader) for reader in ("eve", "cy")] == [[post]] * 2
        assert eve.get(f"/posts/{post}").json["wall_owner_id"] == "eve"
        assert not is_spread or ann.get("/users/me/incoming").json["posts"] == []
        town.workers.drain()
    documents = list(town.runtime.database["social.wall"].find({"user_id": "ann"}))
    assert all(copy["id"] != post for each in documents for copy in each["posts"])
    assert ann.delete(f"/users/me/wall/{post}").code == "unknown_post"


def test_a_post_that_was_taken_off_is_commented_on_and_stays_off(town: Town) -> None:
    post = to_the_wall_of(town, "ann", "eve")
    town.workers.drain()
    town.client.as_("ann").delete(f"/users/me/wall/{post}")
    comment(town.client, "cy", post)
    town.workers.drain()
    assert wall(town.client, "ann", "ann") == []
    assert wall(town.client, "eve", "cy") == [post]


def test_only_a_post_by_another_on_the_own_wall_can_be_taken_off(town: Town) -> None:
    own, others = publish(town.client, "ann"), to_the_wall_of(town, "bob", "eve")
    town.workers.drain()
    ann = town.client.as_("ann")

    for post in (own, others, "never"):
        assert ann.delete(f"/users/me/wall/{post}").code == "unknown_post"
    assert town.client.delete(f"/users/me/wall/{others}").code == "unauthenticated"
    assert ann.delete("/users/me/wall/$where").code == "invalid_request"
    assert wall(town.client, "ann", "ann") == [own]
    assert wall(town.client, "bob", "bob") == [others]


def test_a_post_taken_off_while_it_is_delivered_does_not_come_back(
    watched: Town, meantime: Meantime, design: Design
) -> None:
    post = to_the_wall_of(watched, "ann", "eve")

    def take_off() -> None:
        assert watched.client.as_("ann").delete(f"/users/me/wall/{post}").status == 204

    meantime.before("update", "social.wall", take_off)
    watched.courier.deliver(watched.runtime, random.Random(7))

    # Where the posts are the wall, nothing is copied to it.
    assert meantime.done() or design.wall == "posts"
    documents = list(watched.runtime.database["social.wall"].find({"user_id": "ann"}))
    assert all(copy["id"] != post for each in documents for copy in each["posts"])
    assert wall(watched.client, "eve", "cy") == [post]


def test_only_the_author_is_shown_the_ids_of_circles(town: Town) -> None:
    circle(town.client, "ann", "club", "bob")
    follow(town.client, "bob", "ann")
    post, public = publish(town.client, "ann", ["club"]), publish(town.client, "ann")
    town.workers.drain()
    ann, bob = town.client.as_("ann"), town.client.as_("bob")

    pages = ["/users/me/news", "/users/ann/wall"]
    shown = [each for page in pages for each in bob.get(page).json["posts"]]
    shown += bob.get("/users/me/incoming").json["posts"] + [bob.get(f"/posts/{post}").json]
    assert [each for each in shown if "circles" in each] == []
    assert {each["id"]: each["visibility"] for each in shown} == {post: "circles", public: "public"}

    own = [ann.get(f"/posts/{post}").json, *ann.get("/users/me/wall").json["posts"]]
    assert {each["id"]: each["circles"] for each in own} == {post: ["club"], public: ["*public*"]}
    edited = ann.patch(f"/posts/{post}", detail={"text": "Else"}).json
    assert (edited["visibility"], edited["circles"]) == ("circles", ["club"])


@pytest.mark.parametrize(
    "number",
    [
        1,
        3,
        4,
        pytest.param(
            6,
            marks=pytest.mark.bounds(social={"held_on_post": 2, "comments_moved_at_once": 1}),
            id="of which most have left the post",
        ),
    ],
)
def test_comments_that_blocks_hide_are_not_counted(town: Town, number: int) -> None:
    follow(town.client, "bob", "ann")
    settle(town.client, "eve", "cy")
    post = publish(town.client, "ann")
    for _ in range(number):
        comment(town.client, "eve", post)
    comment(town.client, "cy", post)
    town.workers.drain()
    assert town.client.as_("bob").put("/users/me/blocked/eve").status == 204

    def counts(reader: str) -> set[int]:
        caller = town.client.as_(reader)
        pages = ["/users/ann/wall"] + ["/users/me/news"] * (reader == "bob")
        found = [each for page in pages for each in caller.get(page).json["posts"]]
        return {each["comment_count"] for each in [*found, caller.get(f"/posts/{post}").json]}

    assert counts("bob") == {1}
    assert counts("cy") == {number + 1}
    assert counts("eve") == {number + 1}
    listed = town.client.as_("bob").get(f"/posts/{post}/comments").json["comments"]
    assert [each["author"]["id"] for each in listed] == ["cy"]
    assert news(town.client, "bob") == [post]


def test_counting_for_blocks_reads_the_comments_of_those_who_are_blocked_alone(
    town: Town,
) -> None:
    """A post may have any number of comments by others."""
    settle(town.client, "eve", "cy", "bob")
    post = publish(town.client, "ann")
    for who in ("eve", "cy"):
        comment(town.client, who, post)
    rows = OLDER_COMMENTS.of(town.runtime.database)
    made = {"post_id": post, "text": "older", "ts": town.clock()}
    many: list[Any] = [
        {**made, "_id": f"old-{n}", "id": f"old-{n}", "by": {"id": who, "name": who}}
        for n, who in enumerate(["cy"] * 300 + ["eve"] * 2)
    ]
    town.runtime.database[OLDER_COMMENTS.name].insert_many(many, bypass_document_validation=True)
    assert town.client.as_("bob").put("/users/me/blocked/eve").status == 204
    database = town.runtime.database
    database.command("profile", 2)
    try:
        counts = comments._count(database, "bob", [post])
    finally:
        database.command("profile", 0)
    reads = list(database["system.profile"].find({"command.aggregate": "social.user"}))
    database.drop_collection("system.profile")

    assert rows.count_documents({"post_id": post}) == 302
    assert counts == {post: 3}
    assert sum(each["docsExamined"] for each in reads) < 20


def test_counting_for_blocks_is_asked_of_nobody_without_blocks(
    watched: Town, meantime: Meantime
) -> None:
    follow(watched.client, "bob", "ann")
    post = publish(watched.client, "ann")
    for _ in range(4):
        comment(watched.client, "cy", post)
    watched.courier.deliver(watched.runtime, random.Random(7))

    def asked() -> int:
        meantime.sent.clear()
        assert news(watched.client, "bob") == [post]
        return len(meantime.sent)

    asked()
    before = asked()
    settle(watched.client, "eve")
    assert watched.client.as_("bob").put("/users/me/blocked/eve").status == 204
    assert asked() == before + 1
