"""Copies that a worker writes after a change, and then dies, become equal to their post."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from chalicelib.social.delivery import engine
from chalicelib.social.messages import Deliver
from chalicelib.social.posts.shapes import PostBody
from chalicelib.social.timelines import propagation
from chalicelib.social.timelines.copies import MonthCopies
from chalicelib.social.timelines.post_fan_out import OF_POSTS
from tests.social.support.drivers import Town, follow, publish, wall, work_on
from tests.social.support.mortal_workers import Died


@pytest.fixture
def town(watched: Town) -> Town:
    """The town, whose messages wait until a test takes them."""
    follow(watched.client, "bob", "ann")
    watched.courier.take()
    return watched


def deliver_late(
    town: Town, monkeypatch: pytest.MonkeyPatch, post: str, change: Callable[[], Any]
) -> None:
    """Change a post between a worker's read and its copies; the worker dies after the copies."""
    add = MonthCopies.add

    def add_late(self: MonthCopies, posts: Sequence[PostBody], user_ids: Sequence[str]) -> None:
        change()
        propagation.propagate(town.runtime, post)
        add(self, posts, user_ids)
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(MonthCopies, "add", add_late)
        with pytest.raises(Died):
            work_on(town.runtime, Deliver(post_id=post))
    town.courier.take()


def sweep(town: Town) -> None:
    town.let_lease_expire()
    engine.sweep(town.runtime, OF_POSTS)
    propagation.sweep(town.runtime)
    town.courier.deliver(town.runtime, random.Random(7))


def copies(town: Town) -> list[tuple[str, str]]:
    """Return the owner and text of each copy on a wall."""
    rows = town.runtime.database["social.wall"].find().sort("user_id")
    return [(row["user_id"], copy["detail"]["text"]) for row in rows for copy in row["posts"]]


def test_a_deleted_post_leaves_every_wall(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    post = town.publish()

    deliver_late(town, monkeypatch, post, lambda: town.client.as_("ann").delete(f"/posts/{post}"))

    assert copies(town) == [("ann", "Hello")]
    assert wall(town.client, "ann", "bob") == [], "nobody reads it meanwhile"
    sweep(town)
    assert copies(town) == []


def test_an_edited_post_is_new_on_every_wall(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    post, better = town.publish(), {"text": "Better"}

    deliver_late(
        town,
        monkeypatch,
        post,
        lambda: town.client.as_("ann").patch(f"/posts/{post}", detail=better),
    )
    sweep(town)

    assert copies(town) == [("ann", "Better")]
    stored = town.runtime.database["social.post"].find_one({"_id": post})
    assert stored
    assert (stored["fan_out"]["state"], stored["spread"]) == ("done", {"version": 1})


def test_a_post_off_a_wall_stays_off_it(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    post = publish(town.client, "ann", wall_owner_id="bob")

    deliver_late(
        town,
        monkeypatch,
        post,
        lambda: town.client.as_("bob").delete(f"/users/me/wall/{post}"),
    )
    sweep(town)

    assert copies(town) == [("ann", "Hello")]
    assert wall(town.client, "bob", "bob") == []
