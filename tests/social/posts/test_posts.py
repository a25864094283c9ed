"""Posts: what they may hold, who is given them, and who is not."""

from typing import Any

import pytest

from tests.social.support.drivers import circle, fan_out, follow, publish, settle, try_post
from tests.support.http_client import Client

DETAILS: list[tuple[str, dict[str, Any]]] = [
    ("status", {"text": "Hello\nthere"}),
    ("link", {"url": "https://site.example/a?b=c#d", "title": "A page", "text": "Read it"}),
    ("link", {"url": "https://site.example/"}),
    ("photo", {"url": "https://site.example/a.jpg", "text": "Us"}),
    ("checkin", {"place": "The lighthouse", "latitude": 56.1, "longitude": 10.2}),
    ("checkin", {"place": "Somewhere"}),
    ("poll", {"question": "Soup?", "options": ["Yes", "Of course"]}),
]
NO_VOTES = {"votes": [0, 0], "vote_count": 0, "own_vote": None}


@pytest.mark.parametrize(("kind", "detail"), DETAILS)
def test_each_type_is_given_back_as_it_came(
    client: Client, kind: str, detail: dict[str, Any]
) -> None:
    made = try_post(client, "ann", type=kind, detail=detail)

    assert made.status == 201, made.body
    post = made.json
    assert made.headers["Location"] == f"/posts/{post['id']}"
    assert post == {
        "id": post["id"],
        "author": {"id": "ann", "name": "Ann"},
        "wall_owner_id": "ann",
        "visibility": "public",
        "circles": ["*public*"],
        "type": kind,
        "detail": detail,
        "posted_at": "2026-03-01T12:00:00Z",
        "edited_at": None,
        "comments": [],
        "comment_count": 0,
        "reactions": {"counts": {}, "own": []},
        **({"poll": NO_VOTES} if kind == "poll" else {}),
    }
    assert client.as_("ann").get(f"/posts/{post['id']}").json == post


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"type": "story"}, "type"),
        ({"type": "__class__"}, "type"),
        ({"type": None}, "type"),
        ({"detail": {}}, "detail.text"),
        ({"detail": {"text": ""}}, "detail.text"),
        ({"detail": {"text": " \n "}}, "detail.text"),
        ({"detail": {"text": "x" * 5_001}}, "detail.text"),
        ({"detail": {"text": "a\x00b"}}, "detail.text"),
        ({"detail": {"text": {"$gt": ""}}}, "detail.text"),
        ({"detail": {"text": "a", "$where": "1"}}, "detail.$where"),
        ({"detail": "text"}, "detail"),
        ({"type": "link", "detail": {"url": "javascript:alert(1)"}}, "detail.url"),
        ({"type": "poll", "detail": {"question": "?", "options": ["a"]}}, "detail.options"),
        ({"type": "poll", "detail": {"question": "?", "options": ["a", "a"]}}, "detail.options"),
        ({"type": "checkin", "detail": {"place": "x", "latitude": 1.0}}, "detail"),
        ({"circles": []}, "circles"),
        ({"circles": ["*public*", "club"]}, "circles"),
        ({"circles": ["*public*", "*circles*"]}, "circles"),
        ({"circles": ["club", "*circles*"]}, "circles"),
        ({"circles": ["club", "club"]}, "circles"),
        ({"circles": ["a.b"]}, "circles.0"),
        ({"circles": ["$club"]}, "circles.0"),
        ({"circles": "club"}, "circles"),
        ({"wall_owner_id": "a.b"}, "wall_owner_id"),
        ({"by": {"id": "bob"}}, "by"),
        ({"fan_out": {"state": "done"}}, "fan_out"),
    ],
)
def test_what_a_post_may_not_hold_is_named(
    client: Client, given: dict[str, Any], field: str
) -> None:
    post = {"type": "status", "detail": {"text": "Hello"}, "circles": ["*public*"], **given}

    reply = client.as_("ann").post("/posts", **post)

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert [error["field"] for error in reply.json["errors"]] == [field]


def test_the_longest_text_is_taken(client: Client) -> None:
    assert try_post(client, "ann", detail={"text": "🌊" * 5_000}).status == 201


