"""Comments that have left their post, or are leaving it, are edited and deleted like others."""

from functools import partial
from typing import Any

import pytest

from chalicelib.identity import Principal
from chalicelib.social.posts import comment_changes, comments
from tests.social.support.drivers import Town, comment, settle
from tests.social.support.interleaving import Meantime
from tests.support.commands import listening

BOB = Principal("bob", "Bob")


def write(town: Town, post: str, number: int) -> list[str]:
    made = []
    for _ in range(number):
        town.clock.advance(seconds=1)
        made.append(comment(town.client, "bob", post))
    return made


def listed(town: Town, post: str) -> list[tuple[str, str]]:
    page = town.client.get(f"/posts/{post}/comments?limit=200").json["comments"]
    return [(each["id"], each["text"]) for each in page]


def count(town: Town, post: str) -> Any:
    return town.client.get(f"/posts/{post}").json["comment_count"]


def older(town: Town) -> Any:
    return town.runtime.database[comments.OLDER_COMMENTS.name]


@pytest.mark.bounds(social={"held_on_post": 5, "comments_moved_at_once": 2})
def test_a_comment_that_has_left_its_post_is_edited_and_deleted(town: Town) -> None:
    post = town.publish()
    made = write(town, post, 6)
    assert [each["_id"] for each in older(town).find()] == made[:2]

    bob = town.client.as_("bob")
    assert bob.patch(f"/posts/{post}/comments/{made[0]}", text="Changed").status == 200
    assert bob.delete(f"/posts/{post}/comments/{made[1]}").status == 204

    assert listed(town, post) == [(made[0], "Changed"), *((each, "So it is") for each in made[2:])]
    assert count(town, post) == 5
    assert bob.delete(f"/posts/{post}/comments/{made[1]}").code == "unknown_comment"


@pytest.mark.bounds(social={"held_on_post": 5, "comments_moved_at_once": 5})
def test_a_post_shows_its_last_comments_although_those_on_it_are_deleted(town: Town) -> None:
    post = town.publish()
    made = write(town, post, 6)
    assert older(town).count_documents({}) == 5
    bob = town.client.as_("bob")
    bob.patch(f"/posts/{post}/comments/{made[4]}", text="Changed")

    assert bob.delete(f"/posts/{post}/comments/{made[5]}").status == 204

    shown = bob.get(f"/posts/{post}").json
    assert [each["id"] for each in shown["comments"]] == made[2:5]
    assert shown["comments"][-1]["edited_at"] is not None
    assert shown["comment_count"] == 5
    assert [each for each, _text in listed(town, post)] == made[:5]
    assert [each["_id"] for each in older(town).find()] == made[:2]
    for gone in made[4::-1]:
        assert bob.delete(f"/posts/{post}/comments/{gone}").status == 204
    assert (listed(town, post), count(town, post)) == ([], 0)
    assert older(town).count_documents({}) == 0


@pytest.mark.bounds(social={"held_on_post": 5, "comments_moved_at_once": 2})
@pytest.mark.parametrize("change", ["edit", "delete"])
def test_a_comment_that_is_changed_while_it_moves_does_not_come_back_as_it_was(
    watched: Town, meantime: Meantime, change: str
) -> None:
    town = watched
    post = town.publish()
    made = write(town, post, 5)

    def meanwhile() -> None:
        bob = town.client.as_("bob")
        path = f"/posts/{post}/comments/{made[0]}"
        reply = bob.patch(path, text="Changed") if change == "edit" else bob.delete(path)
        assert reply.status in {200, 204}

    meantime.before("update", "social.post", meanwhile)
    comments._move_oldest(town.runtime, post)

    assert meantime.done()
    texts = dict(listed(town, post))
    assert texts.get(made[0]) == ("Changed" if change == "edit" else None)
    assert len(texts) == count(town, post) == (5 if change == "edit" else 4)


@pytest.mark.bounds(social={"held_on_post": 5, "comments_moved_at_once": 5})
def test_comments_that_come_back_to_a_post_while_it_is_listed_are_listed_once(
    watched: Town, meantime: Meantime
) -> None:
    town = watched
    post = town.publish()
    made = write(town, post, 6)

    def meanwhile() -> None:
        comment_changes.remove(town.runtime, post, made[5], BOB)

    meantime.before("find", comments.OLDER_COMMENTS.name, meanwhile)
    found = [each for each, _text in listed(town, post)]

    assert meantime.done()
    assert found[:5] == made[:5]
    assert [each for each, _text in listed(town, post)] == made[:5]


def test_a_comment_that_a_crash_of_an_older_release_left_in_both_places_is_changed_in_both(
    town: Town,
) -> None:
    settle(town.client, "bob")
    post = town.publish()
    kept, gone = write(town, post, 2)
    stored = town.runtime.database["social.post"].find_one({"_id": post})
    assert stored
    rows = [{"_id": each["id"], "post_id": post, **each} for each in stored["comments"]]
    older(town).insert_many(rows)

    bob = town.client.as_("bob")
    assert bob.patch(f"/posts/{post}/comments/{kept}", text="Changed").status == 200
    assert bob.delete(f"/posts/{post}/comments/{gone}").status == 204

    assert listed(town, post) == [(kept, "Changed")]
    assert [each["text"] for each in older(town).find()] == ["Changed"]
    assert count(town, post) == 1


@pytest.mark.bounds(social={"held_on_post": 5, "comments_moved_at_once": 5})
def test_a_deleted_post_gets_no_comment_back(town: Town) -> None:
    """Its copies and older comments go later, and another's erasure comes in between."""
    post = town.publish()
    comment(town.client, "cy", post)
    write(town, post, 6)
    (of_cy,) = [each["_id"] for each in older(town).find({"by.id": "cy"})]
    assert town.client.as_("ann").delete(f"/posts/{post}").status == 204

    assert comment_changes.take_out(town.runtime, post, of_cy)
    town.workers.drain()

    stored = town.runtime.database["social.post"].find_one({"_id": post})
    assert stored
    assert stored["comments"] == []
    assert older(town).count_documents({}) == 0


@pytest.mark.bounds(social={"held_on_post": 5, "comments_moved_at_once": 5})
@pytest.mark.parametrize("by", ["find_named", "_look_for"])
def test_a_comment_that_moves_back_between_two_reads_is_found(town: Town, by: str) -> None:
    post = town.publish()
    made = write(town, post, 6)
    back, last = made[4], made[5]
    assert [each["_id"] for each in older(town).find()] == made[:5]
    meantime = Meantime()
    take_out = partial(comment_changes.take_out, town.runtime, post, last)
    meantime.before("find", comments.OLDER_COMMENTS.name, take_out)

    with listening(town.runtime, meantime) as runtime:
        if by == "find_named":
            found = comments.find_named(runtime.database, [(post, back)]).get((post, back))
        else:
            found = comment_changes._look_for(runtime.database, post, back)

    assert meantime.done()
    assert found is not None
    assert found["id"] == back
