"""Users who outgrow their document move to edges, whatever happens meanwhile."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pymongo.collection import Collection

from chalicelib import deadlines
from chalicelib.runtime import Runtime
from chalicelib.social import jobs
from chalicelib.social.graph import circles, memberships, promotion
from chalicelib.social.graph.stores.edges import EdgeGraph
from tests.social.support.drivers import circle, follow, settle
from tests.social.support.graphs import assert_directions_agree
from tests.support.clock import Clock
from tests.support.http_client import Client


def store(runtime: Runtime, user: str) -> str:
    found = runtime.database["social.user"].find_one({"_id": user})
    assert found is not None
    return str(found["graph_store"])


@pytest.mark.bounds(social={"embedded_max": 3})
@pytest.mark.parametrize(("ties", "expected"), [(2, "embedded"), (3, "embedded"), (4, "edges")])
def test_a_user_is_promoted_by_the_follower_beyond_the_last_that_fits(
    client: Client, runtime: Runtime, ties: int, expected: str
) -> None:
    names = [f"fan-{number}" for number in range(ties)]
    for name in names:
        follow(client, name, "star")
    follow(client, "reader", *names)

    assert store(runtime, "star") == store(runtime, "reader") == expected
    assert store(runtime, "fan-0") == "embedded"
    assert_directions_agree(runtime)
    followers = client.as_("star").get("/users/star/followers").json["followers"]
    assert [each["id"] for each in followers] == names


@pytest.mark.bounds(social={"embedded_max": 10})
def test_circling_at_once_with_a_promotion_loses_nothing(client: Client, runtime: Runtime) -> None:
    names = [f"fan-{number}" for number in range(24)]
    for name in names:
        circle(client, name, "read")
    settle(client, "star")
    for name in names[:4]:
        memberships.add_member(runtime, name, "read", "star")
    barrier = threading.Barrier(4)

    def change(thread: int) -> None:
        barrier.wait()
        for name in names[4 + thread :: 4]:
            memberships.add_member(runtime, name, "read", "star")
        memberships.remove_member(runtime, names[thread], "read", "star")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(4)))

    assert store(runtime, "star") == "edges"
    assert client.get("/users/star").json["counts"]["followers"] == 20
    assert_directions_agree(runtime)


def test_a_promotion_that_dies_has_changed_nothing(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(client, "ann", "star", "bob")
    follow(client, "star", "ann")

    def die(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(Collection, "bulk_write", die)
        with pytest.raises(ZeroDivisionError):
            promotion.promote(runtime, "star")
    assert store(runtime, "star") == "embedded"
    assert_directions_agree(runtime)

    promotion.promote(runtime, "star")
    promotion.promote(runtime, "star")
    assert store(runtime, "star") == "edges"
    assert_directions_agree(runtime)


def test_a_wrong_count_after_a_crash_is_repaired(client: Client, runtime: Runtime) -> None:
    follow(client, "ann", "star")
    promotion.promote(runtime, "star")
    runtime.database["social.user"].update_one({"_id": "star"}, {"$inc": {"counts.followers": 5}})

    assert jobs.tend(runtime)["recounted"] == 1
    assert jobs.tend(runtime)["recounted"] == 0
    assert_directions_agree(runtime)


def test_a_recount_does_not_undo_what_is_counted_meanwhile(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(client, "ann", "star")
    promotion.promote(runtime, "star")
    runtime.database["social.user"].update_one({"_id": "star"}, {"$inc": {"counts.followers": 5}})
    count_followers = EdgeGraph.count_followers

    def circled_meanwhile(store: EdgeGraph, user_id: str) -> int:
        monkeypatch.setattr(EdgeGraph, "count_followers", count_followers)
        counted = count_followers(store, user_id)
        follow(client, "bob", "star")
        return counted

    monkeypatch.setattr(EdgeGraph, "count_followers", circled_meanwhile)

    assert memberships.recount(runtime) == 0
    assert client.get("/users/star").json["counts"]["followers"] == 7
    assert memberships.recount(runtime) == 1
    assert_directions_agree(runtime)


def test_a_recount_without_time_is_continued_by_the_next_run(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stars = ["star-1", "star-2", "star-3"]
    follow(client, "ann", *stars)
    for star in stars:
        promotion.promote(runtime, star)
    users = runtime.database["social.user"]
    users.update_many({"_id": {"$in": stars}}, {"$inc": {"counts.followers": 5}})
    monkeypatch.setattr(deadlines, "share", lambda _part: lambda: False)

    for left in (2, 1, 0):
        clock.advance(hours=1)
        assert memberships.recount(runtime) == 1
        assert users.count_documents({"counts.followers": 6}) == left
    assert memberships.recount(runtime) == 0
    assert_directions_agree(runtime)


def test_a_user_who_changes_during_the_recount_keeps_no_other_from_it(
    client: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    stars = ["busy", "wrong"]
    follow(client, "ann", *stars)
    for star in stars:
        promotion.promote(runtime, star)
    users = runtime.database["social.user"]
    users.update_one({"_id": "wrong"}, {"$inc": {"counts.followers": 5}})
    users.update_one({"_id": "wrong"}, {"$set": {"recounted": clock()}})
    count_followers = EdgeGraph.count_followers

    def change_meanwhile(store: EdgeGraph, user_id: str) -> int:
        counted = count_followers(store, user_id)
        if user_id == "busy":
            users.update_one({"_id": user_id}, {"$inc": {"counts.following": 1}})
        return counted

    monkeypatch.setattr(EdgeGraph, "count_followers", change_meanwhile)
    monkeypatch.setattr(deadlines, "share", lambda _part: lambda: False)
    clock.advance(hours=1)

    assert [memberships.recount(runtime) for _ in range(2)] == [0, 1]


def test_users_to_recount_are_found_by_an_index(runtime: Runtime) -> None:
    promoted = runtime.database["social.user"].find({"graph_store": "edges"}).sort("recounted")

    plan = str(promoted.explain()["queryPlanner"]["winningPlan"])
    assert "graph_store_1_recounted_1" in plan
    assert "'SORT'" not in plan


def test_members_of_a_circle_are_paged(client: Client) -> None:
    circle(client, "ann", "club", "bob", "cy", "dan")
    path = "/users/me/circles/club/members?limit=2"

    first = client.as_("ann").get(path).json
    second = client.as_("ann").get(f"{path}&cursor={first['next']}").json

    assert [each["id"] for each in first["members"] + second["members"]] == ["bob", "cy", "dan"]
    assert second["next"] is None
    assert client.as_("ann").get("/users/me/circles/none/members").code == "unknown_circle"


@pytest.mark.bounds(social={"members_at_once": 2})
def test_a_circle_of_more_than_a_transaction_takes_out_is_deleted_whole(
    client: Client, runtime: Runtime
) -> None:
    names = [f"fan-{number}" for number in range(5)]
    circle(client, "star", "club", *names)
    circle(client, "star", "work", names[1], "bob")
    for name in ("star", names[3]):
        promotion.promote(runtime, name)

    assert client.as_("star").delete("/users/me/circles/club").status == 204

    assert_directions_agree(runtime)
    left = client.as_("star").get("/users/me/circles").json["circles"]
    assert [(each["id"], len(each["members"])) for each in left] == [("work", 2)]


@pytest.mark.bounds(social={"members_at_once": 2})
def test_a_deletion_that_is_cut_short_goes_on_at_a_repetition(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    circle(client, "star", "club", *(f"fan-{number}" for number in range(5)))
    promotion.promote(runtime, "star")
    count_followers, calls = memberships.count_followers, []

    def die(*arguments: Any) -> None:
        count_followers(*arguments)
        calls.append(arguments)
        if len(calls) == 2:
            raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(memberships, "count_followers", die)
        with pytest.raises(ZeroDivisionError):
            circles.delete(runtime, "star", "club")
    assert_directions_agree(runtime)
    (left,) = client.as_("star").get("/users/me/circles").json["circles"]
    assert [each["id"] for each in left["members"]] == ["fan-4"]

    assert client.as_("star").delete("/users/me/circles/club").status == 204

    assert client.as_("star").get("/users/me/circles").json["circles"] == []
    assert_directions_agree(runtime)