def test_a_post_names_circles_and_walls_that_are_there(client: Client) -> None:
    circle(client, "bob", "club", "ann")

    assert try_post(client, "ann", ["club"]).code == "unknown_circle"
    assert try_post(client, "ann", wall_owner_id="nobody").code == "unknown_user"
    assert try_post(client, "bob", ["club"]).status == 201


def test_posting_needs_a_token(client: Client) -> None:
    body = {"type": "status", "detail": {"text": "Hello"}, "circles": ["*public*"]}

    assert client.post("/posts", **body).status == 401


def test_a_public_post_is_everyone_s(client: Client) -> None:
    post = publish(client, "ann")

    assert client.get(f"/posts/{post}").status == 200
    assert client.as_("bob").get(f"/posts/{post}").status == 200


def test_a_post_to_circles_is_not_there_for_others(client: Client) -> None:
    circle(client, "ann", "club", "bob")
    circle(client, "ann", "work", "cy")
    follow(client, "dan", "ann")
    club, circles = publish(client, "ann", ["club"]), publish(client, "ann", ["*circles*"])

    def seen(*who: str) -> list[bool]:
        posts = [f"/posts/{post}" for post in (club, circles)]
        return [(client.as_(*who) if who else client).get(post).status == 200 for post in posts]

    assert seen("ann") == [True, True]
    assert seen("bob") == [True, True]
    assert seen("cy") == [False, True]
    assert seen("dan") == [False, False]
    assert seen() == [False, False]
    assert client.as_("dan").get(f"/posts/{club}").code == "unknown_post"
    assert client.as_("dan").get(f"/posts/{club}/comments").code == "unknown_post"
    assert client.as_("dan").post(f"/posts/{club}/comments", text="Hm").code == "unknown_post"


def test_today_s_circles_decide(client: Client) -> None:
    circle(client, "ann", "club", "bob")
    post = publish(client, "ann", ["club"])

    client.as_("ann").delete("/users/me/circles/club/members/bob")
    assert client.as_("bob").get(f"/posts/{post}").status == 404

    circle(client, "ann", "club", "bob", "cy")
    assert client.as_("bob").get(f"/posts/{post}").status == 200
    assert client.as_("cy").get(f"/posts/{post}").status == 200


def test_a_circle_called_like_a_field_shows_its_posts_to_its_members_alone(
    client: Client,
) -> None:
    for circle_id in ("name", "circles", "members"):
        circle(client, "ann", circle_id, "bob")
        circle(client, "ann", "friends", "cy")
        post = publish(client, "ann", [circle_id])

        assert client.as_("bob").get(f"/posts/{post}").status == 200
        assert client.as_("cy").get(f"/posts/{post}").status == 404


def test_the_owner_of_the_wall_sees_what_is_written_to_it(client: Client) -> None:
    settle(client, "bob", "cy")
    circle(client, "ann", "club")
    post = publish(client, "ann", ["club"], wall_owner_id="bob")

    assert client.as_("bob").get(f"/posts/{post}").status == 200
    assert client.as_("cy").get(f"/posts/{post}").status == 404


@pytest.mark.parametrize("post", ["nothing", "0", "x" * 64])
def test_an_id_that_never_was_is_unknown(client: Client, post: str) -> None:
    assert client.get(f"/posts/{post}").code == "unknown_post"
    assert client.as_("ann").get(f"/posts/{post}/fan-out").code == "unknown_post"


@pytest.mark.parametrize("post", ["$gt", "a.b", "%00", "x" * 65])
def test_an_id_that_cannot_be_is_refused(client: Client, post: str) -> None:
    assert client.get(f"/posts/{post}").code == "invalid_request"


def test_a_fan_out_is_shown_to_its_author_and_to_staff(client: Client) -> None:
    circle(client, "ann", "club", "bob")
    post = publish(client, "ann", ["club"])
    path = f"/posts/{post}/fan-out"

    assert fan_out(client, "ann", post) == {"state": "pending", "delivered": 0, "total": 0}
    assert client.as_("mo", roles=["social_moderator"]).get(path).json["reason"] is None
    assert client.as_("al", roles=["admin"]).get(path).status == 200
    assert client.as_("bob").get(path).code == "forbidden"
    assert client.as_("cy").get(path).code == "unknown_post"
    assert client.get(path).status == 401
