"""Strangers send posts to a reader's circle of theirs, and the reader's news stay as they are."""

from typing import Any

import pytest

from chalicelib.settings import Settings
from chalicelib.social.timelines import repair
from chalicelib.social.timelines.pull import PulledNews
from tests.social.support.drivers import Town, circle, follow, ids, news, publish

KEPT = 6
pytestmark = pytest.mark.bounds(social={"news_kept": KEPT, "page_examined": 8, "page_refill": 2})


@pytest.fixture(params=["references", "copies"])
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Each design that stores news."""
    return settings.model_copy(update={"news": request.param})


@pytest.fixture
def own(town: Town) -> list[str]:
    """Four posts by Ann, whom Bob follows, newest first; later posts are of another month."""
    follow(town.client, "bob", "ann")
    circle(town.client, "eve", "club", "bob")
    town.workers.drain()
    posts = []
    for _ in range(4):
        town.clock.advance(minutes=1)
        posts.append(town.publish())
    town.workers.drain()
    town.clock.advance(days=20)
    assert news(town.client, "bob") == posts[::-1]
    town.clock.advance(days=20)
    return posts[::-1]


def send_to_bob(town: Town, number: int) -> None:
    for _ in range(number):
        town.clock.advance(minutes=1)
        publish(town.client, "eve", ["club"])
    town.workers.drain()


def incoming(town: Town) -> list[str]:
    """Return the posts sent to Bob, paged to their end."""
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = town.client.as_("bob").get(f"/users/me/incoming?{cursor and f'cursor={cursor}'}")
        found += ids(page)
        cursor = page.json["next"]
    return found


def count_stored(town: Town) -> int:
    items = town.runtime.database["social.news_item"].count_documents({"user_id": "bob"})
    documents = town.runtime.database["social.news"].find({"user_id": "bob"})
    return items + sum(len(each["posts"]) for each in documents)


def test_a_page_passes_over_the_posts_of_a_stranger(town: Town, own: list[str]) -> None:
    send_to_bob(town, 12)

    page = town.client.as_("bob").get("/users/me/news?limit=1")

    assert ids(page) == own[:1]


def test_a_trim_counts_no_posts_of_a_stranger(town: Town, own: list[str]) -> None:
    send_to_bob(town, 2 * KEPT)

    repair.trim(town.runtime, "bob")

    user = town.runtime.database["social.user"].find_one({"_id": "bob"})
    assert user
    assert user["complete_since"]["news"].year == 1970
    assert count_stored(town) == len(own) + 2 * KEPT


@pytest.mark.parametrize("pages", [1, 2, 50])
def test_a_rebuild_reads_a_bounded_number_of_posts_that_the_reader_may_not_see(
    town: Town, own: list[str], monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    circle(town.client, "eve", "others", "cy")
    send_to_bob(town, 1)
    for _ in range(20):
        town.clock.advance(minutes=1)
        publish(town.client, "eve", ["others"])
    town.workers.drain()
    sent = incoming(town)
    fetched = []
    newest_sent = PulledNews.newest_sent

    def fetch(*given: Any) -> Any:
        fetched.append(given)
        return newest_sent(*given)

    with monkeypatch.context() as patch:
        patch.setattr(repair, "_PAGE", 3)
        patch.setattr(repair, "_MOST_PAGES", pages)
        patch.setattr(PulledNews, "newest_sent", fetch)
        repair.rebuild(town.runtime, "bob")

    assert len(fetched) == min(pages, 8)
    assert len(sent) == 1
    assert incoming(town) == sent
    assert news(town.client, "bob") == own


def test_posts_of_strangers_are_stored_up_to_a_bound(town: Town, own: list[str]) -> None:
    send_to_bob(town, 4 * KEPT + 1)
    send_to_bob(town, 2)

    repair.trim(town.runtime, "bob")

    assert count_stored(town) < len(own) + 4 * KEPT
    assert news(town.client, "bob") == own
