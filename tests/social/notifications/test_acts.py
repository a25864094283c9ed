"""A person hears once of each follower, reaction, comment and wall post, by the API."""

from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.notifications import personal_data
from chalicelib.notifications.rows import ITEMS
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.notifications.support.erasing import Slow, slow
from tests.social.support.drivers import circle, comment, follow, publish, settle
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

__all__ = ["slow"]


def inbox(client: Client, who: str, query: str = "") -> Any:
    reply = client.as_(who).get(f"/notifications{query}")
    assert reply.status == 200, reply.body
    return reply.json


def told(client: Client, who: str, query: str = "") -> list[tuple[str, list[str], int]]:
    """Return a person's notifications: kind, newest people, and number of people."""
    found = inbox(client, who, query)["notifications"]
    return [(each["kind"], [by["id"] for by in each["actors"]], each["count"]) for each in found]


def numbers(client: Client, who: str) -> tuple[int, int]:
    found = inbox(client, who)
    return found["unread"], found["unseen"]


def react(client: Client, who: str, post: str, kind: str = "like") -> None:
    assert client.as_(who).put(f"/posts/{post}/reactions/{kind}").status == 200


def withdraw(client: Client, who: str, post: str, kind: str = "like") -> None:
    assert client.as_(who).delete(f"/posts/{post}/reactions/{kind}").status == 204


def test_an_author_hears_of_reactions_and_comments_and_an_owner_of_a_wall_post(
    client: Client, workers: Workers, clock: Clock
) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann", detail={"text": "214 eiders"})
    react(client, "bob", post)
    workers.drain()
    clock.advance(seconds=1)
    comment(client, "bob", post, "All of <them>?")
    workers.drain()
    clock.advance(seconds=1)
    wall = publish(client, "bob", wall_owner_id="ann", detail={"text": "Welcome"})
    workers.drain()

    on_wall, commented, reacted = inbox(client, "ann")["notifications"]

    for each in (on_wall, commented, reacted):
        assert each["by"] == {"id": "bob", "name": "Bob"}
        assert each["actors"] == [each["by"]]
        assert (each["site"], each["count"], each["permalink"]) == ("default", 1, "")
    assert (on_wall["kind"], on_wall["excerpt"]) == ("post.wall", "Welcome")
    assert (commented["kind"], commented["excerpt"]) == ("post.comment", "All of <them>?")
    assert (reacted["kind"], reacted["excerpt"]) == ("post.reaction", "214 eiders")
    assert on_wall["page"] == {"id": wall, "title": "", "url": ""}
    assert reacted["page"]["id"] == post
    assert told(client, "bob") == []


@pytest.mark.parametrize("erased", ["ann", "bob"])
def test_a_late_erasure_finds_an_item_whose_acts_were_read_before_it(
    client: Client, runtime: Runtime, workers: Workers, slow: Slow, erased: str
) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann", detail={"text": "214 eiders"})
    workers.drain()
    ends = slow()

    follow(client, "bob", "ann")
    workers.drain()
    react(client, "bob", post)
    workers.drain()

    assert [each for each, *_ in told(client, "ann")] == ["post.reaction", "follow"]
    followed, reacted = ends
    personal_data.erase(runtime, erased, followed)
    assert [each for each, *_ in told(client, "ann")] == ["post.reaction"]
    personal_data.erase(runtime, erased, reacted)
    assert told(client, "ann") == []


def test_notifications_lead_to_the_pages_of_posts_and_people(
    client: Client, workers: Workers, runtime: Runtime
) -> None:
    pages = {
        "post_page": "https://a.example/posts/{post}#new",
        "person_page": "http://a.example/{user}/",
    }
    for name, value in pages.items():
        object.__setattr__(runtime.settings, name, value)
    settle(client, "ann", "b|b")
    post = publish(client, "ann", detail={"text": "214 eiders"})
    react(client, "b|b", post)
    follow(client, "b|b", "ann")
    workers.drain()

    links = {each["kind"]: each["permalink"] for each in inbox(client, "ann")["notifications"]}

    assert links == {
        "post.reaction": f"https://a.example/posts/{post}#new",
        # An id may have a character that no address has (RFC 3986, appendix A).
        "follow": "http://a.example/b%7Cb/",
    }


