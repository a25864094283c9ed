"""Comments on posts: kept on the post, spread to its copies, in whatever month they lie."""

from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.social import jobs
from chalicelib.social.jobs import handle
from chalicelib.social.messages import Deliver
from chalicelib.social.posts import comments
from chalicelib.social.posts.posts import POSTS
from chalicelib.social.posts.shapes import Post
from chalicelib.social.timelines import propagation, walls
from chalicelib.social.timelines.copies import MonthCopies
from tests.social.support.drivers import Town, circle, comment, publish, settle
from tests.support.http_client import Client


def copies(town: Town, post: str) -> list[Document]:
    """Return every copy of a post, in every wall."""
    found = town.runtime.database["social.wall"].find({"posts.id": post})
    return [copy for each in found for copy in each["posts"] if copy["id"] == post]


def stored(town: Town, post: str) -> Post:
    found = POSTS.of(town.runtime.database).find_one({"_id": post})
    assert found is not None
    return found


def shown(copy: Document) -> list[str]:
    assert copy["comments_shown"] == len(copy["comments"])
    return [each["id"] for each in copy["comments"]]


def test_a_comment_is_given_back_and_listed(client: Client) -> None:
    post = publish(client, "ann")

    made = client.as_("bob").post(f"/posts/{post}/comments", text=" So\nit is ")

    assert made.status == 201
    assert made.json == {
        "id": made.json["id"],
        "author": {"id": "bob", "name": "Bob"},
        "posted_at": "2026-03-01T12:00:00Z",
        "edited_at": None,
        "text": "So\nit is",
    }
    listed = client.get(f"/posts/{post}/comments").json
    assert listed == {"comments": [made.json], "next": None}
    assert client.get(f"/posts/{post}").json["comments"] == [made.json]


@pytest.mark.parametrize("text", ["", " ", "x" * 2_001, "a\x00b", None, 1, {"$gt": ""}])
def test_a_hostile_comment_is_refused(client: Client, text: Any) -> None:
    post = publish(client, "ann")

    assert client.as_("bob").post(f"/posts/{post}/comments", text=text).code == "invalid_request"
    assert client.post(f"/posts/{post}/comments", text="Anonymous").status == 401
    assert client.as_("bob").post("/posts/none/comments", text="Hm").code == "unknown_post"


def test_a_comment_reaches_copies_in_an_old_month(town: Town) -> None:
    settle(town.client, "bob")
    town.clock.time = datetime(2026, 1, 31, 23, 59, tzinfo=UTC)
    post = publish(town.client, "ann", wall_owner_id="bob")
    town.workers.drain()
    town.clock.time = datetime(2026, 3, 1, tzinfo=UTC)

    made = comment(town.client, "bob", post)
    town.workers.drain()

    assert [shown(copy) for copy in copies(town, post)] == [[made], [made]]
    assert town.runtime.database["social.wall"].distinct("month") == ["202601"]
    assert "due" not in stored(town, post)["spread"]


def test_a_comment_reaches_no_other_post_of_the_document(town: Town) -> None:
    first, second = town.publish(), town.publish()
    town.workers.drain()

    made = comment(town.client, "bob", first)
    town.workers.drain()

    assert [shown(copy) for copy in copies(town, first)] == [[made]]
    assert [shown(copy) for copy in copies(town, second)] == [[]]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_copy_shows_the_last_three(town: Town, number: int) -> None:
    post = town.publish()
    town.workers.drain()
    made = []
    for _ in range(number):
        town.clock.advance(seconds=1)
        made.append(comment(town.client, "bob", post))
        town.workers.drain()

    (copy,) = copies(town, post)

    assert shown(copy) == made[-3:]
    assert copy["comment_count"] == number


def test_comments_propagated_late_twice_and_in_any_order_end_the_same(town: Town) -> None:
    post = town.publish()
    town.workers.drain()
    moments = []
    for number in range(5):
        town.clock.advance(seconds=1)
        comment(town.client, "bob", post, f"Comment {number}")
        moments.append(stored(town, post))

    for moment in (4, 0, 2, 2, 1, 3, 0, 4):
        MonthCopies(town.runtime.database, walls.WALLS).refresh(moments[moment])

    (copy,) = copies(town, post)
    assert [each["text"] for each in copy["comments"]] == ["Comment 2", "Comment 3", "Comment 4"]
    assert shown(copy)
    assert copy["comment_count"] == 5


