"""The contract of the stores, one behaviour at a time; no store opts out."""

import dataclasses
import itertools
import json
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from bench.discussions import seed_node
from chalicelib import http
from chalicelib.comments.errors import CommentDeleted, CommentTooLarge, NodeLocked
from chalicelib.comments.shapes import State
from chalicelib.comments.store import Order
from chalicelib.comments.stores import store_of
from chalicelib.comments.writing import changes, draft
from chalicelib.errors import UnknownComment
from chalicelib.http import responses
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.social.support.interleaving import Meantime
from tests.support.clock import Clock
from tests.support.commands import listening

STORED_IN = ("comments.comment", "comments.page", "comments.node")
ORDERS: tuple[Order, ...] = ("oldest", "newest")


def test_a_comment_comes_back_as_it_was_posted(discussion: Discussion, clock: Clock) -> None:
    posted = discussion.post("Is *this* so?")

    found = discussion.get(posted["id"])

    assert found == posted
    assert found["html"] == "<p>Is <em>this</em> so?</p>\n"
    assert found["author"] == {"id": "ann", "name": "Ann"}
    assert (found["posted"], found["edited"], found["state"]) == (clock(), None, "visible")
    assert (found["parent_id"], found["depth"], found["slug"]) == (None, 0, found["id"])


@pytest.mark.parametrize("number", [0, 1, 99, 100, 101, 199, 200, 201])
def test_listings_cross_every_boundary(discussion: Discussion, number: int) -> None:
    for index in range(number):
        discussion.post(str(index))

    expected = [str(index) for index in range(number)]
    assert discussion.texts("oldest", limit=100) == expected
    assert discussion.texts("newest", limit=100) == expected[::-1]
    assert discussion.page()["count"] == number


def test_the_last_page_says_that_it_is_the_last(discussion: Discussion) -> None:
    for text in "abcd":
        discussion.post(text)

    page = discussion.page(limit=2)
    last = discussion.page(limit=2, cursor=page["next"])

    assert [comment["text"] for comment in last["comments"]] == ["c", "d"]
    assert last["next"] is None


def test_times_that_tie_or_run_backwards_change_no_order(
    discussion: Discussion, clock: Clock
) -> None:
    for number in range(40):
        clock.advance(seconds=random.Random(number).choice([-1, 0, 0, 1]))
        discussion.post(str(number))

    times = [comment["posted_at"] for comment in discussion.walk()]
    assert discussion.texts() == [str(number) for number in range(40)]
    assert times == sorted(times)


@pytest.mark.parametrize("order", ORDERS)
def test_comments_posted_between_two_pages_neither_repeat_nor_skip(
    discussion: Discussion, order: Order
) -> None:
    for number in range(6):
        discussion.post(str(number))
    first = discussion.page(order, limit=3)

    discussion.post("between")
    rest = discussion.page(order, cursor=first["next"])

    texts = [comment["text"] for comment in first["comments"] + rest["comments"]]
    whole = [str(number) for number in range(6)]
    assert texts == ([*whole, "between"] if order == "oldest" else whole[::-1])


@pytest.mark.parametrize("order", ORDERS)
def test_a_cursor_survives_the_comment_that_it_points_to(
    discussion: Discussion, order: Order
) -> None:
    for number in range(4):
        discussion.post(str(number))
    first = discussion.page(order, limit=2)

    discussion.delete(first["comments"][-1]["id"])
    rest = discussion.page(order, cursor=first["next"])

    expected = ["2", "3"] if order == "oldest" else ["1", "0"]
    assert [comment["text"] for comment in rest["comments"]] == expected


def test_an_edit_renders_again_and_says_when(discussion: Discussion, clock: Clock) -> None:
    posted = discussion.post("first")
    clock.advance(minutes=1)

    edited = discussion.edit(posted["id"], "**second**")

    assert (edited["text"], edited["edited"]) == ("**second**", clock())
    assert edited["html"] == "<p><strong>second</strong></p>\n"
    assert discussion.get(posted["id"]) == edited


