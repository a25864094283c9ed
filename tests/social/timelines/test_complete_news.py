"""Every post that a reader may see is reached by paging, whatever was trimmed or left out."""

import dataclasses
import random
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.settings import Settings
from chalicelib.social import jobs
from chalicelib.social.timelines import repair
from chalicelib.social.timelines.view import NewsDesign
from tests.social.support.designs import Design
from tests.social.support.drivers import Town, circle, follow, ids, publish, work_on
from tests.support.http_client import Client

KEPT = 10
FILLED = 6
COMPLETE = 8
PAGE = 3
SMALL = pytest.mark.bounds(social={"news_kept": KEPT, "back_fill_posts": FILLED})


@pytest.fixture
def settings(settings: Settings, design: Design) -> Settings:
    return design.of(settings)


@pytest.fixture(autouse=True)
def _complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a rebuild end after a few posts."""
    monkeypatch.setattr(repair, "COMPLETE", COMPLETE)
    monkeypatch.setattr(repair, "_PAGE", PAGE)


def post_many(town: Town, author: str, number: int, **given: Any) -> list[str]:
    """Publish posts a minute apart; return their ids, newest first."""
    posts = []
    for _ in range(number):
        town.clock.advance(minutes=1)
        posts.append(publish(town.client, author, **given))
    town.workers.drain()
    return posts[::-1]


def reached(town: Town, reader: str, view: str = "news", limit: int = 4) -> list[str]:
    """Return the posts of a view, paged to its end."""
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        after = f"&cursor={cursor}" if cursor else ""
        page = town.client.as_(reader).get(f"/users/me/{view}?limit={limit}{after}")
        found += ids(page)
        cursor = page.json["next"]
    return found


def assert_reached(town: Town, reader: str, posts: list[str], view: str = "news") -> None:
    """Check that pages of any size show these posts, and that nothing stored is wrong."""
    for limit in (3, 200):
        assert reached(town, reader, view, limit) == posts
    assert jobs.verify_news(town.runtime, reader) == {"missing": [], "surplus": []}
    assert reached(town, reader, view, 200) == posts


def trim(town: Town, reader: str) -> None:
    """Have the next day's first visit trim the news of a reader."""
    town.clock.advance(days=1)
    town.client.as_(reader).get("/users/me/news?limit=1")
    town.workers.drain()


def stay_away(town: Town, days: int = 40) -> None:
    """Let time pass until fan-outs leave everybody out."""
    town.clock.advance(days=days)
    jobs.tend(town.runtime)


@SMALL
def test_a_follow_after_a_trim_hides_nothing(town: Town) -> None:
    older = post_many(town, "cy", 16)
    town.clock.advance(days=40)
    follow(town.client, "bob", "ann")
    newer = post_many(town, "ann", 54)
    trim(town, "bob")
    assert_reached(town, "bob", newer)

    follow(town.client, "bob", "cy")
    town.workers.drain()

    assert_reached(town, "bob", newer + older)


@SMALL
@pytest.mark.parametrize("number", [FILLED - 1, FILLED, FILLED + 1, 3 * FILLED])
def test_all_posts_of_a_newly_followed_author_are_reached(town: Town, number: int) -> None:
    follow(town.client, "bob", "ann")
    before = post_many(town, "ann", 2)
    posts = post_many(town, "cy", number)

    follow(town.client, "bob", "cy")
    town.workers.drain()

    assert_reached(town, "bob", posts + before)
    later = post_many(town, "ann", 2)
    assert_reached(town, "bob", later + posts + before)


@SMALL
def test_posts_of_one_instant_are_reached_where_a_back_fill_ends(town: Town) -> None:
    posts = sorted((publish(town.client, "cy") for _ in range(3 * FILLED)), reverse=True)
    town.workers.drain()

    follow(town.client, "bob", "cy")
    town.workers.drain()

    assert_reached(town, "bob", posts)


