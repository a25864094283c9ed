"""One person has one list of blocks, whichever feature and site it was made in."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from pymongo.client_session import ClientSession

from chalicelib.people import blocks
from chalicelib.people.blocks import BLOCKS
from chalicelib.runtime import Runtime
from chalicelib.social.graph import blocks as social_blocks
from chalicelib.social.posts.forms import COMMENTS_SHOWN
from tests.people.support.blocking import (
    AT_BLOG,
    COMMENTS,
    IN_FEED,
    SITES,
    assert_copies_agree,
    hears_bob,
    join_all,
    listed,
)
from tests.social.support.drivers import follow, settle
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


@pytest.mark.parametrize("path", [AT_BLOG, IN_FEED])
def test_a_block_holds_at_every_site_and_in_the_feed(
    pages: Client, runtime: Runtime, path: str
) -> None:
    settle(pages, "ann", "bob")
    follow(pages, "ann", "bob")
    follow(pages, "bob", "ann")
    public = {"type": "status", "circles": ["*public*"], "detail": {"text": "Hello"}}
    post = pages.as_("ann").post("/posts", **public).json["id"]
    ann, bob = pages.as_("ann"), pages.as_("bob")

    assert [ann.put(f"{path}/bob").status for _ in range(2)] == [204, 204]

    assert not any(hears_bob(ann, site) for site in SITES)
    assert bob.get(f"/posts/{post}").status == 404
    assert ann.get("/users/bob").json["counts"] == {"followers": 0, "following": 0}
    assert listed(ann) == [["bob"]] * 3
    assert assert_copies_agree(runtime) == {("ann", "bob")}


@pytest.mark.parametrize("path", [AT_BLOG, IN_FEED])
@pytest.mark.parametrize("back", [AT_BLOG, IN_FEED])
def test_a_block_is_taken_back_where_any_list_is_edited(
    pages: Client, runtime: Runtime, clock: Clock, path: str, back: str
) -> None:
    settle(pages, "ann", "bob")
    ann = pages.as_("ann")
    ann.put(f"{path}/bob")

    assert [ann.delete(f"{back}/bob").status for _ in range(2)] == [204, 204]

    clock.advance(seconds=5)
    assert all(hears_bob(ann, site) for site in SITES)
    assert listed(ann) == [[]] * 3
    assert assert_copies_agree(runtime) == set()


@pytest.mark.parametrize("late", ["ann", "bob"])
def test_who_comes_to_the_feed_later_finds_the_block_there(
    pages: Client, runtime: Runtime, late: str
) -> None:
    settle(pages, *{"ann", "bob"} - {late})
    assert pages.as_("ann").put(f"{AT_BLOG}/bob").status == 204

    settle(pages, late)

    assert assert_copies_agree(runtime) == {("ann", "bob")}
    ann, public = pages.as_("ann"), {"type": "status", "circles": ["*public*"]}
    post = ann.post("/posts", **public, detail={"text": "Hello"}).json["id"]
    assert pages.as_("bob").get(f"/posts/{post}").status == 404


def test_who_only_reads_the_feed_sees_and_counts_nothing_of_a_blocked_person(
    pages: Client, runtime: Runtime
) -> None:
    settle(pages, "ann", "cy")
    public = {"type": "status", "circles": ["*public*"]}
    post = pages.as_("ann").post("/posts", **public, detail={"text": "Hello"}).json["id"]
    for number in range(COMMENTS_SHOWN + 2):
        by = "cy" if number % 2 else "ann"
        assert pages.as_(by).post(f"/posts/{post}/comments", text="So it is").status == 201
    bob = pages.as_("bob")
    assert bob.put(f"{AT_BLOG}/cy").status == 204

    shown = bob.get(f"/posts/{post}").json

    assert {each["author"]["id"] for each in shown["comments"]} == {"ann"}
    assert shown["comment_count"] == (COMMENTS_SHOWN + 3) // 2
    assert runtime.database["social.user"].find_one({"_id": "bob"}) is None


@pytest.mark.parametrize("has_list", [False, True])
def test_who_comes_to_the_feed_during_a_block_finds_it_there(
    pages: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, *, has_list: bool
) -> None:
    settle(pages, "ann", "cy")
    if has_list:
        assert pages.as_("bob").put(f"{AT_BLOG}/cy").status == 204
    had = social_blocks._copy
    came: list[str] = []

    def copy_and_come(
        runtime: Runtime, session: ClientSession, owner_id: str, other_id: str
    ) -> bool:
        are_both = had(runtime, session, owner_id, other_id)
        if not came:
            came.append(other_id)
            settle(pages, other_id)
        return are_both

    monkeypatch.setattr(social_blocks, "_copy", copy_and_come)
    assert pages.as_("ann").put(f"{AT_BLOG}/bob").status == 204

    assert came == ["bob"]
    own = [("bob", "cy")] if has_list else []
    assert assert_copies_agree(runtime) == {("ann", "bob"), *own}


def test_a_block_that_dies_half_way_has_changed_nothing(
    pages: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(pages, "ann", "bob")

    def die(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(blocks, "add", die)
    with pytest.raises(ZeroDivisionError):
        social_blocks.keep_apart(runtime, "ann", "bob")
    assert assert_copies_agree(runtime) == set()
    monkeypatch.undo()
    social_blocks.keep_apart(runtime, "ann", "bob")

    monkeypatch.setattr(blocks, "remove", die)
    with pytest.raises(ZeroDivisionError):
        social_blocks.let_meet(runtime, "ann", "bob")
    assert assert_copies_agree(runtime) == {("ann", "bob")}


def test_blocks_and_their_ends_at_once_leave_one_list(pages: Client, runtime: Runtime) -> None:
    names = ["ann", "bob", "cy"]
    settle(pages, "ann", "bob")

    def change(thread: int) -> None:
        rng = random.Random(thread)
        for _ in range(10):
            owner, other = rng.sample(names, 2)
            act = rng.choice([social_blocks.keep_apart, social_blocks.let_meet])
            act(runtime, owner, other)
        settle(pages, "cy")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, range(4)))

    assert_copies_agree(runtime)


@pytest.mark.bounds(people={"blocked": 2})
def test_a_list_is_full_for_every_feature(pages: Client, runtime: Runtime) -> None:
    settle(pages, "ann", "bob", "cy", "dan")
    ann = pages.as_("ann")
    assert (ann.put(f"{AT_BLOG}/bob").status, ann.put(f"{IN_FEED}/cy").status) == (204, 204)

    for path in (AT_BLOG, IN_FEED):
        refused = ann.put(f"{path}/dan")
        assert (refused.status, refused.code) == (409, "too_many_blocked")
        assert ann.put(f"{path}/bob").status == 204
    assert assert_copies_agree(runtime) == {("ann", "bob"), ("ann", "cy")}


def test_ends_of_blocks_leave_no_documents_of_strangers(pages: Client, runtime: Runtime) -> None:
    ann = pages.as_("ann")
    for number in range(5):
        ann.put(f"{AT_BLOG}/stranger{number}")
        ann.delete(f"{AT_BLOG}/stranger{number}")

    assert BLOCKS.of(runtime.database).count_documents({}) == 0


# Guests and erasure.


def test_a_guests_list_is_of_their_site(client: Client, runtime: Runtime, clock: Clock) -> None:
    root = client.as_("root", roles=["admin"])
    root.put("/nodes/blog:moon", title="Moon", url="https://blog.example/moon")
    assert root.patch("/sites/blog/comments/settings", guests="name").status == 200
    clock.advance(seconds=60)
    client.as_("bob").post(COMMENTS.format("blog"), text="By Bob")
    made = client.post("/sites/blog/guests", name="Passenger").json
    bearer = {**client.headers, "Authorization": f"Bearer {made['token']}"}
    guest = Client(client.app, client.token, bearer)

    assert guest.put(f"{AT_BLOG}/bob").status == 204
    assert guest.get(AT_BLOG).json == {"people": [{"id": "bob"}]}
    assert not hears_bob(guest, "blog")
    assert guest.get(IN_FEED).status == 401
    assert BLOCKS.of(runtime.database).count_documents({}) == 0
    assert join_all(runtime, 10) == 1
    assert guest.get(AT_BLOG).json == {"people": [{"id": "bob"}]}


@pytest.mark.parametrize("leaving", ["ann", "bob"])
def test_an_erasure_removes_blocks_of_both_sides(
    pages: Client, runtime: Runtime, workers: Workers, leaving: str
) -> None:
    settle(pages, "ann", "bob")
    for one, other in (("ann", "bob"), ("bob", "ann"), ("ann", "cy")):
        pages.as_(one).put(f"{AT_BLOG}/{other}")

    assert pages.as_(leaving).delete("/users/me").status == 202
    workers.drain()

    left = list(BLOCKS.of(runtime.database).find())
    assert not [row for row in left if leaving in str(row)]
    assert blocks.list_of(runtime.database, "ann") == (["cy"] if leaving == "bob" else [])
    assert pages.as_(leaving).get("/users/me/erasure").json["remaining"] == 0
    assert pages.as_(leaving).get(IN_FEED).json == {"people": []}


def test_an_erasure_removes_a_block_made_meanwhile(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    social_blocks.keep_apart(runtime, "ann", "bob")
    update, meant = BLOCKS.of(runtime.database).__class__.update_many, ["cy"]

    def update_and_block(rows: Any, where: Any, change: Any) -> Any:
        done = update(rows, where, change)
        if meant and "blocked" in where:
            social_blocks.keep_apart(runtime, meant.pop(), "bob")
        return done

    monkeypatch.setattr(BLOCKS.of(runtime.database).__class__, "update_many", update_and_block)
    blocks.erase(runtime, "bob")

    assert meant == []
    assert not [row for row in BLOCKS.of(runtime.database).find() if "bob" in str(row)]


def test_a_late_erasure_leaves_blocks_of_a_new_beginning(runtime: Runtime, clock: Clock) -> None:
    social_blocks.keep_apart(runtime, "ann", "bob")
    blocks.erase(runtime, "ann", clock() - timedelta(seconds=1))
    assert blocks.list_of(runtime.database, "ann") == ["bob"]

    blocks.erase(runtime, "ann", clock())
    assert BLOCKS.of(runtime.database).count_documents({}) == 0


def test_an_export_has_the_blocks_of_a_person_and_not_who_blocks_them(pages: Client) -> None:
    pages.as_("ann").put(f"{AT_BLOG}/bob")

    def kinds(who: str) -> list[Any]:
        entries = pages.as_(who).get("/users/me/export").json["entries"]
        return [each["data"] for each in entries if each["kind"] == "blocked_person"]

    assert kinds("ann") == [{"user_id": "bob"}]
    assert kinds("bob") == []
