"""Stored news are repaired: after absence, after loss, beyond the bound, and after failure."""

from dataclasses import replace
from typing import Any

import pytest
from bson import encode

from chalicelib.jobs import outbox
from chalicelib.settings import Settings
from chalicelib.social import jobs
from chalicelib.social.jobs import handle
from chalicelib.social.messages import JOB, Deliver, Trim
from chalicelib.social.posts import posts
from chalicelib.social.posts.posts import POSTS
from chalicelib.social.timelines import news as views
from chalicelib.social.timelines import pull, repair
from chalicelib.social.timelines.copies import MonthCopies
from chalicelib.social.timelines.references import NewsItems
from tests.social.support.bounds import CHUNKS_OF_TWO
from tests.social.support.drivers import (
    Town,
    circle,
    comment,
    fan_out,
    follow,
    ids,
    news,
    publish,
    settle,
    wall,
)


@pytest.fixture(params=["references", "copies"])
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Each design that stores news."""
    return settings.model_copy(update={"news": request.param})


def stored(town: Town, reader: str) -> int:
    items = town.runtime.database["social.news_item"].count_documents({"user_id": reader})
    documents = town.runtime.database["social.news"].find({"user_id": reader})
    return items + sum(len(each["posts"]) for each in documents)


def stored_by(town: Town) -> type[NewsItems | MonthCopies]:
    return NewsItems if town.runtime.settings.news == "references" else MonthCopies


@pytest.mark.parametrize(("days", "away", "items"), [(29, 0, 1), (31, 2, 0)])
def test_readers_who_are_away_are_skipped_and_their_news_rebuilt(
    town: Town, days: int, away: int, items: int
) -> None:
    follow(town.client, "bob", "ann")
    town.workers.drain()
    town.clock.advance(days=days)
    assert jobs.tend(town.runtime)["away"] == away
    post = town.publish()
    town.workers.drain()
    assert stored(town, "bob") == items

    assert news(town.client, "bob") == [post], "the news are complete at once"
    town.workers.drain()

    assert stored(town, "bob") == 1
    assert news(town.client, "bob") == [post]
    later = town.publish()
    town.workers.drain()
    assert sorted(news(town.client, "bob")) == sorted([post, later])
    assert stored(town, "bob") == 2


@pytest.mark.parametrize(("milliseconds", "stale"), [(-1, False), (0, True)])
def test_news_are_rebuilt_a_day_before_fan_outs_begin_to_skip_their_reader(
    town: Town, milliseconds: int, *, stale: bool
) -> None:
    """Between the two, somebody could be skipped and then be taken for present."""
    follow(town.client, "bob", "ann")
    town.workers.drain()

    town.clock.advance(days=29, milliseconds=milliseconds)
    news(town.client, "bob")

    bob = town.runtime.database["social.user"].find_one({"_id": "bob"})
    assert bob is not None
    assert bob["stale"] is stale


def test_missing_and_surplus_news_are_reported_and_repaired(town: Town) -> None:
    follow(town.client, "bob", "ann")
    posts = [town.publish() for _ in range(3)]
    town.workers.drain()
    other = publish(town.client, "cy")
    found = POSTS.of(town.runtime.database).find_one({"_id": other})
    assert found is not None
    for collection in ("social.news_item", "social.news"):
        town.runtime.database[collection].delete_many({})
    view = views.stored_design(town.runtime)
    assert view is not None
    view.add([found], ["bob"])

    said = jobs.verify_news(town.runtime, "bob")

    assert said == {"missing": sorted(posts), "surplus": [other]}
    assert jobs.verify_news(town.runtime, "bob") == {"missing": [], "surplus": []}
    assert sorted(news(town.client, "bob")) == sorted(posts)


@pytest.mark.bounds(social={"news_kept": 3})
def test_stored_news_are_bounded_and_what_is_beyond_is_found_all_the_same(town: Town) -> None:
    follow(town.client, "bob", "ann")
    posts = []
    for _ in range(8):
        posts.append(town.publish())
        town.clock.advance(days=10)
        news(town.client, "bob")
        town.workers.drain()

    assert stored(town, "bob") <= 4
    assert news(town.client, "bob") == posts[::-1]


@pytest.mark.bounds(social={"back_fill_posts": 2})
@pytest.mark.bounds(social={"news_kept": 2})
def test_a_rebuild_trims_first_and_judges_stored_posts_some_at_a_time(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deliveries go on for thirty days of an absence, more than fit into memory."""
    monkeypatch.setattr(repair, "_JUDGED_AT_ONCE", 3)
    follow(town.client, "bob", "ann")
    town.workers.drain()
    for _ in range(3):
        for _ in range(3):
            town.publish()
        town.clock.advance(days=40)
    find, asked = pull.find_existing, []

    def count_posts(database: Any, post_ids: Any) -> Any:
        asked.append(len(post_ids := list(post_ids)))
        return find(database, post_ids)

    town.workers.drain()
    town.runtime.database["social.user"].update_one({"_id": "bob"}, {"$set": {"stale": True}})
    monkeypatch.setattr(pull, "find_existing", count_posts)

    repair.rebuild(town.runtime, "bob")

    assert 0 < max(asked) <= 3
    assert stored(town, "bob") < 9
    assert len(news(town.client, "bob")) == 9