@SMALL
def test_posts_of_one_instant_are_reached_where_a_trim_ends(town: Town) -> None:
    follow(town.client, "bob", "ann")
    town.workers.drain()
    posts: list[str] = []
    for _ in range(3):
        town.clock.advance(days=33)
        posts += [publish(town.client, "ann") for _ in range(KEPT // 2 + 1)]
        town.workers.drain()
        trim(town, "bob")
    whole = reached(town, "bob")

    assert sorted(whole) == sorted(posts)
    assert_reached(town, "bob", whole)


@SMALL
@pytest.mark.parametrize("number", [COMPLETE, COMPLETE + 1, 4 * COMPLETE])
def test_all_that_was_posted_in_an_absence_is_reached(town: Town, number: int) -> None:
    follow(town.client, "bob", "ann")
    before = post_many(town, "ann", 5)
    stay_away(town)
    meanwhile = post_many(town, "ann", number)

    assert reached(town, "bob") == meanwhile + before
    town.workers.drain()

    assert_reached(town, "bob", meanwhile + before)
    trim(town, "bob")
    assert_reached(town, "bob", meanwhile + before)


@SMALL
@pytest.mark.parametrize("number", [FILLED, FILLED + 1, 3 * FILLED])
def test_all_posts_to_a_circle_reach_its_new_member(town: Town, number: int) -> None:
    circle(town.client, "cy", "club", "dan")
    posts = post_many(town, "cy", number, circles=["club"])

    circle(town.client, "cy", "club", "bob")
    town.workers.drain()
    assert_reached(town, "bob", posts, "incoming")

    follow(town.client, "bob", "cy")
    town.workers.drain()
    assert_reached(town, "bob", posts)
    assert_reached(town, "bob", posts, "incoming")


@SMALL
def test_a_delivery_that_comes_late_and_twice_is_shown_once(watched: Town) -> None:
    rng = random.Random(7)
    follow(watched.client, "bob", "ann")
    watched.courier.deliver(watched.runtime, rng)
    late, delayed = publish(watched.client, "ann"), watched.courier.take()
    newer = []
    for _ in range(2 * KEPT):
        watched.clock.advance(days=5)
        newer.append(publish(watched.client, "ann"))
        watched.client.as_("bob").get("/users/me/news?limit=1")
        watched.courier.deliver(watched.runtime, rng)
    repair.trim(watched.runtime, "bob")

    for message in delayed * 2:
        work_on(watched.runtime, message)
    watched.courier.deliver(watched.runtime, rng, twice=True)

    assert_reached(watched, "bob", [*newer[::-1], late])


@SMALL
def test_ties_that_end_and_come_back_hide_nothing(town: Town) -> None:
    follow(town.client, "bob", "ann", "cy")
    first = post_many(town, "cy", KEPT)
    between = post_many(town, "ann", KEPT)
    bob = town.client.as_("bob")
    bob.delete("/users/me/circles/read/members/cy")
    unseen = post_many(town, "cy", 2 * FILLED)
    trim(town, "bob")
    assert reached(town, "bob") == between

    follow(town.client, "bob", "cy")
    town.workers.drain()
    assert_reached(town, "bob", unseen + between + first)

    assert bob.put("/users/me/blocked/cy").status == 204
    assert reached(town, "bob") == between
    bob.delete("/users/me/blocked/cy")
    for post in unseen[::3]:
        town.client.as_("cy").delete(f"/posts/{post}")
    follow(town.client, "bob", "cy")
    town.workers.drain()
    left = [post for post in unseen if post not in unseen[::3]]
    assert_reached(town, "bob", left + between + first)


@SMALL
@pytest.mark.parametrize("is_trimmed", [True, False])
def test_news_that_an_earlier_release_left_incomplete_are_pulled_and_rebuilt(
    town: Town, *, is_trimmed: bool
) -> None:
    follow(town.client, "bob", "ann")
    posts = post_many(town, "ann", 3 * COMPLETE)
    database = town.runtime.database
    gone = posts[KEPT:] if is_trimmed else posts[3:-3]
    database["social.news_item"].delete_many({"post_id": {"$in": gone}})
    database["social.news"].update_many({}, {"$pull": {"posts": {"id": {"$in": gone}}}})
    written = {"$set": {"trimmed": is_trimmed}, "$unset": {"complete_since": ""}}
    database["social.user"].update_one({"_id": "bob"}, written)

    assert reached(town, "bob") == posts
    repair.trim(town.runtime, "bob")
    assert reached(town, "bob") == posts
    town.workers.drain()

    assert_reached(town, "bob", posts)
    bob = database["social.user"].find_one({"_id": "bob"})
    assert bob is not None
    assert not bob["stale"]


@SMALL
def test_news_that_an_earlier_release_trims_beside_this_one_are_whole(town: Town) -> None:
    follow(town.client, "bob", "ann")
    posts = post_many(town, "ann", 3 * COMPLETE)
    database = town.runtime.database
    for name in ("social.news_item", "social.news"):
        database[name].delete_many({})
    database["social.user"].update_one({"_id": "bob"}, {"$set": {"trimmed": True}})

    assert reached(town, "bob") == posts
    town.workers.drain()

    assert_reached(town, "bob", posts)


@SMALL
@pytest.mark.parametrize("other", ["references", "copies", "pull"])
def test_another_design_shows_the_same_news_at_once(town: Town, other: NewsDesign) -> None:
    follow(town.client, "bob", "ann")
    posts = post_many(town, "ann", 2 * COMPLETE)
    settings = town.runtime.settings.model_copy(update={"news": other})
    runtime = dataclasses.replace(town.runtime, settings=settings)
    client = Client(create_app(runtime, LocalChalice), town.client.token)
    there = dataclasses.replace(town, client=client, runtime=runtime)

    assert reached(there, "bob") == posts
    repair.rebuild(runtime, "bob")
    assert_reached(there, "bob", posts)


@SMALL
def test_stored_news_stay_bounded_and_incoming_has_a_bound_of_its_own(
    town: Town, design: Design
) -> None:
    circle(town.client, "ann", "club", "bob")
    follow(town.client, "bob", "ann")
    sent = post_many(town, "ann", KEPT // 2, circles=["club"])
    for _ in range(6):
        town.clock.advance(days=20)
        post_many(town, "ann", KEPT)
        trim(town, "bob")

    database = town.runtime.database
    items = database["social.news_item"].count_documents({"user_id": "bob"})
    months = database["social.news"].find({"user_id": "bob"})
    assert items <= KEPT + len(sent)
    assert sum(len(month["posts"]) for month in months) <= 3 * KEPT
    assert reached(town, "bob", "incoming") == sent
    if design.news == "references":
        assert items == KEPT + len(sent)