def test_a_comment_whose_message_is_lost_is_swept(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = town.publish()
    town.workers.drain()
    with monkeypatch.context() as patch:
        patch.setattr(type(town.runtime.queues), "send", lambda *_: False)
        made = comment(town.client, "bob", post)

    propagation.sweep(town.runtime)
    assert town.workers.drain() == 0, "its message may still be under way"
    town.let_lease_expire()
    propagation.sweep(town.runtime)
    town.workers.drain()

    assert [shown(copy) for copy in copies(town, post)] == [[made]]
    propagation.sweep(town.runtime)
    assert town.workers.drain() == 0


def test_a_propagation_that_dies_half_way_is_swept(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = town.publish()
    town.workers.drain()
    made = comment(town.client, "bob", post)
    refresh = MonthCopies.refresh

    def die(*arguments: Any) -> None:
        refresh(*arguments)
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(MonthCopies, "refresh", die)
        town.workers.drain()
    assert "due" in stored(town, post)["spread"]

    town.let_lease_expire()
    propagation.sweep(town.runtime)
    town.workers.drain()

    assert [shown(copy) for copy in copies(town, post)] == [[made]]
    assert "due" not in stored(town, post)["spread"]


def test_a_comment_during_a_propagation_keeps_its_own_mark(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = town.publish()
    town.workers.drain()
    comment(town.client, "bob", post)
    refresh = MonthCopies.refresh
    made: list[str] = []

    def interrupted(*arguments: Any) -> None:
        refresh(*arguments)
        if not made:
            made.append(comment(town.client, "cy", post))

    with monkeypatch.context() as patch:
        patch.setattr(MonthCopies, "refresh", interrupted)
        propagation.propagate(town.runtime, post)

    assert "due" in stored(town, post)["spread"]
    town.workers.drain()
    assert "due" not in stored(town, post)["spread"]
    assert [len(shown(copy)) for copy in copies(town, post)] == [2]


def test_a_comment_while_the_post_is_delivered_reaches_the_copy(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = town.publish()
    add = MonthCopies.add
    made = []

    def commented_meanwhile(*arguments: Any) -> None:
        # The copy was read without the comment, whose one spread finds no copy yet.
        runtime, _courier = town.with_courier()
        made.append(comments.add(runtime, post, Principal("bob", "Bob"), "So it is")["id"])
        propagation.propagate(town.runtime, post)
        add(*arguments)

    monkeypatch.setattr(MonthCopies, "add", commented_meanwhile)
    handle(town.runtime, Deliver(post_id=post))
    town.workers.drain()

    assert [shown(copy) for copy in copies(town, post)] == [made]


def test_truncation_repairs_a_copy_with_ten_comments_in_one_pass(town: Town) -> None:
    posts = [town.publish() for _ in range(3)]
    town.workers.drain()
    by = {"id": "bob", "name": "Bob"}
    ten = [
        {"id": f"c{number}", "by": by, "ts": town.runtime.now(), "text": "So"}
        for number in range(10)
    ]
    town.runtime.database["social.wall"].update_many(
        {"posts.id": {"$in": posts}},
        {"$set": {"posts.$[long].comments": ten, "posts.$[long].comments_shown": 10}},
        array_filters=[{"long.id": {"$in": posts[:2]}}],
    )

    assert jobs.tend(town.runtime)["cut"] == 1
    assert jobs.tend(town.runtime)["cut"] == 0

    found = [shown(copy) for post in posts for copy in copies(town, post)]
    assert found == [["c7", "c8", "c9"], ["c7", "c8", "c9"], []]


def test_a_comments_cursor_belongs_to_its_post(town: Town) -> None:
    first, second = town.publish(), town.publish()
    for _ in range(2):
        comment(town.client, "bob", first)
    cursor = town.client.get(f"/posts/{first}/comments?limit=1").json["next"]

    assert town.client.get(f"/posts/{first}/comments?cursor={cursor}").status == 200
    for path in (f"{second}/comments?cursor={cursor}", f"{first}/comments?cursor={cursor}x"):
        assert town.client.get(f"/posts/{path}").code == "invalid_cursor"


def test_comments_are_for_those_who_see_the_post(client: Client) -> None:
    circle(client, "ann", "club", "bob")
    post = publish(client, "ann", ["club"])
    made = comment(client, "bob", post)

    listed = client.as_("ann").get(f"/posts/{post}/comments").json["comments"]
    assert [each["id"] for each in listed] == [made]
    assert client.get(f"/posts/{post}/comments").code == "unknown_post"
