"""News and walls are what their definitions say, page by page, in every design."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.http import payloads
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.social.messages import Deliver
from chalicelib.social.paging import positions
from chalicelib.social.workers import handle
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
    post = publish(client, "ann", ["club"], wall="bob")
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
        posts.append(publish(client, author, circles, wall=owner))
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


def pages(client: Client, path: str, limit: int) -> list[list[str]]:
    """Read a view to its end; return the ids by page."""
    found, cursor = [], ""
    while True:
        page = client.get(f"{path}?limit={limit}{cursor}")
        found.append(ids(page))
        if page.json["next"] is None:
            return found
        cursor = f"&cursor={page.json['next']}"


@pytest.mark.parametrize("view", ["news", "wall"])
def test_pages_follow_one_another_over_the_month_s_end(
    client: Client, workers: Workers, clock: Clock, view: str
) -> None:
    follow(client, "bob", "ann")
    reader = client.as_("bob" if view == "news" else "ann")
    clock.time = datetime(2026, 2, 28, 23, 59, 59, 998_000, tzinfo=UTC)
    posts = []
    for _ in range(5):
        # Two at each of five milliseconds, of which the third begins the month.
        posts += [publish(client, "ann"), publish(client, "ann")]
        clock.advance(milliseconds=1)
    clock.advance(days=70)
    posts.append(publish(client, "ann"))
    workers.drain()

    whole = ids(reader.get(f"/users/me/{view}"))
    assert set(whole) == set(posts)
    assert [posts.index(post) // 2 for post in whole] == [5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0]
    for limit in (1, 2, 3, 10, 11):
        read = pages(reader, f"/users/me/{view}", limit)
        assert [post for page in read for post in page] == whole
        assert all(len(page) == limit for page in read[:-1])
        assert read[-1]


@pytest.mark.parametrize("view", ["news", "wall"])
def test_a_page_that_no_answer_could_bear_ends_early(
    client: Client, workers: Workers, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    follow(client, "bob", "ann")
    posts = [publish(client, "ann", detail={"text": "x" * 1_000}) for _ in range(5)]
    workers.drain()
    monkeypatch.setattr(payloads, "MAX_BYTES", 3_000)

    read = pages(client.as_("bob" if view == "news" else "ann"), f"/users/me/{view}", 50)

    assert [len(page) for page in read] == [2, 2, 1]
    assert {post for page in read for post in page} == set(posts)


def test_what_a_fast_clock_dates_in_the_next_month_is_on_the_first_page(
    client: Client, workers: Workers, clock: Clock
) -> None:
    follow(client, "bob", "ann")
    clock.time = datetime(2026, 2, 28, 23, 59, 59, 990_000, tzinfo=UTC)
    earlier = publish(client, "ann")
    clock.advance(milliseconds=20)
    later = publish(client, "ann")
    workers.drain()

    clock.advance(milliseconds=-15)
    assert news(client, "bob") == wall(client, "ann", "bob") == [later, earlier]


def test_what_is_delivered_late_stands_in_its_place(
    client: Client, workers: Workers, clock: Clock, runtime: Runtime
) -> None:
    early = publish(client, "ann")
    clock.advance(milliseconds=1)
    runtime.database["social.post"].update_one({"_id": early}, {"$set": {"fan_out.state": "done"}})
    late = publish(client, "ann")
    workers.drain()

    runtime.database["social.post"].update_one(
        {"_id": early}, {"$set": {"fan_out.state": "pending"}}
    )
    handle(runtime, Deliver(post_id=early))
    workers.drain()

    assert wall(client, "ann", "ann") == [late, early]


@pytest.mark.parametrize("view", ["/users/me/news", "/users/ann/wall"])
def test_a_thinned_page_is_filled_up(
    client: Client, workers: Workers, clock: Clock, view: str
) -> None:
    circle(client, "ann", "club", "bob")
    follow(client, "bob", "ann")
    shown = []
    for _ in range(4):
        shown.append(publish(client, "ann"))
        for _ in range(5):
            clock.advance(seconds=1)
            publish(client, "ann", ["club"])
        clock.advance(seconds=1)
    workers.drain()
    client.as_("ann").delete("/users/me/circles/club/members/bob")
    shown.reverse()

    assert pages(client.as_("bob"), view, 2) == [shown[:2], shown[2:]]


@pytest.mark.bounds(social={"page_examined": 3})
def test_a_page_examines_no_more_than_its_bound(
    client: Client, workers: Workers, clock: Clock
) -> None:
    circle(client, "ann", "club", "bob")
    follow(client, "bob", "ann")
    oldest = publish(client, "ann")
    for _ in range(10):
        clock.advance(seconds=1)
        publish(client, "ann", ["club"])
    workers.drain()
    client.as_("ann").delete("/users/me/circles/club/members/bob")

    read = pages(client.as_("bob"), "/users/me/news", 2)

    assert [post for page in read for post in page] == [oldest]
    assert len(read) > 2


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


@pytest.mark.parametrize("limit", ["0", "201", "x", "-1", "1e2"])
def test_a_limit_out_of_bounds_is_refused(client: Client, limit: str) -> None:
    assert client.as_("ann").get(f"/users/me/news?limit={limit}").code == "invalid_request"
    assert client.as_("ann").get(f"/users/me/wall?limit={limit}").code == "invalid_request"


def test_a_cursor_is_refused_anywhere_but_where_it_was_given(
    client: Client, workers: Workers, clock: Clock
) -> None:
    follow(client, "bob", "ann")
    follow(client, "ann", "bob")
    for _ in range(2):
        publish(client, "ann")
        publish(client, "bob")
        clock.advance(seconds=1)
    workers.drain()
    bob, ann = client.as_("bob"), client.as_("ann")
    cursor = bob.get("/users/me/news?limit=1").json["next"]
    assert bob.get(f"/users/me/news?limit=1&cursor={cursor}").status == 200

    refused: list[Any] = [
        ann.get(f"/users/me/news?cursor={cursor}"),
        bob.get(f"/users/me/wall?cursor={cursor}"),
        bob.get(f"/users/ann/wall?cursor={cursor}"),
        bob.get(f"/users/me/followers?cursor={cursor}"),
        bob.get(f"/users/me/news?cursor={cursor[:-1]}"),
        bob.get(f"/users/me/news?cursor={cursor}A"),
        bob.get(f"/users/me/news?cursor={cursor.swapcase()}"),
        bob.get("/users/me/news?cursor=%24gt"),
    ]

    assert {(reply.status, reply.code) for reply in refused} == {(400, "invalid_cursor")}


def test_views_and_sweeps_are_read_by_their_indexes(
    client: Client, workers: Workers, runtime: Runtime
) -> None:
    follow(client, "bob", "ann")
    publish(client, "ann")
    workers.drain()
    last = positions.Position(runtime.now() + timedelta(days=1), "z")
    item = {"user_id": "bob", **positions.older_than(last, "ts", "post_id")}
    unfinished = {"$in": ["pending", "delivering"]}
    overdue = {"fan_out.state": unfinished, "fan_out.resend_at": {"$not": {"$gt": runtime.now()}}}

    def plan(name: str, where: Any, *sort: str, direction: int = 1) -> str:
        cursor = runtime.database[name].find(where).sort([(field, direction) for field in sort])
        chosen = str(cursor.explain()["queryPlanner"]["winningPlan"])
        assert "'SORT'" not in chosen
        return chosen

    by_user = "user_id_1_month_1_seq_1"
    month = {"user_id": "ann", "month": "202603"}
    assert by_user in plan("social.wall", month, "seq", direction=-1)
    assert by_user in plan("social.wall", {"user_id": "ann"}, "month", direction=-1)
    assert "user_id_1_ts_1" in plan("social.news_item", item, "ts", "post_id", direction=-1)
    assert "fan_out.state_1" in plan("social.post", overdue, "fan_out.resend_at")
    due = {"spread.due": {"$lte": runtime.now()}}
    assert "spread.due_1" in plan("social.post", due, "spread.due")
    assert "post_id_1_ts_1" in plan("social.post_comment", {"post_id": "x"}, "ts", "id")
