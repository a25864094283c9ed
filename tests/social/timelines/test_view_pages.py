"""The pages of news and walls, in every design: their order, cursors and bounds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.http import responses
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.social import paging
from chalicelib.social.jobs import handle
from chalicelib.social.messages import Deliver
from tests.social.support.designs import Design
from tests.social.support.drivers import (
    circle,
    follow,
    ids,
    news,
    publish,
    wall,
)
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


@pytest.fixture
def settings(settings: Settings, design: Design) -> Settings:
    return design.of(settings)


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
def test_a_page_too_large_for_an_answer_ends_early(
    client: Client, workers: Workers, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    follow(client, "bob", "ann")
    posts = [publish(client, "ann", detail={"text": "x" * 1_000}) for _ in range(5)]
    workers.drain()
    monkeypatch.setattr(responses, "MAX_BYTES", 3_000)

    read = pages(client.as_("bob" if view == "news" else "ann"), f"/users/me/{view}", 50)

    assert all(1 <= len(page) <= 2 for page in read)
    assert sorted(post for page in read for post in page) == sorted(posts)


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


def test_what_is_delivered_late_is_in_its_place(
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
    last = paging.ListPosition(runtime.now() + timedelta(days=1), "z")
    item = {"user_id": "bob", **paging.older_than(last, "ts", "post_id")}
    unfinished = {"$in": ["pending", "delivering"]}
    overdue = {"fan_out.state": unfinished, "fan_out.resend_at": {"$lte": runtime.now()}}

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
