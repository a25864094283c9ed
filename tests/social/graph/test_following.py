"""Circles and followers: two directions that never disagree."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.social.errors import UnknownCircle
from chalicelib.social.graph import blocks, circles, memberships
from chalicelib.social.graph.store import Pair
from tests.social.support.drivers import circle, follow, settle
from tests.social.support.graphs import assert_directions_agree, documents
from tests.support.http_client import Client

MODES = {"embedded": 1_000, "edges": 0, "both": 2}


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.bounds(social={"embedded_max": most}))
        for name, most in MODES.items()
    ],
    autouse=True,
)
def graph_store(request: pytest.FixtureRequest) -> str:
    """Each store in turn, and users who move from one to the other at their third tie."""
    return str(request.param)


def test_a_circle_s_members_are_followed(client: Client, runtime: Runtime) -> None:
    circle(client, "ann", "club", "bob", "cy")

    circles = client.as_("ann").get("/users/me/circles").json["circles"]
    followers = client.as_("ann").get("/users/bob/followers").json

    members = [{"id": "bob", "name": "Bob"}, {"id": "cy", "name": "Cy"}]
    assert circles == [{"id": "club", "name": "Club", "members": members}]
    assert followers == {"followers": [{"id": "ann", "name": "Ann"}], "next": None}
    assert client.get("/users/ann").json["counts"] == {"followers": 0, "following": 2}
    assert client.get("/users/bob").json["counts"] == {"followers": 1, "following": 0}
    assert_directions_agree(runtime)


def test_circling_twice_changes_nothing(client: Client, runtime: Runtime) -> None:
    circle(client, "ann", "club", "bob")
    before = documents(runtime)

    circle(client, "ann", "club", "bob")

    assert documents(runtime) == before


@pytest.mark.parametrize("path", ["club/members/cy", "none/members/bob", "club/members/nobody"])
def test_uncircling_what_is_not_circled_changes_nothing(
    client: Client, runtime: Runtime, path: str
) -> None:
    settle(client, "cy")
    circle(client, "ann", "club", "bob")
    before = documents(runtime)

    assert client.as_("ann").delete(f"/users/me/circles/{path}").status == 204
    assert client.as_("dan").delete(f"/users/me/circles/{path}").status == 204
    assert documents(runtime) == before


def test_leaving_the_last_circle_ends_the_following(client: Client, runtime: Runtime) -> None:
    circle(client, "ann", "club", "bob")
    circle(client, "ann", "work", "bob")
    ann = client.as_("ann")

    ann.delete("/users/me/circles/club/members/bob")
    assert client.get("/users/bob").json["counts"]["followers"] == 1
    ann.delete("/users/me/circles/work/members/bob")

    assert client.get("/users/bob").json["counts"]["followers"] == 0
    assert client.get("/users/ann").json["counts"]["following"] == 0
    assert_directions_agree(runtime)


def test_deleting_a_circle_ends_the_following_of_those_in_no_other(
    client: Client, runtime: Runtime
) -> None:
    circle(client, "ann", "club", "bob", "cy")
    circle(client, "ann", "work", "cy", "dan")
    ann = client.as_("ann")

    assert ann.delete("/users/me/circles/club").status == 204
    assert ann.delete("/users/me/circles/club").status == 204

    assert [each["id"] for each in ann.get("/users/me/circles").json["circles"]] == ["work"]
    assert client.get("/users/bob").json["counts"]["followers"] == 0
    assert client.get("/users/cy").json["counts"]["followers"] == 1
    assert_directions_agree(runtime)


def test_a_circle_is_renamed_with_its_members_in_it(client: Client) -> None:
    circle(client, "ann", "club", "bob")

    renamed = client.as_("ann").put("/users/me/circles/club", name="Cheese")

    assert renamed.status == 200
    assert renamed.json == {
        "id": "club",
        "name": "Cheese",
        "members": [{"id": "bob", "name": "Bob"}],
    }


def test_what_cannot_be_circled_is_named(client: Client) -> None:
    circle(client, "ann", "club")
    ann = client.as_("ann")

    assert ann.put("/users/me/circles/club/members/nobody").code == "unknown_user"
    assert ann.put("/users/me/circles/none/members/ann").code == "cannot_circle_self"
    settle(client, "bob")
    assert ann.put("/users/me/circles/none/members/bob").code == "unknown_circle"
    assert client.as_("new").put("/users/me/circles/club/members/bob").code == "unknown_circle"


@pytest.mark.parametrize("name", ["v1.0", "a..b", "$set", "$name.x", ".", "*public*", "Æ 🌊"])
def test_a_circle_s_name_may_be_any_text(client: Client, runtime: Runtime, name: str) -> None:
    settle(client, "bob")
    ann = client.as_("ann")
    assert ann.put("/users/me/circles/club", name=name).status == 201
    assert ann.put("/users/me/circles/club/members/bob").status == 204
    assert ann.put("/users/me/circles/club", name=name).json["name"] == name
    assert_directions_agree(runtime)


@pytest.mark.parametrize("circle_id", ["0", "-", "_", "name", "members", "__proto__", "x" * 64])
def test_a_circle_s_id_may_look_like_anything_else(
    client: Client, runtime: Runtime, circle_id: str
) -> None:
    for member in ("0", "_", "name", "members", "a|b"):
        circle(client, "circles", circle_id, member)

    assert client.get("/users/circles").json["counts"]["following"] == 5
    client.as_("circles").delete(f"/users/me/circles/{circle_id}/members/name")
    assert_directions_agree(runtime)


@pytest.mark.parametrize("circle_id", ["a.b", "$set", "*public*", "%00", "%24x", "x" * 65, "a%2Fb"])
def test_a_circle_s_id_is_no_field_path(client: Client, circle_id: str) -> None:
    reply = client.as_("ann").put(f"/users/me/circles/{circle_id}", name="Club")

    assert (reply.status, reply.code) == (422, "invalid_request")


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, None, 1, {"$gt": ""}])
def test_a_circle_needs_a_name(client: Client, name: Any) -> None:
    assert client.as_("ann").put("/users/me/circles/club", name=name).code == "invalid_request"


def test_the_graph_needs_a_token(client: Client) -> None:
    assert client.get("/users/me/circles").status == 401
    assert client.put("/users/me/circles/club", name="Club").status == 401
    assert client.put("/users/me/circles/club/members/bob").status == 401
    settle(client, "bob")
    assert client.get("/users/bob/followers").status == 401


def test_followers_are_paged_by_id(client: Client) -> None:
    names = [f"reader-{number}" for number in range(5)]
    for name in names:
        follow(client, name, "ann")
    ann = client.as_("ann")

    first = ann.get("/users/me/followers?limit=2").json
    second = ann.get(f"/users/ann/followers?limit=2&cursor={first['next']}").json
    third = ann.get(f"/users/ann/followers?limit=2&cursor={second['next']}").json

    pages = [first, second, third]
    assert [each["id"] for page in pages for each in page["followers"]] == names
    assert third["next"] is None
    assert ann.get("/users/nobody/followers").code == "unknown_user"


def test_a_follower_s_circles_are_nobody_else_s_business(client: Client) -> None:
    circle(client, "ann", "dull-people", "bob")

    assert b"dull" not in client.as_("bob").get("/users/me/followers").body
    assert b"dull" not in client.get("/users/ann").body


@pytest.mark.bounds(social={"circles": 2})
def test_a_user_has_a_bounded_number_of_circles(client: Client, runtime: Runtime) -> None:
    ann = client.as_("ann")

    assert ann.put("/users/me/circles/one", name="One").status == 201
    assert ann.put("/users/me/circles/two", name="Two").status == 201
    assert ann.put("/users/me/circles/three", name="Three").code == "too_many_circles"
    assert_directions_agree(runtime)


def test_many_at_once_leave_both_directions_agreeing(client: Client, runtime: Runtime) -> None:
    names = [f"user-{number}" for number in range(4)]
    for name in names:
        circle(client, name, "one")
        circle(client, name, "two")

    def change(thread: int) -> None:
        rng = random.Random(thread)
        for _ in range(25):
            owner, member = rng.sample(names, 2)
            name = rng.choice(["one", "two"])
            match rng.randrange(5):
                case 0:
                    circles.delete(runtime, owner, name)
                    circles.put(runtime, owner, name, "Again")
                case 1:
                    memberships.remove_member(runtime, owner, name, member)
                case _:
                    add_if_there(runtime, owner, name, member)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(4)))

    assert_directions_agree(runtime)


def add_if_there(runtime: Runtime, owner: str, circle_id: str, member: str) -> None:
    """Circle somebody, where no other thread has just deleted the circle."""
    try:
        memberships.add_member(runtime, owner, circle_id, member)
    except UnknownCircle:
        return


def test_a_block_that_dies_half_way_has_changed_nothing(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(client, "ann", "bob")
    follow(client, "bob", "ann")
    before = documents(runtime)
    write = memberships._write
    pairs: list[Pair] = []

    def die(database: Any, pair: Pair, *others: Any) -> None:
        pairs.append(pair)
        if len(pairs) == 2:
            raise ZeroDivisionError
        write(database, pair, *others)

    monkeypatch.setattr(memberships, "_write", die)
    with pytest.raises(ZeroDivisionError):
        blocks.block(runtime, "ann", "bob")

    assert documents(runtime) == before


@pytest.mark.bounds(social={"blocked": 1})
def test_blocking_again_changes_nothing_where_no_more_can_be_blocked(client: Client) -> None:
    settle(client, "ann", "bob", "cy")
    ann = client.as_("ann")

    replies = [ann.put(f"/users/me/blocked/{other}") for other in ("bob", "bob", "cy")]

    assert [reply.status for reply in replies] == [204, 204, 409]
    assert replies[2].code == "too_many_blocked"
