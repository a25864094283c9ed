"""How many replies there are, for those who may not see each of them."""

from collections.abc import Callable
from typing import Any

import pytest
from pymongo import monitoring

from chalicelib.comments import nodes, repair
from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.shapes import State, StoreName
from chalicelib.comments.stores import store_of
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.runtime import Runtime
from tests.comments.discussion.test_concurrency import in_threads, real_time
from tests.comments.support.discussion import PUBLISHER, Discussion, Layout
from tests.support.clock import Clock
from tests.support.commands import listening

THREADED = (Layout("documents", threaded=True), Layout("embedded", threaded=True))
INVISIBLE: tuple[State, ...] = ("pending", "hidden")


@pytest.fixture(params=THREADED, ids=str)
def layout(request: pytest.FixtureRequest) -> Layout:
    found: Layout = request.param
    return found


def replies(discussion: Discussion, comment: str) -> dict[str | None, int]:
    """Return how many replies everybody is told of, the same in each answer."""
    told: dict[str | None, int] = {}
    for caller in (None, "ann", "bob", "mo"):
        page = {each["id"]: each["replies"] for each in discussion.walk(by=caller)}
        (root, *_) = discussion.thread(comment, by=caller)["comments"]
        alone = discussion.get(comment, by=caller)["reply_count"]
        assert page[comment] == root["replies"] == alone
        told[caller] = alone
    return told


@pytest.mark.parametrize("state", INVISIBLE)
def test_readers_are_told_of_visible_replies_and_moderators_of_all(
    discussion: Discussion, state: State
) -> None:
    root = discussion.post("root")["id"]
    first, second = (discussion.post("reply", root, by="bob")["id"] for _ in range(2))

    discussion.set_state(first, state)
    assert replies(discussion, root) == {None: 1, "ann": 1, "bob": 1, "mo": 2}
    discussion.set_state(second, state)
    assert replies(discussion, root) == {None: 0, "ann": 0, "bob": 0, "mo": 2}
    discussion.set_state(first, "visible")
    assert replies(discussion, root) == {None: 1, "ann": 1, "bob": 1, "mo": 2}
    discussion.delete(first)
    assert replies(discussion, root) == {None: 0, "ann": 0, "bob": 0, "mo": 2}
    discussion.delete(second)
    assert replies(discussion, root) == {None: 0, "ann": 0, "bob": 0, "mo": 2}


def test_a_reply_that_waits_is_not_counted_for_readers(
    discussion: Discussion, clock: Clock
) -> None:
    root = discussion.post("root")["id"]
    page = {"title": "A page", "url": "https://blog.example/a-page"}
    settings = NodeSettings.model_validate({**page, "moderation": "before"})
    discussion_nodes.put_node(discussion.runtime, discussion.node_id, settings, PUBLISHER)
    reply = discussion.post("reply", root, by="bob")["id"]

    assert replies(discussion, root) == {None: 0, "ann": 0, "bob": 0, "mo": 1}
    discussion.set_state(reply, "visible")
    assert replies(discussion, root)[None] == 1
    discussion.edit(reply, "waits again", by="bob")
    assert replies(discussion, root)[None] == 0
    clock.advance(minutes=15)
    assert repair.repair_counts(discussion.runtime) == 0


def test_a_parent_whose_replies_are_all_invisible_leaves_a_tombstone(
    discussion: Discussion,
) -> None:
    root = discussion.post("root")["id"]
    discussion.set_state(discussion.post("reply", root)["id"], "hidden")

    discussion.delete(root)

    assert discussion.get(root)["state"] == "deleted"


def some_replies(discussion: Discussion) -> str:
    """Post a comment with three replies, two of them hidden from readers; return it."""
    root = discussion.post("root")["id"]
    for state in INVISIBLE:
        discussion.set_state(discussion.post(state, root)["id"], state)
    discussion.post("visible", root)
    return root


def forget_invisible(discussion: Discussion) -> None:
    """Leave comments whose counts of invisible replies are wrong."""
    database = discussion.runtime.database
    database[COMMENTS.name].update_many({}, {"$unset": {"invisible_replies": ""}})
    at_root = {"metadata.replies.0.invisible_replies": ""}
    nodes.NODES.of(database).update_many({}, {"$unset": at_root})


