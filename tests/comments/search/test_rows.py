"""Rows of words after races and moves: the comment and its last text decide."""

import pytest

from chalicelib.comments import personal_data
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.nodes import NODES
from chalicelib.comments.shapes import Comment
from chalicelib.comments.store import Moved
from chalicelib.comments.stores import store_of
from chalicelib.comments.terms import upkeep, writing
from chalicelib.comments.terms.rows import TERMS
from chalicelib.runtime import Runtime
from tests.comments.entries.test_races import ROUNDS, WRITERS, at_once
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.searching import (
    NONE,
    difference,
    found,
    node_of,
    post,
    rows,
    the_schedule,
)
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers


def test_a_late_row_of_an_older_text_changes_nothing(
    client: Client, nodes: list[str], runtime: Runtime, clock: Clock
) -> None:
    ann = client.as_("ann")
    path = post(ann, nodes[0], "ferry")
    older = stored(runtime, path)
    clock.advance(seconds=1)
    ann.patch(path, text="harbour")

    # The writer of the older text comes late, twice.
    for _ in range(2):
        writing.settle(runtime, node_of(runtime, nodes[0]), older)

    assert found(client, "harbour") == ["harbour"]
    assert difference(runtime) == NONE


def test_a_late_removal_leaves_what_was_shown_again(
    client: Client, nodes: list[str], runtime: Runtime
) -> None:
    path = post(client.as_("ann"), nodes[0], "ferry")
    hidden: Comment = {**stored(runtime, path), "state": "hidden"}

    # The call that hid it comes after the call that shows it again.
    writing.settle(runtime, node_of(runtime, nodes[0]), hidden)

    assert found(client, "ferry") == ["ferry"]


def stored(runtime: Runtime, path: str) -> Comment:
    node = node_of(runtime, path)
    comment = store_of(runtime, node).get(node, path.rpartition("/")[2])
    assert comment is not None
    return comment


def test_writers_of_the_same_row_at_once_make_one(
    client: Client, nodes: list[str], runtime: Runtime
) -> None:
    path = post(client.as_("ann"), nodes[0], "ferry")
    node, comment = node_of(runtime, nodes[0]), stored(runtime, path)

    def remove() -> None:
        TERMS.of(runtime.database).delete_many({"site": "blog"})

    done = at_once(lambda: writing.settle(runtime, node, comment), remove)

    assert done == [None] * WRITERS * ROUNDS
    assert list(rows(runtime).values()) == [["ferry"]]


def test_a_row_whose_text_has_changed_is_found_by_the_texts_words_alone(
    client: Client, nodes: list[str], runtime: Runtime
) -> None:
    """A crash between the edit and its row."""
    path = post(client.as_("ann"), nodes[0], "the old harbour")
    before = TERMS.of(runtime.database).find_one({"site": "blog"})
    assert before is not None
    client.as_("ann").patch(path, text="the new ferry")
    TERMS.of(runtime.database).replace_one({"_id": before["_id"], "site": "blog"}, before)

    assert found(client, "harbour") == []
    assert found(client, "the") == ["the new ferry"]


def test_a_move_to_another_store_keeps_every_word(
    client: Client, nodes: list[str], publisher: Client, runtime: Runtime
) -> None:
    for node in nodes:
        post(client.as_("ann"), node, "ferry")
    before = rows(runtime)

    for node in nodes:
        store = "documents" if "embedded" in node or "buckets" in node else "embedded"
        assert publisher.post(f"{node}/store", store=store).status == 200

    assert rows(runtime) == before
    assert len(found(client, "ferry")) == len(nodes)


def test_a_moved_discussion_is_found_at_its_new_id(
    client: Client, nodes: list[str], runtime: Runtime
) -> None:
    root = client.as_("root", roles=["admin"])
    for number, node in enumerate(nodes):
        post(client.as_("ann"), node, "ferry")
        assert root.post(f"{node}/move", to=f"blog:moved-{number}").status == 200

    page = client.get("/sites/blog/search?q=ferry").json["comments"]

    assert sorted(each["node"]["id"] for each in page) == [f"blog:moved-{n}" for n in range(5)]
    assert difference(runtime) == NONE
    assert len(rows(runtime)) == len(nodes)


