"""Stored news stay whole, whatever trims, fills, rebuilds or delivers at the same time, or dies."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.settings import Settings
from chalicelib.social import jobs
from chalicelib.social.messages import BackFill
from chalicelib.social.timelines import news, repair
from tests.social.support.drivers import Town, circle, follow, ids, publish, work_on
from tests.social.support.interleaving import Meantime
from tests.social.support.mortal_workers import Died, Mortal, living

KEPT = 6
FILLED = 3
pytestmark = pytest.mark.bounds(social={"news_kept": KEPT, "back_fill_posts": FILLED})


@pytest.fixture(params=["references", "copies"])
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Each design that stores news."""
    return settings.model_copy(update={"news": request.param})


@pytest.fixture(autouse=True)
def _complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair, "COMPLETE", 4)
    monkeypatch.setattr(repair, "_PAGE", 2)


def store_of(town: Town) -> str:
    return {"references": "social.news_item", "copies": "social.news"}[town.runtime.settings.news]


def command(town: Town, kind: str) -> tuple[str, str]:
    """Return a command and its collection.

    `read` reads what the first rows of a page lead to: their posts, or the months before them.
    """
    design = town.runtime.settings.news
    if (design, kind) == ("references", "read"):
        return "find", "social.post"
    by_design = {
        "references": {"write": "insert", "take": "delete"},
        "copies": {"read": "aggregate", "write": "update", "take": "update"},
    }
    return by_design[design][kind], store_of(town)


def deliver(town: Town) -> None:
    town.courier.deliver(town.runtime, random.Random(7))


def post_many(town: Town, author: str, number: int, days: int = 0) -> list[str]:
    """Publish posts some days apart; return their ids, newest first."""
    posts = []
    for _ in range(number):
        town.clock.advance(days=days, minutes=1)
        posts.append(publish(town.client, author))
        # So that nobody is away.
        people = town.runtime.database["social.user"]
        people.update_many({}, {"$set": {"last_seen": town.clock()}})
    return posts[::-1]


def reached(town: Town, between: Callable[[int], Any] = lambda _page: None) -> list[str]:
    """Return Bob's news, paged to their end; `between` is called before each page."""
    found: list[str] = []
    cursor: str | None = ""
    number = 0
    while cursor is not None:
        between(number)
        after = f"&cursor={cursor}" if cursor else ""
        page = town.client.as_("bob").get(f"/users/me/news?limit=4{after}")
        found += ids(page)
        cursor, number = page.json["next"], number + 1
    return found


def assert_whole(town: Town, posts: list[str]) -> None:
    assert reached(town) == posts
    assert jobs.verify_news(town.runtime, "bob") == {"missing": [], "surplus": []}