def test_deleted_posts_take_no_place_from_living_ones_in_a_back_fill(town: Town) -> None:
    posts = []
    for _ in range(4):
        posts.append(town.publish())
        town.clock.advance(seconds=1)
    for post in posts[2:]:
        town.client.as_("ann").delete(f"/posts/{post}")
    town.workers.drain()

    follow(town.client, "bob", "ann")
    town.workers.drain()

    assert stored(town, "bob") == 2
    assert news(town.client, "bob") == posts[1::-1]


def test_a_lost_job_is_swept(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    post = town.publish()
    town.workers.drain()
    with monkeypatch.context() as patch:
        patch.setattr(type(town.runtime.queues), "send", lambda *_: False)
        follow(town.client, "bob", "ann")
        town.client.as_("ann").put("/users/me", name="Anna")
    assert town.workers.drain() == 0
    assert news(town.client, "bob") == []

    outbox.sweep(town.runtime, JOB)
    assert town.workers.drain() == 0, "its message may still be under way"
    town.let_lease_expire()
    outbox.sweep(town.runtime, JOB)
    town.workers.drain()

    assert news(town.client, "bob") == [post]
    assert town.client.get(f"/posts/{post}").json["author"]["name"] == "Anna"
    town.let_lease_expire()
    outbox.sweep(town.runtime, JOB)
    assert town.workers.drain() == 0


@CHUNKS_OF_TWO
def test_a_post_that_is_deleted_while_it_is_delivered_leaves_no_ghost(
    town: Town, readers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    view = stored_by(town)
    add = view.add
    post = town.publish()

    def deleted_meanwhile(*arguments: object) -> None:
        monkeypatch.setattr(view, "add", add)
        town.client.as_("ann").delete(f"/posts/{post}")
        town.workers.drain()
        add(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(view, "add", deleted_meanwhile)
    handle(town.runtime, Deliver(post_id=post))
    town.workers.drain()

    assert [stored(town, reader) for reader in readers] == [0] * 5
    assert town.runtime.database["social.wall"].count_documents({"posts.id": post}) == 0


def test_failed_fan_outs_are_listed_and_tried_again_by_staff(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(town.client, "bob", "ann")
    town.workers.drain()
    mo = town.client.as_("mo", roles=["social_moderator"])
    with monkeypatch.context() as patch:
        patch.setattr(stored_by(town), "add", lambda *_: 1 / 0)
        post = town.publish()
        town.workers.drain()
        for _ in range(6):
            town.sweep_expired()

    (listed,) = mo.get("/fan-outs/failed-posts").json["fan_outs"]
    assert listed["post_id"] == post
    assert (listed["state"], listed["reason"]) == ("failed", "ZeroDivisionError")
    path = f"/posts/{post}/fan-out"
    assert town.client.as_("ann").post(path).code == "forbidden"
    assert mo.post(path).status == 204
    town.workers.drain()

    assert fan_out(town.client, "ann", post) == {"state": "done", "delivered": 1, "total": 1}
    assert news(town.client, "bob") == [post]
    assert mo.get("/fan-outs/failed-posts").json == {"fan_outs": [], "next": None}
    assert mo.post(path).code == "not_failed"
    assert mo.post("/posts/none/fan-out").code == "unknown_post"


def test_crossing_the_line_neither_repeats_nor_loses_a_post(town: Town) -> None:
    lower = town.runtime.settings.model_copy(update={"pull_audience": 1})
    circle(town.client, "ann", "club", "bob")
    for reader in ("bob", "cy"):
        follow(town.client, reader, "ann")
    town.workers.drain()
    posts = []
    for settings in (town.runtime.settings, lower, town.runtime.settings, lower):
        posts.append(town.publish())
        handle(replace(town.runtime, settings=settings), Deliver(post_id=posts[-1]))
        town.workers.drain()
        town.clock.advance(seconds=1)

    assert stored(town, "cy") == 2
    for reader in ("bob", "cy"):
        assert news(town.client, reader) == posts[::-1]
    assert wall(town.client, "ann", "cy") == posts[::-1]


def test_a_public_post_above_the_line_is_restored_to_its_walls_owner(town: Town) -> None:
    """Workers deliver it to no follower, but always to the owner; nobody pulls it by a wall."""
    lower = town.runtime.settings.model_copy(update={"pull_audience": 1})
    for reader in ("bob", "cy"):
        follow(town.client, reader, "eve")
    settle(town.client, "ann")
    town.workers.drain()
    post = publish(town.client, "eve", wall_owner_id="ann")
    handle(replace(town.runtime, settings=lower), Deliver(post_id=post))
    town.workers.drain()
    ann = town.client.as_("ann")
    assert ids(ann.get("/users/me/incoming")) == [post]
    for collection in ("social.news_item", "social.news"):
        town.runtime.database[collection].delete_many({})

    assert jobs.verify_news(town.runtime, "ann") == {"missing": [post], "surplus": []}

    assert ids(ann.get("/users/me/incoming")) == [post]
    assert stored(town, "ann") == 1
    assert stored(town, "bob") == 0


def test_a_full_document_does_not_keep_others_from_a_post(town: Town) -> None:
    """A document that 16 MB fill takes no more: its reader's next one does."""
    copies = town.runtime.database["social.news"]
    many = [f"reader-{number:03}" for number in range(1_000)]
    full = {"user_id": many[500], "month": "202603", "seq": 0, "appended": 1, "posts": []}
    full["filler"] = "x" * (16 * 1024 * 1024 - len(encode(full)) - 100)
    copies.insert_one(full, bypass_document_validation=True)
    post = town.publish()
    found = POSTS.of(town.runtime.database).find_one({"_id": post})
    assert found is not None
    for _ in range(2):
        MonthCopies(town.runtime.database, views.NEWS).add([found], many)

    held = list(copies.find({"posts.id": post}, {"user_id": 1, "seq": 1}))
    assert sorted(each["user_id"] for each in held) == many
    assert [each["seq"] for each in held if each["user_id"] == many[500]] == [1]


def test_two_who_find_a_copy_missing_write_it_once(town: Town) -> None:
    found = POSTS.of(town.runtime.database).find_one({"_id": town.publish()})
    assert found is not None
    copies = MonthCopies(town.runtime.database, views.NEWS)
    key = {"user_id": "bob", "month": "202603", "seq": 0}

    assert [copies._append_to(key, found) for _ in range(2)] == [True, True]

    (document,) = town.runtime.database["social.news"].find({"user_id": "bob"})
    assert len(document["posts"]) == 1


def test_what_was_read_before_a_change_replaces_no_newer_copy(town: Town) -> None:
    stored_posts = POSTS.of(town.runtime.database)
    post = town.publish()
    before = stored_posts.find_one({"_id": post})
    comment(town.client, "bob", post)
    after = stored_posts.find_one({"_id": post})
    assert before is not None
    assert after is not None
    copies = MonthCopies(town.runtime.database, views.NEWS)
    copies.add([after], ["bob"])

    copies.refresh(before)

    (document,) = town.runtime.database["social.news"].find({"user_id": "bob"})
    assert document["posts"][0]["comment_count"] == 1


def test_a_post_is_made_a_tombstone_once(town: Town) -> None:
    post = town.publish()

    assert [posts.bury(town.runtime, post) for _ in range(2)] == [True, False]


def test_what_is_noted_again_while_it_is_done_is_done_once_more(town: Town) -> None:
    noted = town.runtime.database["social.errand"]
    job = Trim(user_id="ann")
    outbox.note(town.runtime, job)

    outbox.run(town.runtime, job, outbox.note)
    assert noted.count_documents({}) == 1

    outbox.run(town.runtime, job, lambda *_: None)
    assert noted.count_documents({}) == 0


def test_who_was_not_seen_for_thirty_days_is_away_and_nobody_sooner(town: Town) -> None:
    follow(town.client, "bob", "ann")
    town.clock.advance(days=30, milliseconds=-1)
    assert views.mark_away(town.runtime.database, town.clock()) == 0

    town.clock.advance(milliseconds=1)

    assert views.mark_away(town.runtime.database, town.clock()) == 2
