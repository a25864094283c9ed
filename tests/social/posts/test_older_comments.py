"""A post holds its last comments; the older ones move, and are listed all the same."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.social.graph.users import By
from chalicelib.social.posts import comments
from chalicelib.social.posts.shapes import PostComment
from tests.social.support.drivers import Town, comment, settle


def held(town: Town, post: str) -> int:
    """Return how many comments stand on the post itself."""
    found = town.runtime.database["social.post"].find_one({"_id": post})
    assert found is not None
    return len(found["comments"])


@pytest.mark.parametrize("number", [199, 200, 201, 230])
def test_older_comments_move_off_the_post_and_are_listed_all_the_same(
    town: Town, number: int
) -> None:
    post = town.publish()
    made = write_many(town, post, number)

    assert held(town, post) <= 200
    read, cursor = [], ""
    while cursor is not None:
        page = town.client.get(f"/posts/{post}/comments?limit=70{cursor}").json
        read += [each["id"] for each in page["comments"]]
        cursor = page["next"] and f"&cursor={page['next']}"
    assert read == made
    assert town.client.get(f"/posts/{post}").json["comment_count"] == number


def new_comment(town: Town, id_: str) -> PostComment:
    by: By = {"id": "bob", "name": "Bob"}
    return {"id": id_, "by": by, "ts": town.runtime.now(), "text": "So"}


def write_many(town: Town, post: str, number: int) -> list[str]:
    """Write comments a second apart, straight to the post; return their ids."""
    made = []
    for each in range(number):
        town.clock.advance(seconds=1)
        made.append(f"comment-{each:03}")
        comments._push(town.runtime, post, new_comment(town, made[-1]))
    return made


def test_a_crash_while_comments_move_loses_and_repeats_none(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = town.publish()
    made = write_many(town, post, 200)
    database = town.runtime.database
    older = database[comments.OLDER_COMMENTS.name]

    def die(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(type(older), "bulk_write", die)
        with pytest.raises(ZeroDivisionError):
            comments._move_oldest(town.runtime, post)
    assert (held(town, post), older.count_documents({})) == (200, 0)

    listed = town.client.get(f"/posts/{post}/comments?limit=200").json
    assert [each["id"] for each in listed["comments"]] == made
    town.clock.advance(seconds=1)
    made += [comment(town.client, "bob", post)]
    first = town.client.get(f"/posts/{post}/comments?limit=200").json
    second = town.client.get(f"/posts/{post}/comments?cursor={first['next']}").json
    assert [each["id"] for each in first["comments"] + second["comments"]] == made


def test_many_who_comment_at_once_lose_nothing_and_keep_the_bound(town: Town) -> None:
    settle(town.client, "bob")
    post = town.publish()
    made = write_many(town, post, 190)
    barrier = threading.Barrier(4)

    def write(thread: int) -> list[str]:
        barrier.wait()
        ids = [f"thread-{thread}-{number}" for number in range(10)]
        for each in ids:
            comments._push(town.runtime, post, new_comment(town, each))
            assert held(town, post) <= 200
        return ids

    with ThreadPoolExecutor(4) as pool:
        made += [each for ids in pool.map(write, range(4)) for each in ids]

    first = town.client.get(f"/posts/{post}/comments?limit=200").json
    second = town.client.get(f"/posts/{post}/comments?cursor={first['next']}").json
    read = [each["id"] for each in first["comments"] + second["comments"]]
    assert sorted(read) == sorted(made)


@pytest.mark.bounds(social={"page_refill": 2, "page_examined": 4})
def test_comments_that_a_block_hides_make_a_page_short_and_not_slow(town: Town) -> None:
    post = town.publish()
    for number in range(10):
        town.clock.advance(seconds=1)
        comment(town.client, "bob", post, str(number))
    town.clock.advance(seconds=1)
    wanted = comment(town.client, "cy", post)
    ann = town.client.as_("ann")
    ann.put("/users/me/blocked/bob")

    pages, query = [], "limit=1"
    while query:
        page = ann.get(f"/posts/{post}/comments?{query}").json
        pages.append([each["id"] for each in page["comments"]])
        query = page["next"] and f"limit=1&cursor={page['next']}"

    assert pages == [[], [], [wanted]]
