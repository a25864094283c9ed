"""A reader hears of each new post of an author whom they watch, once, as far as they see it."""

import dataclasses
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from chalicelib.bounds import BOUNDS
from chalicelib.jobs.outbox import JOBS
from chalicelib.notifications.rows import ITEMS
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.social import jobs, watched_posts
from chalicelib.social.graph import promotion, watches
from chalicelib.social.graph.watches import AUTHOR_WATCHES
from chalicelib.social.messages import NotifyWatchers
from tests.assets.support.crashes import Crash, crash_at_write
from tests.social.support.drivers import (
    CIRCLES,
    PUBLIC,
    Town,
    circle,
    follow,
    publish,
    settle,
    work_on,
)
from tests.social.support.interleaving import Meantime
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers


def watch(client: Client, reader: str, author: str = "ann") -> Reply:
    return client.as_(reader).put(f"/users/{author}/watch", level="watching")


def watching(client: Client, reader: str, *authors: str) -> None:
    """Have a reader follow and watch authors."""
    follow(client, reader, *authors)
    for author in authors:
        assert watch(client, reader, author).status == 200


def told(client: Client, who: str) -> list[tuple[str, str, int]]:
    reply = client.as_(who).get("/notifications")
    assert reply.status == 200, reply.body
    found = [each for each in reply.json["notifications"] if each["kind"] != "follow"]
    return [(each["kind"], each["excerpt"], each["count"]) for each in found]


def items(runtime: Runtime) -> list[tuple[str, bool]]:
    """Return the readers of new posts, each with whether the item stands."""
    found = ITEMS.of(runtime.database).find({"kind": "post.new"})
    return sorted((each["user_id"], each["wanted"]) for each in found)


def in_steps(runtime: Runtime, readers: int, steps: int) -> Runtime:
    """Return a runtime whose workers notify few readers at once."""
    social = dataclasses.replace(BOUNDS.social, watchers_at_once=readers, watcher_steps=steps)
    return dataclasses.replace(runtime, bounds=dataclasses.replace(BOUNDS, social=social))


def test_posts_of_a_day_are_one_notification_for_who_watches(
    client: Client, workers: Workers, runtime: Runtime, clock: Clock
) -> None:
    follow(client, "cy", "ann")
    follow(client, "bob", "ann")
    publish(client, "ann", detail={"text": "Before"})
    clock.advance(seconds=1)
    watching(client, "bob", "ann")
    for number, text in enumerate(("One", "Two", "Three")):
        clock.advance(seconds=1)
        if number == 2:
            late = datetime(2026, 3, 2, 23, 59, 59, 999_000, tzinfo=UTC)
            clock.advance(seconds=(late - clock()).total_seconds() + 1)
        post = publish(client, "ann", detail={"text": text})
        workers.drain()

    assert told(client, "bob") == [("post.new", "Three", 1), ("post.new", "Two", 1)]
    assert told(client, "cy") == []
    assert len(items(runtime)) == 3, "not of the post from before"
    (newest, _) = client.as_("bob").get("/notifications").json["notifications"]
    assert newest["by"] == {"id": "ann", "name": "Ann"}
    assert newest["page"]["id"] == post


def test_only_an_author_whom_the_reader_follows_can_be_watched(
    client: Client, workers: Workers
) -> None:
    settle(client, "ann", "bob")
    for author in ("ann", "bob", "nobody-yet"):
        refused = watch(client, "bob", author)
        assert (refused.status, refused.code) == (409, "not_followed")
    watching(client, "bob", "ann")
    circle(client, "bob", "club", "ann")
    path = "/users/me/circles/{}/members/ann"
    assert client.as_("bob").delete(path.format("read")).status == 204
    workers.drain()
    assert client.as_("bob").get("/users/ann/watch").json["level"] == "watching", "in the club"

    assert client.as_("bob").delete(path.format("club")).status == 204
    assert client.as_("bob").get("/users/ann/watch").json["level"] is None, "at once"
    assert client.as_("bob").get("/users/me/watches").json["watches"] == []
    workers.drain()
    follow(client, "bob", "ann")

    assert client.as_("bob").get("/users/ann/watch").json["level"] is None, "it does not come back"


def _block(client: Client, owner: str, other: str) -> Reply:
    return client.as_(owner).put(f"/users/me/blocked/{other}")


