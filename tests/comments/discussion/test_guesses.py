"""A guest's first page in one round trip with its node: a guess, checked by the node itself."""

import dataclasses
import threading
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.discussion import reading
from chalicelib.comments.discussion.tags import Held
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.forms import CommentsQuery
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.lifecycle.relocation import relocate
from chalicelib.memory import Memory
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import PEOPLE, Discussion, Layout
from tests.support.commands import Commands

THREADED = Layout("documents", threaded=True)


def read(runtime: Runtime, node_id: str, by: str | None = None, **query: Any) -> dict[str, Any]:
    listing = reading.list_comments(runtime, node_id, CommentsQuery(**query), PEOPLE[by])
    assert listing.body is not None
    return {**listing.body, "tag": listing.tag}


def anew(runtime: Runtime, node_id: str, **query: Any) -> dict[str, Any]:
    """Read a page as a container that has read none does."""
    return read(dataclasses.replace(runtime, memory=Memory()), node_id, **query)


def filled(runtime: Runtime, layout: Layout, node_id: str, **settings: Any) -> Discussion:
    discussion = Discussion.make(runtime, layout, node_id, **settings)
    parent = None
    for number in range(5):
        posted = discussion.post(f"{node_id} {number}", parent)
        parent = posted["id"] if layout.threaded and number % 2 else None
    return discussion


@pytest.fixture
def warm(listened: Runtime) -> Runtime:
    """A container that has read the first page of one node with threads."""
    filled(listened, THREADED, "first")
    read(listened, "first")
    return listened


@pytest.mark.parametrize("query", [{}, {"order": "newest"}, {"order": "oldest"}])
def test_a_node_like_the_last_one_of_its_site_takes_one_trip(
    warm: Runtime, commands: Commands, query: dict[str, Any]
) -> None:
    filled(warm, THREADED, "second")
    for order in ("newest", "oldest"):
        read(warm, "first", order=order, limit=2)

    for node_id in ("first", "second"):
        commands.names.clear()
        page = read(warm, node_id, **query)
        assert len(commands.names) == 1
        assert page == anew(warm, node_id, **query)
        assert page["comments"]


def test_a_guess_changes_no_page(warm: Runtime, layout: Layout) -> None:
    filled(warm, layout, "second", order="newest")

    for order in (None, "oldest", "newest", "best", "featured"):
        for limit in (1, 4, 5, 6):
            page = read(warm, "second", order=order, limit=limit)
            assert page == anew(warm, "second", order=order, limit=limit)


def moved(discussion: Discussion) -> None:
    """Move a discussion away and back: its comments are of another generation."""
    discussion.move("embedded")
    discussion.move("documents")


OTHERS: dict[str, Callable[[Runtime], object]] = {
    "another order": lambda runtime: filled(runtime, THREADED, "other", order="newest"),
    "flat": lambda runtime: filled(runtime, Layout("documents", threaded=False), "other"),
    "moved": lambda runtime: moved(filled(runtime, THREADED, "other")),
    "embedded": lambda runtime: filled(runtime, Layout("embedded", threaded=True), "other"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_another_node_is_read_again(warm: Runtime, commands: Commands, kind: str) -> None:
    OTHERS[kind](warm)
    whole = anew(warm, "other")

    commands.names.clear()
    assert read(warm, "other") == whole
    assert len(commands.names) == 2
    commands.names.clear()
    assert read(warm, "other") == whole
    # A guess is of documents alone.
    assert len(commands.names) == (2 if kind == "embedded" else 1)


def test_a_move_between_two_reads_is_noticed(warm: Runtime, commands: Commands) -> None:
    first = Discussion(warm, "first")
    first.move("embedded")
    first.post("Written to the other store.")

    commands.names.clear()
    page = read(warm, "first")

    assert page["comments"][-1]["text"] == "Written to the other store."
    assert len(commands.names) == 2


def test_a_new_node_at_a_former_id_shows_no_former_comment(warm: Runtime) -> None:
    vacancies.delete(warm, "first")
    with pytest.raises(UnknownNode):
        read(warm, "first")

    Discussion.make(warm, THREADED, "first")

    assert read(warm, "first")["comments"] == []


def test_an_unknown_node_and_a_renamed_one_are_told_apart(warm: Runtime) -> None:
    with pytest.raises(UnknownNode):
        read(warm, "nowhere")

    relocate(warm, "first", "elsewhere")

    with pytest.raises(NodeMoved):
        read(warm, "first")
    assert read(warm, "elsewhere")["count"] == 5


def test_a_node_before_its_page_is_public_stays_unknown(warm: Runtime) -> None:
    node = nodes.find(warm.database, "first")
    later = warm.now().replace(year=warm.now().year + 1)
    nodes.NODES.of(warm.database).update_one({"_id": node["_id"]}, {"$set": {"public_from": later}})

    with pytest.raises(UnknownNode):
        read(warm, "first")


def test_who_is_known_or_holds_a_copy_is_not_guessed_for(warm: Runtime, commands: Commands) -> None:
    tag = read(warm, "first")["tag"]

    commands.names.clear()
    held = reading.list_comments(warm, "first", CommentsQuery(), None, Held([tag]))
    assert held.body is None
    assert commands.names == ["find"]
    commands.names.clear()
    read(warm, "first", by="bob")
    # The aggregate is of the people whom Bob blocks.
    assert commands.names == ["find", "aggregate", "find"]


def test_a_page_has_what_its_node_counts_while_others_write(warm: Runtime) -> None:
    """The node is read before its comments: a tag of a later node would keep an older page."""
    first, done = Discussion(warm, "first"), threading.Event()

    def write() -> None:
        for number in range(60):
            first.post(f"more {number}", by=f"reader-{number}")
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    read_pages = 0
    while not done.is_set():
        page = read(warm, "first", limit=200)
        assert len(page["comments"]) >= page["count"]
        read_pages += 1
    writer.join()

    assert read_pages > 1
    assert read(warm, "first", limit=200)["count"] == 65