def test_a_person_hears_of_each_follower_once_whatever_circles_follow(
    client: Client, workers: Workers
) -> None:
    for name in ("club", "choir"):
        circle(client, "bob", name, "ann")
    workers.drain()
    follow(client, "cy", "ann")
    workers.drain()

    (kind, by, count) = told(client, "ann")[0]
    assert (kind, sorted(by), count) == ("follow", ["bob", "cy"], 2)
    assert told(client, "bob") == []
    assert client.as_("bob").delete("/users/me/circles/club/members/ann").status == 204
    workers.drain()
    assert told(client, "ann")[0][2] == 2, "still in the choir"


def test_who_follows_back_tells_nobody_anew_that_they_are_followed(
    client: Client, workers: Workers, runtime: Runtime
) -> None:
    follow(client, "bob", "ann")
    workers.drain()
    # Notifications are deleted after 90 days.
    ITEMS.of(runtime.database).delete_many({})

    circle(client, "ann", "club", "bob")
    circle(client, "bob", "choir", "ann")
    workers.drain()

    assert told(client, "ann") == []
    assert [each[:2] for each in told(client, "bob")] == [("follow", ["ann"])]


def test_own_acts_notify_nobody(client: Client, workers: Workers) -> None:
    settle(client, "ann")
    post = publish(client, "ann", wall_owner_id="ann")
    react(client, "ann", post)
    comment(client, "ann", post)
    workers.drain()

    assert told(client, "ann") == []


def test_a_deployment_that_is_off_notes_and_makes_nothing(
    client: Client, workers: Workers, runtime: Runtime, settings: Settings
) -> None:
    object.__setattr__(settings, "social_notifications", False)
    follow(client, "bob", "ann")
    post = publish(client, "ann")
    react(client, "bob", post)
    comment(client, "bob", post)
    assert runtime.database["social.errand"].count_documents({"errand.type": "notify-feed"}) == 0
    workers.drain()

    assert told(client, "ann") == []


@pytest.mark.parametrize("act", ["reaction", "comment", "follow", "wall"])
def test_an_act_that_is_withdrawn_goes_at_once_and_its_repeat_raises_nothing(
    client: Client, workers: Workers, act: str
) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann")
    member = "/users/me/circles/club/members/ann"
    circle(client, "bob", "club")
    bob = client.as_("bob")

    def do() -> str:
        match act:
            case "reaction":
                react(client, "bob", post)
            case "comment":
                return f"/posts/{post}/comments/{comment(client, 'bob', post)}"
            case "follow":
                assert bob.put(member).status == 204
                return member
            case _:
                return f"/posts/{publish(client, 'bob', wall_owner_id='ann')}"
        return f"/posts/{post}/reactions/like"

    undo = do()
    workers.drain()
    assert numbers(client, "ann") == (1, 1)
    shown = inbox(client, "ann")
    assert client.as_("ann").put("/notifications/read", until=shown["at"]).status == 204
    assert bob.delete(undo).status == 204
    assert told(client, "ann") == [], "before the worker has come"
    workers.drain()
    assert numbers(client, "ann") == (0, 0)

    if act in {"reaction", "follow"}:
        do()
        workers.drain()
        (again,) = inbox(client, "ann")["notifications"]
        assert (again["id"], again["risen"]) == (
            shown["notifications"][0]["id"],
            shown["notifications"][0]["risen"],
        )
        assert numbers(client, "ann")[0] == 0


def test_several_kinds_of_a_persons_reactions_are_one(client: Client, workers: Workers) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann")
    for kind in ("like", "celebrate"):
        react(client, "bob", post, kind)
    withdraw(client, "bob", post)
    workers.drain()
    assert told(client, "ann") == [("post.reaction", ["bob"], 1)]

    withdraw(client, "bob", post, "celebrate")
    workers.drain()
    assert told(client, "ann") == []