ENDS: dict[str, Callable[[Client], Reply]] = {
    "watch": lambda client: client.as_("bob").delete("/users/ann/watch"),
    "tie": lambda client: client.as_("bob").delete("/users/me/circles/read/members/ann"),
    "circle": lambda client: client.as_("bob").delete("/users/me/circles/read"),
    "block": lambda client: _block(client, "bob", "ann"),
    "blocked": lambda client: _block(client, "ann", "bob"),
    "mute": lambda client: client.as_("bob").put("/users/me/muted/ann"),
}


@pytest.mark.parametrize("end", sorted(ENDS))
@pytest.mark.parametrize("stored", ["embedded", "edges"])
def test_who_ended_it_hears_of_no_post_even_before_its_rows_are_gone(
    watched: Town, end: str, stored: str
) -> None:
    client, runtime = watched.client, watched.runtime
    watching(client, "bob", "ann")
    watching(client, "cy", "ann")
    if stored == "edges":
        promotion.promote(runtime, "ann")
        promotion.promote(runtime, "bob")
    watched.courier.deliver(runtime, random.Random(0))
    assert ENDS[end](client).status == 204
    held = watched.courier.take()

    post = publish(client, "ann")
    watched.courier.deliver(runtime, random.Random(0))
    assert items(runtime) == [("cy", True)], post

    for message in held:
        work_on(runtime, message)
    kept = ["bob", "cy"] if end == "mute" else ["cy"]
    assert sorted(row["user_id"] for row in AUTHOR_WATCHES.of(runtime.database).find()) == kept


@pytest.mark.parametrize("end", ["block", "blocked", "mute"])
def test_a_page_leaves_out_posts_of_people_who_are_apart_by_now(
    client: Client, workers: Workers, end: str
) -> None:
    watching(client, "bob", "ann")
    publish(client, "ann")
    workers.drain()
    assert len(told(client, "bob")) == 1
    assert ENDS[end](client).status == 204

    assert told(client, "bob") == []


@pytest.mark.parametrize("audience", ["at_view", "at_post"])
@pytest.mark.parametrize("steps", [1, 1_000])
def test_a_post_for_circles_is_told_to_their_members_alone(
    client: Client, workers: Workers, runtime: Runtime, audience: str, steps: int
) -> None:
    people = ["bob", "cy", "dee", "eve"]
    for each in people:
        watching(client, each, "ann")
    circle(client, "ann", "club", "bob", "fay", "gus", "dee")
    circle(client, "ann", "choir", "eve")
    workers.drain()
    post = publish(client, "ann", ("club",), audience=audience)
    JOBS.of(runtime.database).delete_many({})
    small = in_steps(runtime, steps, 1_000)
    watched_posts.notify(small, NotifyWatchers(by="ann", thing=post))
    watched_posts.notify(small, NotifyWatchers(by="ann", thing=post))

    assert items(runtime) == [("bob", True), ("dee", True)]
    workers.drain()
    publish(client, "ann", CIRCLES, audience=audience)
    workers.drain()

    assert [len(told(client, each)) for each in people] == [1, 0, 1, 1]


def test_who_leaves_the_audience_sees_no_notification_of_it(
    client: Client, workers: Workers
) -> None:
    watching(client, "bob", "ann")
    circle(client, "ann", "club", "bob")
    publish(client, "ann", ("club",))
    workers.drain()
    assert len(told(client, "bob")) == 1
    assert client.as_("ann").delete("/users/me/circles/club/members/bob").status == 204

    assert told(client, "bob") == []
    assert client.as_("bob").get("/notifications").json["unread"] == 0


def test_a_post_on_another_wall_is_for_its_owner_alone(client: Client, workers: Workers) -> None:
    watching(client, "bob", "ann")
    settle(client, "cy")
    watching(client, "cy", "ann")
    publish(client, "ann", wall_owner_id="cy")
    workers.drain()

    assert told(client, "bob") == []
    assert told(client, "cy") == [("post.wall", "Hello", 1)]


def test_a_deleted_post_takes_its_notifications_back(
    client: Client, workers: Workers, runtime: Runtime
) -> None:
    watching(client, "bob", "ann")
    post = publish(client, "ann")
    workers.drain()
    assert client.as_("ann").delete(f"/posts/{post}").status == 204
    assert told(client, "bob") == [], "at once"
    workers.drain()

    assert items(runtime) == [("bob", False)]