def test_a_deleted_leaf_is_gone_and_its_data_with_it(discussion: Discussion) -> None:
    posted = discussion.post("secret")

    discussion.delete(posted["id"])

    assert discussion.texts() == []
    with pytest.raises(UnknownComment):
        discussion.get(posted["id"], by="mo")
    kept = discussion.stored()[posted["id"]]
    assert (kept["text"], kept["html"], kept["author"]) == (None, None, None)
    assert discussion.node["counts"] == {"visible": 0, "pending": 0}


def test_a_deleted_parent_leaves_a_tombstone(discussion: Discussion, layout: Layout) -> None:
    root = discussion.post("root")
    if layout.threaded:
        discussion.post("reply", root["id"])

    discussion.delete(root["id"])

    assert discussion.texts() == ([None, "reply"] if layout.threaded else [])
    if layout.threaded:
        tombstone = discussion.get(root["id"])
        assert (tombstone["state"], tombstone["author"]) == ("deleted", None)
        assert (tombstone["slug"], tombstone["reply_count"]) == (root["slug"], 1)
        with pytest.raises(CommentDeleted):
            discussion.edit(root["id"], "back again")
        with pytest.raises(UnknownComment):
            discussion.post("late reply", root["id"])


def test_hidden_and_pending_comments_have_their_viewers(discussion: Discussion) -> None:
    pending, hidden = discussion.post("pending"), discussion.post("hidden")
    discussion.post("visible")
    discussion.set_state(pending["id"], "pending")
    discussion.set_state(hidden["id"], "hidden")

    seen = {by: discussion.texts(by=by) for by in (None, "bob", "ann", "mo")}

    assert seen[None] == seen["bob"] == ["visible"]
    assert seen["ann"] == ["pending", "visible"]
    assert seen["mo"] == ["pending", "hidden", "visible"]
    assert discussion.node["counts"] == {"visible": 1, "pending": 1}


@pytest.mark.parametrize("order", ORDERS)
def test_few_visible_among_many_pending_are_found(
    runtime: Runtime, layout: Layout, order: Order
) -> None:
    seed_node(runtime, "mostly-pending", 250, visible_of_ten=1, **dataclasses.asdict(layout))
    discussion = Discussion(runtime, "mostly-pending")
    visible = [c for c in discussion.stored().values() if c["state"] == "visible"]

    found = [text for text in discussion.texts(order, limit=2) if text is not None]

    if layout.threaded:
        roots_first = sorted(visible, key=lambda comment: comment["full_slug"])
        expected = [comment["text"] for comment in roots_first]
        assert sorted(found) == sorted(str(text) for text in expected)
        assert order == "newest" or found == expected
    else:
        expected = [comment["text"] for comment in visible]
        assert found == (expected if order == "oldest" else expected[::-1])