def test_a_deleted_post_takes_its_notifications_along(client: Client, workers: Workers) -> None:
    settle(client, "ann", "bob")
    posts = [publish(client, "ann") for _ in range(2)]
    for post in posts:
        react(client, "bob", post)
        comment(client, "bob", post)
    workers.drain()
    assert numbers(client, "ann") == (4, 4)
    assert client.as_("ann").delete(f"/posts/{posts[0]}").status == 204
    workers.drain()

    assert numbers(client, "ann") == (2, 2)
    assert {each["page"]["id"] for each in inbox(client, "ann")["notifications"]} == {posts[1]}


@pytest.mark.parametrize("owner", ["ann", "bob"])
@pytest.mark.parametrize("first", ["worker", "block"])
def test_people_who_are_apart_hear_nothing_of_each_other(
    client: Client, workers: Workers, runtime: Runtime, owner: str, first: str
) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann")
    react(client, "bob", post)
    comment(client, "bob", post)
    follow(client, "bob", "ann")
    publish(client, "bob", wall_owner_id="ann")
    if first == "worker":
        workers.drain()
        assert len(told(client, "ann")) == 4
    other = {"ann": "bob", "bob": "ann"}[owner]
    assert client.as_(owner).put(f"/users/me/blocked/{other}").status == 204
    if first == "block":
        workers.drain()
        assert _caused_by(runtime, "bob") == 0

    assert told(client, "ann") == []
    assert numbers(client, "ann") == (0, numbers(client, "ann")[1])


@pytest.mark.parametrize("first", ["worker", "mute"])
def test_a_muted_person_notifies_nobody(
    client: Client, workers: Workers, runtime: Runtime, first: str
) -> None:
    settle(client, "ann", "bob", "cy")
    post = publish(client, "ann")
    react(client, "bob", post)
    react(client, "cy", post)
    if first == "worker":
        workers.drain()
    assert client.as_("ann").put("/users/me/muted/bob").status == 204
    workers.drain()

    assert told(client, "ann") == [("post.reaction", ["cy"], 1)]
    assert _caused_by(runtime, "bob") == (first == "worker")


def _caused_by(runtime: Runtime, who: str) -> int:
    return ITEMS.of(runtime.database).count_documents({"by": who})


def test_a_wall_post_that_its_owner_may_see_no_longer_is_not_shown(
    client: Client, workers: Workers
) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "bob", wall_owner_id="ann")
    workers.drain()
    assert told(client, "ann") == [("post.wall", ["bob"], 1)]
    assert client.as_("ann").delete(f"/users/me/wall/{post}").status == 204

    assert told(client, "ann") == []


def test_reactions_around_midnight_of_utc_are_two_groups(
    client: Client, workers: Workers, clock: Clock
) -> None:
    settle(client, "ann", "bob", "cy", "dee")
    post = publish(client, "ann")
    late = datetime(2026, 3, 2, 23, 59, 59, 999_000, tzinfo=UTC)
    clock.advance(seconds=(late - clock()).total_seconds())
    react(client, "bob", post)
    clock.advance(milliseconds=1)
    react(client, "cy", post)
    react(client, "dee", post)
    workers.drain()

    counts = sorted((count, sorted(by)) for _, by, count in told(client, "ann"))
    assert counts == [(1, ["bob"]), (2, ["cy", "dee"])]
    assert numbers(client, "ann") == (2, 2)


def test_an_erased_person_leaves_the_groups_of_others(client: Client, workers: Workers) -> None:
    settle(client, "ann", "bob", "cy")
    post = publish(client, "ann")
    for who in ("bob", "cy"):
        react(client, who, post)
        comment(client, who, post)
    workers.drain()
    assert client.as_("bob").delete("/users/me").status == 202
    workers.drain()

    assert sorted(told(client, "ann")) == [
        ("post.comment", ["cy"], 1),
        ("post.reaction", ["cy"], 1),
    ]


def test_a_new_name_is_shown(client: Client, workers: Workers) -> None:
    settle(client, "ann", "bob")
    react(client, "bob", publish(client, "ann"))
    workers.drain()
    name = "<b>Bo\u202eb</b>"
    changed = client.as_("bob").put("/users/me", name=name)
    shown = inbox(client, "ann")["notifications"][0]["by"]["name"]

    assert shown == (changed.json["name"] if changed.status == 200 else "Bob")
