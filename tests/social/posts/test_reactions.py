"""Reactions to posts: of several kinds, counted exactly, shown wherever the post is shown."""

from typing import Any

import pytest

from chalicelib.marks.shapes import MARKS
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.wiring import marks
from tests.social.support.designs import Design
from tests.social.support.drivers import Town, circle, follow, publish, settle
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers


def react(client: Client, who: str, post: str, kind: str = "like") -> Reply:
    return client.as_(who).put(f"/posts/{post}/reactions/{kind}")


def shown(client: Client, reader: str, post: str) -> Any:
    return client.as_(reader).get(f"/posts/{post}").json["reactions"]


def assert_exact(runtime: Runtime) -> None:
    found = marks.verify(runtime, "post")
    assert (found["wrong"], found["owed"]) == (0, 0)


def test_a_person_reacts_in_several_ways_and_withdraws(client: Client, runtime: Runtime) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann")
    assert shown(client, "bob", post) == {"counts": {}, "own": []}

    for _ in range(2):
        assert react(client, "bob", post).json == {"counts": {"like": 1}, "own": ["like"]}
    react(client, "bob", post, "celebrate")
    react(client, "ann", post)
    expected = {"counts": {"like": 2, "celebrate": 1}, "own": ["celebrate", "like"]}
    assert shown(client, "bob", post) == expected
    assert client.get(f"/posts/{post}").json["reactions"] == {**expected, "own": []}

    for _ in range(2):
        assert client.as_("bob").delete(f"/posts/{post}/reactions/like").status == 204
        assert shown(client, "bob", post) == {
            "counts": {"like": 1, "celebrate": 1},
            "own": ["celebrate"],
        }
    assert_exact(runtime)


def test_only_who_may_see_a_post_reacts_to_it(client: Client) -> None:
    circle(client, "ann", "club", "bob")
    secret = publish(client, "ann", ["club"])

    assert react(client, "bob", secret).status == 200
    assert react(client, "cy", secret).code == "unknown_post"
    assert client.as_("cy").delete(f"/posts/{secret}/reactions/like").code == "unknown_post"
    client.as_("ann").put("/users/me/blocked/bob")
    assert react(client, "bob", secret, "support").code == "unknown_post"
    assert client.put(f"/posts/{secret}/reactions/like").status == 401


@pytest.mark.parametrize("kind", ["dislike", "%24inc", "a.b", "LIKE", "like%00"])
def test_a_kind_that_there_is_not_is_refused(client: Client, kind: str) -> None:
    settle(client, "ann")
    post = publish(client, "ann")
    assert react(client, "ann", post, kind).status in {404, 422}
    assert shown(client, "ann", post)["counts"] == {}


def test_a_deleted_post_loses_its_reactions(
    client: Client, workers: Workers, runtime: Runtime
) -> None:
    settle(client, "ann", "bob")
    post = publish(client, "ann")
    react(client, "bob", post)
    client.as_("ann").delete(f"/posts/{post}")
    workers.drain()
    assert react(client, "bob", post).code == "unknown_post"
    assert MARKS.of(runtime.database).count_documents({}) == 0
    assert_exact(runtime)


@pytest.mark.bounds(marks={"hot_marks_a_minute": 3})
def test_a_hot_post_is_counted_by_its_worker(
    client: Client, workers: Workers, runtime: Runtime
) -> None:
    people = [f"user-{number}" for number in range(6)]
    settle(client, "ann", *people)
    post = publish(client, "ann")
    workers.drain()
    for number, person in enumerate(people):
        answer = react(client, person, post).json
        assert answer == {"counts": {"like": min(number + 1, 3)}, "own": ["like"]}
    assert shown(client, "user-5", post) == {"counts": {"like": 3}, "own": ["like"]}

    assert workers.drain() == 3
    assert shown(client, "user-5", post) == {"counts": {"like": 6}, "own": ["like"]}
    client.as_("user-5").delete(f"/posts/{post}/reactions/like")
    assert shown(client, "user-5", post) == {"counts": {"like": 6}, "own": []}
    workers.drain()
    assert shown(client, "user-5", post) == {"counts": {"like": 5}, "own": []}
    assert_exact(runtime)


@pytest.mark.bounds(marks={"hot_marks_a_minute": 2})
def test_who_is_erased_takes_their_reactions_from_both_designs(
    client: Client, workers: Workers, runtime: Runtime
) -> None:
    settle(client, "ann", "bob", "cy", "dan")
    hot, cool = publish(client, "ann"), publish(client, "ann")
    for person in ("cy", "dan", "bob"):
        react(client, person, hot)
    react(client, "bob", cool)
    listed = client.as_("bob").get("/users/me/export").json["entries"]
    assert {e["data"]["id"] for e in listed if e["kind"] == "mark"} == {hot, cool}

    client.as_("bob").delete("/users/me")
    workers.drain()
    assert MARKS.of(runtime.database).count_documents({"user_id": "bob"}) == 0
    assert shown(client, "ann", hot)["counts"] == {"like": 2}
    assert shown(client, "ann", cool)["counts"] == {}
    assert_exact(runtime)


def test_an_operator_chooses_how_a_post_is_counted(client: Client, runtime: Runtime) -> None:
    settle(client, "ann")
    post = publish(client, "ann")
    assert marks.choose(runtime, "post", post, "folded") == {"found": True}
    assert react(client, "ann", post).json == {"counts": {}, "own": ["like"]}
    assert marks.choose(runtime, "post", post, "direct") == {"found": True}
    assert react(client, "ann", post).json == {"counts": {"like": 1}, "own": ["like"]}
    assert marks.choose(runtime, "post", "gone", "folded") == {"found": False}
    with pytest.raises(ValueError, match="kinds: post"):
        marks.choose(runtime, "posts", post, "folded")
    with pytest.raises(ValueError, match="direct or folded"):
        marks.choose(runtime, "post", post, "fold")


class TestEveryDesign:
    """Counts and one's own are of now wherever a post is shown, without waiting for its copies."""

    @pytest.fixture
    def settings(self, settings: Settings, design: Design) -> Settings:
        return design.of(settings)

    def test_every_page_has_the_reactions_of_now(self, town: Town) -> None:
        client = town.client
        follow(client, "bob", "ann")
        post, other = publish(client, "ann"), publish(client, "ann")
        town.workers.drain()
        for person in ("ann", "bob"):
            react(client, person, post, "support")
        pages = ["/users/me/news", "/users/ann/wall"]
        for page in pages:
            found = {p["id"]: p["reactions"] for p in client.as_("bob").get(page).json["posts"]}
            assert found[post] == {"counts": {"support": 2}, "own": ["support"]}
            assert found[other] == {"counts": {}, "own": []}
        found = {p["id"]: p["reactions"] for p in client.get(pages[1]).json["posts"]}
        assert found[post] == {"counts": {"support": 2}, "own": []}
