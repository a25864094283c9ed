"""News and walls are what their definitions say, in every design."""

import pytest

from chalicelib.settings import Settings
from tests.social.support.designs import Design
from tests.social.support.drivers import (
    CIRCLES,
    PUBLIC,
    circle,
    comment,
    follow,
    ids,
    news,
    publish,
    settle,
    wall,
)
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


@pytest.fixture
def settings(settings: Settings, design: Design) -> Settings:
    return design.of(settings)


def test_a_post_reaches_a_circle_s_member_and_not_another_user(
    client: Client, workers: Workers
) -> None:
    circle(client, "ann", "club", "bob")
    follow(client, "bob", "ann")
    follow(client, "cy", "ann")
    post = publish(client, "ann", ["club"])
    workers.drain()

    page = client.as_("bob").get("/users/me/news").json
    assert page == {"posts": [client.as_("bob").get(f"/posts/{post}").json], "next": None}
    assert news(client, "cy") == []


def test_news_is_of_those_one_follows_and_not_one_s_own(client: Client, workers: Workers) -> None:
    follow(client, "bob", "ann")
    circle(client, "ann", "club", "cy")
    public, club = publish(client, "ann"), publish(client, "ann", ["club"])
    own = publish(client, "bob")
    workers.drain()

    assert news(client, "bob") == [public]
    # She is in Ann's circle and does not follow Ann: the post waits among what was sent to her.
    assert news(client, "cy") == []
    assert client.as_("cy").get(f"/posts/{club}").status == 200
    follow(client, "cy", "ann")
    workers.drain()
    assert sorted(news(client, "cy")) == sorted([public, club])
    assert news(client, "ann") == []
    assert wall(client, "bob", "bob") == [own]


def test_following_no_more_empties_the_news(client: Client, workers: Workers) -> None:
    follow(client, "bob", "ann")
    publish(client, "ann")
    workers.drain()

    client.as_("bob").delete("/users/me/circles/read/members/ann")

    assert news(client, "bob") == []


def test_delivery_is_no_permission(client: Client, workers: Workers) -> None:
    circle(client, "ann", "club", "bob")
    follow(client, "bob", "ann")
    post = publish(client, "ann", ["club"])
    workers.drain()
    assert news(client, "bob") == [post]

    client.as_("ann").delete("/users/me/circles/club/members/bob")

    assert news(client, "bob") == []
    assert wall(client, "ann", "bob") == []


def test_what_is_written_to_my_wall_by_those_i_follow_is_news(
    client: Client, workers: Workers
) -> None:
    circle(client, "ann", "club")
    follow(client, "bob", "ann")
    post = publish(client, "ann", ["club"], wall_owner_id="bob")
    workers.drain()

    assert news(client, "bob") == [post]


def test_a_wall_has_what_was_written_by_and_to_its_owner(
    client: Client, workers: Workers, clock: Clock
) -> None:
    circle(client, "ann", "club", "bob")
    settle(client, "bob", "cy")
    posts = []
    for author, circles, owner in (
        ("ann", PUBLIC, "ann"),
        ("ann", CIRCLES, "ann"),
        ("ann", ("club",), "cy"),
        ("bob", PUBLIC, "ann"),
        ("cy", PUBLIC, "ann"),
        ("bob", PUBLIC, "bob"),
    ):
        posts.append(publish(client, author, circles, wall_owner_id=owner))
        clock.advance(seconds=1)
    workers.drain()

    def seen(reader: str, owner: str = "ann") -> list[int]:
        return [posts.index(post) for post in wall(client, owner, reader)]

    # Of what others wrote, Ann and they themselves see all, everybody else what those wrote whom
    # she follows.
    assert seen("ann") == [4, 3, 2, 1, 0]
    assert seen("bob") == [3, 2, 1, 0]
    assert seen("cy") == [4, 3, 2, 0]
    assert seen("dan") == [3, 0]
    assert [posts.index(post) for post in ids(client.get("/users/ann/wall"))] == [3, 0]
    assert seen("bob", owner="cy") == [4]
    assert seen("cy", owner="cy") == [4, 2]


def test_my_wall_is_the_same_under_both_names(client: Client, workers: Workers) -> None:
    publish(client, "ann")
    workers.drain()
    ann = client.as_("ann")

    assert ann.get("/users/me/wall").json == ann.get("/users/ann/wall").json
    assert client.get("/users/nobody/wall").code == "unknown_user"
    assert client.get("/users/me/wall").status == 401
    assert client.get("/users/me/news").status == 401
    assert client.as_("nobody").get("/users/me/wall").json == {"posts": [], "next": None}
    assert client.as_("nobody").get("/users/me/news").json == {"posts": [], "next": None}


def test_a_view_shows_the_last_three_comments(
    client: Client, workers: Workers, clock: Clock
) -> None:
    follow(client, "bob", "ann")
    post = publish(client, "ann")
    made = []
    for number in range(5):
        clock.advance(seconds=1)
        made.append(comment(client, "bob", post, f"Comment {number}"))
        workers.drain()

    for path in ("/users/me/news", "/users/ann/wall"):
        (shown,) = client.as_("bob").get(path).json["posts"]
        assert [each["id"] for each in shown["comments"]] == made[-3:]
        assert shown == client.get(f"/posts/{post}").json
        assert shown["comment_count"] == 5