@pytest.mark.parametrize(("search", "number"), [(True, 5), (False, 0)])
def test_a_discussion_that_moves_to_another_site_follows_that_sites_setting(
    client: Client, nodes: list[str], runtime: Runtime, *, search: bool, number: int
) -> None:
    root = client.as_("root", roles=["admin"])
    root.put("/sites/shop/comments/settings", search=search)
    for each, node in enumerate(nodes):
        post(client.as_("ann"), node, "ferry")
        assert root.post(f"{node}/move", to=f"shop:moved-{each}").status == 200

    assert len(rows(runtime)) == number
    assert difference(runtime) == NONE


def test_a_discussion_that_moves_to_a_searched_site_is_indexed_by_the_schedule(
    client: Client, nodes: list[str], runtime: Runtime, clock: Clock
) -> None:
    root = client.as_("root", roles=["admin"])
    root.put("/nodes/shop:sun", title="Sun", url="https://shop.example/sun")
    post(client.as_("ann"), "/nodes/shop:sun", "ferry")
    root.post("/nodes/shop:sun/move", to="blog:sun")

    the_schedule(runtime, clock, 1)

    assert nodes
    assert found(client, "ferry") == ["ferry"]


def test_the_words_of_a_move_may_end_anywhere(
    publisher: Client, nodes: list[str], runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(runtime.now, Clock)
    uri = runtime.settings.mongodb_uri.get_secret_value()
    for number in range(3):
        post(publisher, nodes[0], f"ferry {number}")
    left, to = node_of(runtime, nodes[0]), "blog:moved"
    before = list(TERMS.of(runtime.database).find())
    with monkeypatch.context() as patched:
        patched.setattr(writing, "carry", lambda *_: None)
        relocation.relocate(runtime, left["_id"], to)

    for _ in crash_everywhere(runtime, uri, lambda ending: writing.carry(ending, left, to)):
        the_schedule(runtime, runtime.now)
        assert difference(runtime) == NONE
        assert len(found(publisher, "ferry")) == 3
        TERMS.of(runtime.database).delete_many({"site": "blog"})
        TERMS.of(runtime.database).insert_many(before)
        due = {"$set": {"vacant.due": runtime.now()}}
        NODES.of(runtime.database).update_one({"_id": left["_id"]}, due)


def test_a_mention_is_found_by_the_persons_new_name(
    client: Client, nodes: list[str], runtime: Runtime
) -> None:
    post(client.as_("bob", name="Bob Sawyer"), nodes[0], "hello")
    post(client.as_("ann"), nodes[0], "thanks @Bob Sawyer", mentions=["bob"])
    assert found(client, "sawyer") == ["thanks @Bob Sawyer"]

    personal_data.rename(runtime, "bob", "Bob Fisher")

    assert found(client, "fisher") == ["thanks @Bob Fisher"]
    assert found(client, "sawyer") == []
    assert difference(runtime) == NONE


def test_moderators_do_not_find_a_hidden_comment_by_its_row(
    client: Client, nodes: list[str], runtime: Runtime
) -> None:
    """A crash between the decision and the row."""
    path = post(client.as_("ann"), nodes[0], "ferry")
    before = TERMS.of(runtime.database).find_one({"site": "blog"})
    assert before is not None
    moderator = client.as_("mo", roles=["moderator"])
    moderator.post(f"{path}/state", state="hidden")
    TERMS.of(runtime.database).insert_one(before)

    for reader in (client, client.as_("ann"), moderator):
        assert found(reader, "ferry") == []


def test_an_erasure_removes_rows_that_a_crash_left(
    client: Client, nodes: list[str], runtime: Runtime, workers: Workers
) -> None:
    bob = client.as_("bob")
    path = post(bob, nodes[0], "ferry")
    before = TERMS.of(runtime.database).find_one({"site": "blog"})
    assert before is not None
    bob.delete(path)
    TERMS.of(runtime.database).insert_one(before)

    bob.delete("/users/me")
    workers.drain()

    assert rows(runtime) == {}


def test_a_repair_leaves_rows_of_a_generation_that_came_meanwhile(
    client: Client, nodes: list[str], publisher: Client, runtime: Runtime
) -> None:
    for _ in range(3):
        post(client.as_("ann"), nodes[0], "ferry")
    before = node_of(runtime, nodes[0])
    publisher.post(f"{nodes[0]}/store", store="embedded")
    store_of(runtime, before).drop(before, 100)

    with pytest.raises(Moved):
        upkeep.repair(runtime, before)

    assert len(found(client, "ferry")) == 3