def test_an_id_that_is_taken_is_drawn_again(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = iter(["aaaaaaaaaa", "aaaaaaaaaa", "bbbbbbbbbb"])
    monkeypatch.setattr(draft, "new_comment_id", lambda _rng: next(ids))

    first, second = discussion.post("first"), discussion.post("second")

    assert (first["id"], second["id"]) == ("aaaaaaaaaa", "bbbbbbbbbb")
    assert discussion.texts() == ["first", "second"]
    assert discussion.get(first["id"])["text"] == "first"


def test_a_locked_node_takes_nothing(runtime: Runtime, layout: Layout) -> None:
    discussion = Discussion.make(runtime, layout, locked=True)

    with pytest.raises(NodeLocked):
        discussion.post("too late")


TEXTS = {
    "shortest": "x",
    "longest": "\N{DUCK}" * 10_000,
    "right to left": "\u200f\u05e9\u05dc\u05d5\u05dd\u200f",
    "combining": "e\u0301",
    "like an operator": "$set.a\u00a0{}",
    "white space inside": "a\n\tb",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_any_text_comes_back_as_it_was(discussion: Discussion, text: str) -> None:
    assert discussion.get(discussion.post(text)["id"])["text"] == text


def test_html_that_grows_too_large_is_refused(discussion: Discussion) -> None:
    with pytest.raises(CommentTooLarge):
        discussion.post("\n\n".join(">" * 8 + "x" for _ in range(900)))

    assert discussion.texts() == []


def test_a_page_ends_early_before_it_is_too_large(discussion: Discussion) -> None:
    text = "\N{DUCK}" * 10_000
    posted = [discussion.post(text)["id"] for _ in range(60)]

    page = discussion.page()
    found = [comment["id"] for comment in discussion.walk()]

    assert 0 < len(page["comments"]) < 60
    assert len(json.dumps(http.reply(page).body)) < responses.MAX_BYTES + 1_000
    assert page["next"] is not None
    assert found == posted


@pytest.fixture
def many_yields(runtime: Runtime) -> Iterator[None]:
    """Have the server let writers in after each document that a query reads."""
    admin = runtime.database.client.admin
    every = {"setParameter": 1, "internalQueryExecYieldIterations": 1}
    had = admin.command(every)["was"]
    yield
    admin.command({**every, "internalQueryExecYieldIterations": had})


@pytest.mark.usefixtures("many_yields")
def test_an_export_has_each_comment_once_while_their_states_change(
    runtime: Runtime, layout: Layout
) -> None:
    node = seed_node(runtime, "busy", 300, **dataclasses.asdict(layout))
    ids = [each["id"] for batch in store_of(runtime, node).export(node) for each in batch]
    stop = threading.Event()

    states: tuple[State, ...] = ("hidden", "visible")

    def moderate() -> None:
        for state, comment_id in itertools.product(states * 50, ids):
            if stop.is_set():
                return
            changes.change_comment(runtime, node, comment_id, {"state": state})

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(moderate)
        try:
            for _ in range(20):
                batches = store_of(runtime, node).export(node)
                assert [each["id"] for batch in batches for each in batch] == ids
        finally:
            stop.set()
        done.result()


@pytest.mark.parametrize(
    ("read", "one", "two"),
    [
        ({"reasons": ["checking", "unconfirmed"]}, ["unconfirmed"], ["checking"]),
        ({"shadow": "pending"}, "visible", "visible"),
        ({"spam_since": None}, datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)),
    ],
    ids=["reasons", "shadow", "spam_since"],
)
def test_of_two_changes_of_a_comment_as_it_was_read_one_is_made(
    runtime: Runtime, discussion: Discussion, read: Any, one: Any, two: Any
) -> None:
    """As the answer of a spam service, and the confirmation of the author's address."""
    comment = discussion.post("waits")
    waiting: Any = {"state": "pending", **read}
    changes.change_comment(runtime, discussion.node, comment["id"], waiting)
    (name,) = read
    done: list[object] = []

    def change(here: Runtime, value: Any) -> object:
        node, fields = discussion.node, {name: value}
        return store_of(here, node).change(node, comment["id"], fields, read)  # type: ignore[arg-type]

    meantime = Meantime()
    for command, collection in itertools.product(("update", "findAndModify"), STORED_IN):
        meantime.before(
            command, collection, lambda: done.append(change(runtime, two)) if not done else None
        )
    with listening(runtime, meantime) as watched:
        assert change(watched, one) is None

    assert len(done) == 1
    assert done[0] is not None
    assert discussion.stored()[comment["id"]][name] == two  # type: ignore[literal-required]


def test_an_export_goes_on_behind_a_number(runtime: Runtime, layout: Layout) -> None:
    node = seed_node(runtime, "long", 205, **dataclasses.asdict(layout))
    store = store_of(runtime, node)

    for after in (0, 1, 99, 100, 101, 204, 205):
        batches = list(store.export(node, after))
        assert [each["seq"] for batch in batches for each in batch] == list(range(after + 1, 206))
        assert all(batches)