def spoil_counts(discussion: Discussion) -> None:
    """Leave a root with a wrong count of replies, and without a count of invisible replies."""
    database = discussion.runtime.database
    database[COMMENTS.name].update_many({"parent_id": None}, {"$set": {"reply_count": 7}})
    at_root = {"metadata.replies.0.reply_count": 7}
    nodes.NODES.of(database).update_many(
        {"metadata.replies": {"$type": "array"}}, {"$set": at_root}
    )


@pytest.mark.parametrize("store", ["documents", "embedded"])
def test_a_move_counts_invisible_replies_again(discussion: Discussion, store: StoreName) -> None:
    root = some_replies(discussion)
    forget_invisible(discussion)

    other: StoreName = "embedded" if discussion.node["store"] == "documents" else "documents"
    discussion.move(other)
    discussion.move(store)

    assert replies(discussion, root) == {None: 1, "ann": 1, "bob": 1, "mo": 3}


def test_a_count_that_changes_during_the_repair_is_left_to_the_next(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = some_replies(discussion)
    forget_invisible(discussion)
    store, node = store_of(discussion.runtime, discussion.node), discussion.node
    kind = type(discussion.runtime.database[COMMENTS.name])
    update_one = kind.update_one

    def after_a_post(*args: Any, **kwargs: Any) -> object:
        monkeypatch.setattr(kind, "update_one", update_one)
        discussion.post("meanwhile", root)
        return update_one(*args, **kwargs)

    monkeypatch.setattr(kind, "update_one", after_a_post)
    assert store.repair_replies(node) == 0
    assert store.repair_replies(node) == 1

    assert replies(discussion, root) == {None: 2, "ann": 2, "bob": 2, "mo": 4}


class AfterFirstRead(monitoring.CommandListener):
    """Acts once, after the answer to a client's first read."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._acts = [act]

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """An act follows an answer."""

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        if event.command_name in ("aggregate", "find") and self._acts:
            self._acts.pop()()

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """A command that fails has no answer."""


def test_a_reply_between_two_reads_of_the_repair_is_counted_once(discussion: Discussion) -> None:
    root = some_replies(discussion)
    listener = AfterFirstRead(lambda: discussion.post("meanwhile", root))

    with listening(discussion.runtime, listener) as runtime:
        store_of(runtime, discussion.node).repair_replies(discussion.node)

    assert replies(discussion, root) == {None: 2, "ann": 2, "bob": 2, "mo": 4}


def test_a_reply_that_is_hidden_during_the_repair_is_counted_as_hidden(
    discussion: Discussion,
) -> None:
    root = discussion.post("root")["id"]
    reply, _ = discussion.post("reply", root)["id"], discussion.post("another", root)
    spoil_counts(discussion)
    listener = AfterFirstRead(lambda: discussion.set_state(reply, "hidden"))

    with listening(discussion.runtime, listener) as runtime:
        store_of(runtime, discussion.node).repair_replies(discussion.node)
    store_of(discussion.runtime, discussion.node).repair_replies(discussion.node)

    assert replies(discussion, root) == {None: 1, "ann": 1, "bob": 1, "mo": 2}


def test_states_that_change_at_once_are_each_counted_once(runtime: Runtime, layout: Layout) -> None:
    discussion = Discussion.make(real_time(runtime), layout)
    root = discussion.post("root")["id"]
    ids = [discussion.post(str(number), root)["id"] for number in range(12)]
    states: tuple[State, ...] = ("hidden", "visible", "pending")

    def work(worker: int) -> list[str]:
        for number, comment in enumerate(ids):
            if worker == len(states):
                discussion.post(f"late {number}", root)
            else:
                discussion.set_state(comment, states[(number + worker) % len(states)])
        return []

    in_threads(len(states) + 1, work)

    under = [each for each in discussion.stored().values() if each["parent_id"] == root]
    visible = sum(each["state"] == "visible" for each in under)
    assert discussion.get(root)["reply_count"] == visible
    assert discussion.get(root, by="mo")["reply_count"] == len(under) == 24