@pytest.mark.parametrize("at", [0, 2, 4])
def test_a_page_that_is_read_while_the_news_are_trimmed_misses_nothing(
    watched: Town, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """The server reads the reader first, then the rows: a trim may come in between."""
    follow(watched.client, "bob", "ann")
    deliver(watched)
    posts = post_many(watched, "ann", 4 * KEPT, days=5)
    deliver(watched)
    visits: list[bool] = []

    def note_visit(*call: Any, **options: Any) -> Any:
        reader = note_visit_alone(*call, **options)
        visits.append(len(visits) == at)
        if not visits[-1]:
            return reader
        repair.trim(watched.runtime, "bob")
        return {**reader, "begun": note_visit_alone(*call, **options)["begun"]}

    note_visit_alone: Callable[..., Any] = news.note_visit
    monkeypatch.setattr(news, "note_visit", note_visit)

    assert reached(watched) == posts
    assert sum(visits) == 1
    assert_whole(watched, posts)


@pytest.mark.parametrize("at", [0, 2, 4])
def test_a_page_whose_posts_are_read_after_a_trim_misses_nothing(
    watched: Town, meantime: Meantime, at: int
) -> None:
    follow(watched.client, "bob", "ann")
    deliver(watched)
    posts = post_many(watched, "ann", 4 * KEPT, days=5)
    deliver(watched)

    def trim_before(page: int) -> None:
        if page == at:
            meantime.before(*command(watched, "read"), lambda: repair.trim(watched.runtime, "bob"))

    assert reached(watched, trim_before) == posts
    assert meantime.done()
    assert_whole(watched, posts)


def test_a_post_that_is_delivered_while_the_news_are_trimmed_is_shown_once(
    watched: Town, meantime: Meantime
) -> None:
    follow(watched.client, "bob", "ann")
    deliver(watched)
    early = post_many(watched, "ann", 1)
    late = watched.courier.take()
    posts = post_many(watched, "ann", 4 * KEPT, days=5)
    deliver(watched)

    meantime.before(*command(watched, "write"), lambda: repair.trim(watched.runtime, "bob"))
    for message in late * 2:
        work_on(watched.runtime, message)

    assert meantime.done()
    assert_whole(watched, posts + early)
    repair.trim(watched.runtime, "bob")
    stored = watched.runtime.database[store_of(watched)]
    assert not stored.count_documents({"$or": [{"post_id": early[0]}, {"posts.id": early[0]}]})


@pytest.mark.parametrize("job", [repair.trim, repair.rebuild])
def test_a_back_fill_during_another_repair_hides_nothing(
    watched: Town, meantime: Meantime, job: Callable[..., None]
) -> None:
    follow(watched.client, "bob", "ann")
    deliver(watched)
    older = post_many(watched, "cy", 3 * FILLED)
    posts = post_many(watched, "ann", 4 * KEPT, days=5)
    newer = post_many(watched, "cy", 2 * FILLED)
    deliver(watched)
    follow(watched.client, "bob", "cy")

    meantime.before(*command(watched, "write"), lambda: job(watched.runtime, "bob"))
    deliver(watched)

    assert meantime.done()
    assert_whole(watched, newer + posts + older)


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("other", ["rebuild", "trim", "follow"])
def test_a_rebuild_beside_another_repair_hides_nothing(
    watched: Town, meantime: Meantime, other: str, *, is_known: bool
) -> None:
    """Two of one reader, with a trim, or with a follow of somebody who has written much."""
    follow(watched.client, "bob", "ann")
    deliver(watched)
    busy = post_many(watched, "cy", 4 * FILLED)
    posts = post_many(watched, "ann", 3, days=5)
    deliver(watched)
    news = watched.runtime.database[store_of(watched)]
    news.delete_many({"user_id": "bob"})
    change: dict[str, Any] = {"$set": {"stale": True}}
    if not is_known:
        change["$unset"] = {"complete_since": ""}
    watched.runtime.database["social.user"].update_one({"_id": "bob"}, change)

    def happen() -> None:
        if other == "follow":
            follow(watched.client, "bob", "cy")
            deliver(watched)
        else:
            {"rebuild": repair.rebuild, "trim": repair.trim}[other](watched.runtime, "bob")

    meantime.before(*command(watched, "write"), happen)
    repair.rebuild(watched.runtime, "bob")

    assert meantime.done()
    assert_whole(watched, posts + busy if other == "follow" else posts)
    bob = watched.runtime.database["social.user"].find_one({"_id": "bob"})
    assert bob is not None
    assert not bob["stale"]


def test_an_author_who_is_followed_again_while_news_are_verified_stays(
    watched: Town, meantime: Meantime
) -> None:
    follow(watched.client, "bob", "ann")
    posts = post_many(watched, "ann", FILLED)
    deliver(watched)
    watched.client.as_("bob").delete("/users/me/circles/read/members/ann")

    def follow_again() -> None:
        follow(watched.client, "bob", "ann")
        deliver(watched)

    meantime.before(*command(watched, "take"), follow_again)
    assert jobs.verify_news(watched.runtime, "bob")["surplus"] == sorted(posts)

    assert meantime.done()
    assert_whole(watched, posts)


@pytest.mark.parametrize("job", [repair.trim, repair.rebuild])
def test_a_trim_or_a_rebuild_that_dies_at_any_step_hides_nothing(
    watched: Town, job: Callable[..., None]
) -> None:
    follow(watched.client, "bob", "ann")
    deliver(watched)
    posts: list[str] = []
    for steps in range(100):
        posts = post_many(watched, "ann", 3, days=20) + posts
        deliver(watched)
        try:
            with living(Mortal(steps)):
                job(watched.runtime, "bob")
        except Died:
            assert reached(watched) == posts
            # Or each would find more to do, and none would end.
            repair.trim(watched.runtime, "bob")
        else:
            break
    assert 2 < steps < 99
    assert_whole(watched, posts)


def test_a_back_fill_that_dies_at_any_step_hides_nothing(watched: Town) -> None:
    follow(watched.client, "bob", "ann")
    deliver(watched)
    known = post_many(watched, "ann", KEPT)
    deliver(watched)
    for steps in range(100):
        author = f"author-{steps}"
        new = post_many(watched, author, 2 * FILLED)
        deliver(watched)
        follow(watched.client, "bob", author)
        job = BackFill(reader_id="bob", author_id=author)
        try:
            with living(Mortal(steps)):
                repair.back_fill(watched.runtime, job.reader_id, job.author_id)
        except Died:
            shown = reached(watched)
            assert [post for post in shown if post not in new] == known
            assert len(set(shown)) == len(shown)
        else:
            break
        deliver(watched)
        known = new + known
        assert reached(watched) == known
    assert 5 < steps < 99


def test_a_page_of_stored_news_costs_the_same_after_a_trim_and_a_strangers_circle(
    watched: Town, meantime: Meantime
) -> None:
    follow(watched.client, "bob", "ann")
    deliver(watched)
    # The page is within one month, as more months are more queries.
    post_many(watched, "ann", KEPT - 1)
    deliver(watched)

    def asked(limit: int = 3) -> int:
        meantime.sent.clear()
        page = watched.client.as_("bob").get(f"/users/me/news?limit={limit}")
        assert len(ids(page)) == limit
        return len(meantime.sent)

    asked()
    before = asked()
    post_many(watched, "ann", 3 * KEPT, days=5)
    post_many(watched, "ann", KEPT)
    deliver(watched)
    repair.trim(watched.runtime, "bob")
    # A container remembers for some seconds that no posts are above the threshold.
    asked()
    assert asked() == before

    circle(watched.client, "eve", "club", "cy")
    for _ in range(3 * FILLED):
        publish(watched.client, "eve", ["club"])
    deliver(watched)
    circle(watched.client, "eve", "club", "bob")
    deliver(watched)
    assert asked() == before
    # A page beyond is pulled by the authors, and one query for each two hundred of them.
    assert asked(2 * KEPT) <= before + 2