def test_a_post_that_goes_while_it_is_told_is_taken_back(watched: Town, meantime: Meantime) -> None:
    watching(watched.client, "bob", "ann")
    watched.courier.deliver(watched.runtime, random.Random(0))
    post = publish(watched.client, "ann")
    (deliver,) = watched.courier.take()
    work_on(watched.runtime, deliver)
    (notify,) = watched.courier.take()

    def delete() -> None:
        assert watched.client.as_("ann").delete(f"/posts/{post}").status == 204
        watched.courier.deliver(watched.runtime, random.Random(0))

    meantime.before("insert", ITEMS.name, delete)
    work_on(watched.runtime, notify)

    assert meantime.done()
    assert items(watched.runtime) == [("bob", False)]


def test_many_who_watch_are_told_in_steps_of_several_messages(watched: Town) -> None:
    people = [f"u{number:02}" for number in range(11)]
    for each in people:
        watching(watched.client, each, "ann")
    watched.courier.deliver(watched.runtime, random.Random(0))
    post = publish(watched.client, "ann")
    watched.courier.deliver(watched.runtime, random.Random(0))
    ITEMS.of(watched.runtime.database).delete_many({})
    small = in_steps(watched.runtime, 2, 2)

    sizes, message = [], NotifyWatchers(by="ann", thing=post)
    while True:
        before = len(items(small))
        watched_posts.notify(small, message)
        sizes.append(len(items(small)) - before)
        if not (rest := watched.courier.take()):
            break
        (message,) = rest

    assert sizes == [4, 4, 3]
    assert items(small) == [(each, True) for each in people]


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5])
def test_all_are_told_whatever_their_number(
    client: Client, workers: Workers, runtime: Runtime, number: int
) -> None:
    people = [f"u{each}" for each in range(number)]
    for each in people:
        watching(client, each, "ann")
    settle(client, "ann")
    post = publish(client, "ann")
    workers.drain()
    ITEMS.of(runtime.database).delete_many({})

    watched_posts.notify(in_steps(runtime, 2, 9), NotifyWatchers(by="ann", thing=post))

    assert items(runtime) == [(each, True) for each in people]


def test_a_post_that_readers_pull_is_told_too(
    client: Client, workers: Workers, settings: Settings
) -> None:
    object.__setattr__(settings, "pull_audience", 1)
    for each in ("bob", "cy"):
        watching(client, each, "ann")
    publish(client, "ann")
    workers.drain()

    assert [len(told(client, each)) for each in ("bob", "cy")] == [1, 1]


def test_messages_twice_and_shuffled_to_workers_at_once_tell_once(watched: Town) -> None:
    people = [f"u{number}" for number in range(8)]
    for each in people:
        watching(watched.client, each, "ann")
    watched.courier.deliver(watched.runtime, random.Random(0))
    publish(watched.client, "ann")
    town = dataclasses.replace(watched, runtime=in_steps(watched.runtime, 2, 1))
    while work := watched.courier.take() * 3:
        random.Random(0).shuffle(work)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(partial(work_on, town.runtime), work))

    assert items(watched.runtime) == [(each, True) for each in people]


def test_a_crash_before_any_write_tells_once_in_the_end(watched: Town, clock: Clock) -> None:
    for each in ("bob", "cy", "dee"):
        watching(watched.client, each, "ann")
    watched.courier.deliver(watched.runtime, random.Random(0))
    runtime = in_steps(watched.runtime, 1, 1)
    publish(watched.client, "ann")

    def crash_each(step: Callable[[], Any]) -> None:
        number = 0
        while True:
            try:
                with crash_at_write(number, is_after=False):
                    step()
            except Crash:
                number += 1
            else:
                return

    for _ in range(3):
        for message in watched.courier.take():
            crash_each(partial(work_on, runtime, message))
    for _ in range(8):
        clock.advance(minutes=21)
        jobs.resend_overdue(runtime)
        watched.courier.deliver(runtime, random.Random(0))

    assert items(runtime) == [(each, True) for each in ("bob", "cy", "dee")]
    assert JOBS.of(runtime.database).count_documents({"errand.type": "notify-watchers"}) == 0


def test_a_deployment_that_is_off_notes_nothing_and_says_so(
    client: Client, workers: Workers, runtime: Runtime, settings: Settings
) -> None:
    object.__setattr__(settings, "social_notifications", False)
    follow(client, "bob", "ann")
    assert watch(client, "bob").json["available"] is False
    publish(client, "ann")
    assert JOBS.of(runtime.database).count_documents({"errand.type": "notify-watchers"}) == 0
    workers.drain()

    assert items(runtime) == []


def test_an_author_without_readers_who_watch_costs_no_job(watched: Town) -> None:
    follow(watched.client, "bob", "ann")
    watched.courier.deliver(watched.runtime, random.Random(0))
    publish(watched.client, "ann")
    (deliver,) = watched.courier.take()
    work_on(watched.runtime, deliver)

    assert watched.courier.take() == []


def test_a_watch_that_is_set_again_stays_as_it_is(client: Client, clock: Clock) -> None:
    watching(client, "bob", "ann")
    first = client.as_("bob").get("/users/ann/watch").json
    clock.advance(minutes=1)

    assert watch(client, "bob").json == first
    assert client.as_("bob").get("/users/ann/watch").json == first
    for _ in range(2):
        assert client.as_("bob").delete("/users/ann/watch").status == 204
    assert client.as_("bob").get("/users/ann/watch").json["since"] is None


def test_a_watch_set_by_calls_at_once_is_one(client: Client, runtime: Runtime) -> None:
    follow(client, "bob", "ann")
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: watch(client, "bob").status, range(8)))

    assert replies == [200] * 8
    assert AUTHOR_WATCHES.of(runtime.database).count_documents({}) == 1


def test_a_reader_has_so_many_watches_and_no_more(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "MOST", 2)
    watching(client, "bob", "ann", "cy")
    follow(client, "bob", "dee")

    refused = watch(client, "bob", "dee")

    assert (refused.status, refused.code) == (409, "too_many_watches")
    assert watch(client, "bob", "ann").status == 200, "there already"
    watching(client, "eve", "ann")


@pytest.mark.parametrize("level", ["muted", "normal", None, 1])
def test_other_levels_are_refused(client: Client, level: Any) -> None:
    follow(client, "bob", "ann")

    refused = client.as_("bob").put("/users/ann/watch", level=level)

    assert (refused.status, refused.code) == (422, "invalid_request")


def test_a_page_of_watches_leads_to_the_next_and_has_names_of_today(
    client: Client, workers: Workers, clock: Clock
) -> None:
    authors = ["ann", "cy", "dee"]
    for author in authors:
        clock.advance(seconds=1)
        watching(client, "bob", author)
    assert client.as_("cy").put("/users/me", name="Cyrus").status == 200
    workers.drain()
    bob = client.as_("bob")

    first = bob.get("/users/me/watches?limit=2").json
    rest = bob.get(f"/users/me/watches?limit=2&cursor={first['next']}").json

    shown = [each["author"] for each in first["watches"] + rest["watches"]]
    assert shown == [
        {"id": "dee", "name": "Dee"},
        {"id": "cy", "name": "Cyrus"},
        {"id": "ann", "name": "Ann"},
    ]
    assert rest["next"] is None
    assert client.as_("ann").get("/users/me/watches").json == {"watches": [], "next": None}


@pytest.mark.parametrize("erased", ["ann", "bob"])
def test_an_erasure_leaves_no_watch_item_or_job(
    client: Client, workers: Workers, runtime: Runtime, erased: str
) -> None:
    watching(client, "bob", "ann")
    post = publish(client, "ann", PUBLIC)
    workers.drain()
    assert len(told(client, "bob")) == 1
    assert client.as_(erased).delete("/users/me").status == 202
    workers.drain()
    watched_posts.notify(runtime, NotifyWatchers(by="ann", thing=post))

    assert AUTHOR_WATCHES.of(runtime.database).count_documents({}) == 0
    assert items(runtime) == []


def test_a_reader_whose_kind_is_off_has_no_notification_even_later(
    client: Client, workers: Workers
) -> None:
    watching(client, "bob", "ann")
    bob = client.as_("bob")
    off = {"post.new": {"in_app": False}}
    assert bob.put("/notifications/preferences", kinds=off).status == 200
    publish(client, "ann")
    workers.drain()
    assert bob.put("/notifications/preferences", kinds={}).status == 200
    workers.drain()

    assert told(client, "bob") == []
