"""Rows of words agree with comments after crashes, and when a site begins or ends."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.comments import nodes as stored_nodes
from chalicelib.comments.forms import CommentEdit, NewComment, StateChange
from chalicelib.comments.log.acts import Actor
from chalicelib.comments.nodes import NODES
from chalicelib.comments.shapes import Node, StoreName
from chalicelib.comments.sites.search_changes import SEARCH_CHANGES
from chalicelib.comments.sites.settings import SITES
from chalicelib.comments.store import Moved
from chalicelib.comments.stores import promotion
from chalicelib.comments.terms import upkeep
from chalicelib.comments.terms.rows import TERMS
from chalicelib.comments.writing import decisions, edit
from chalicelib.comments.writing.post import post_comment
from chalicelib.database import delete_some
from chalicelib.runtime import Runtime
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.discussion import PEOPLE
from tests.comments.support.searching import (
    NONE,
    SETTINGS,
    difference,
    found,
    node_of,
    post,
    rows,
    the_schedule,
)
from tests.support.clock import Clock
from tests.support.http_client import Client


@pytest.fixture
def switched_on(client: Client, unsearched: list[str], publisher: Client, clock: Clock) -> None:
    """A site with three comments in each node that was switched on a minute ago."""
    for node in unsearched:
        for number in range(3):
            post(client.as_("ann"), node, f"ferry {number}")
    publisher.patch(SETTINGS, search=True)
    clock.advance(minutes=1)


@pytest.mark.usefixtures("switched_on")
def test_comments_from_before_are_indexed_in_the_background(
    client: Client, runtime: Runtime
) -> None:
    assert found(client, "ferry") == []

    assert upkeep.index_due(runtime) == 15

    assert len(found(client, "ferry", 4)) == 15
    assert difference(runtime) == NONE
    assert upkeep.index_due(runtime) == 0
    assert SEARCH_CHANGES.of(runtime.database).count_documents({}) == 0


@pytest.mark.usefixtures("switched_on")
def test_a_site_is_indexed_in_one_run_whatever_nodes_other_sites_have(
    client: Client, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = client.as_("root", roles=["admin"])
    for name in ("alpha", "blo", "blog-2", "blogs", "page"):
        for number in range(2):
            node = f"{name}-{number}" if name == "page" else f"{name}:{number}"
            assert root.put(f"/nodes/{node}", title="One", url="https://a.example/").status == 201
    monkeypatch.setattr(upkeep, "_NODES_AT_ONCE", 6)

    assert upkeep.index_due(runtime) == 15

    assert SEARCH_CHANGES.of(runtime.database).count_documents({}) == 0


@pytest.mark.bounds(comments={"indexed_at_once": 4})
@pytest.mark.usefixtures("switched_on")
def test_each_run_indexes_a_bounded_part_and_the_next_goes_on(
    runtime: Runtime, client: Client
) -> None:
    parts = [upkeep.index_due(runtime) for _ in range(4)]

    assert parts == [6, 6, 3, 0]
    assert len(found(client, "ferry")) == 15


def test_calls_that_go_by_the_setting_before_are_over_when_the_work_begins(
    client: Client, unsearched: list[str], publisher: Client, clock: Clock, runtime: Runtime
) -> None:
    publisher.patch(SETTINGS, search=True)
    clock.advance(seconds=59)
    assert upkeep.index_due(runtime) == 0
    # Another container's call, which remembers the setting before.
    SITES.of(runtime.database).update_one({"_id": "blog"}, {"$set": {"search": False}})
    late = dataclasses.replace(runtime, memory=type(runtime.memory)())
    ann = PEOPLE["ann"]
    assert ann is not None
    node = unsearched[0].removeprefix("/nodes/")
    post_comment(late, node, NewComment(text="ferry"), ann)
    SITES.of(runtime.database).update_one({"_id": "blog"}, {"$set": {"search": True}})

    clock.advance(seconds=1)
    assert upkeep.index_due(runtime) == 1

    assert found(client, "ferry") == ["ferry"]


@pytest.mark.usefixtures("switched_on")
def test_the_work_is_of_one_worker_and_of_another_after_a_crash(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(upkeep, "_step", lambda *_: 0)
        upkeep.index_due(runtime)

    assert upkeep.index_due(runtime) == 0
    clock.advance(minutes=16)
    assert upkeep.index_due(runtime) == 15


@pytest.mark.usefixtures("switched_on")
def test_indexing_may_end_anywhere(runtime: Runtime, mongodb_uri: str, clock: Clock) -> None:
    rows_of, changes = TERMS.of(runtime.database), SEARCH_CHANGES.of(runtime.database)
    (begun,) = changes.find()

    for _ in crash_everywhere(runtime, mongodb_uri, upkeep.index_due):
        the_schedule(runtime, clock)
        assert difference(runtime) == NONE
        rows_of.delete_many({"site": "blog"})
        changes.replace_one({"_id": "blog"}, begun, upsert=True)


@pytest.mark.usefixtures("switched_on")
def test_work_done_twice_is_done_once(runtime: Runtime, nodes: list[str]) -> None:
    upkeep.index_due(runtime)
    before = rows(runtime)

    for node in nodes:
        assert upkeep.repair(runtime, node_of(runtime, node)) == NONE

    assert rows(runtime) == before


def test_a_site_that_is_switched_off_keeps_no_word(
    client: Client, nodes: list[str], publisher: Client, clock: Clock, runtime: Runtime
) -> None:
    for node in nodes:
        post(client.as_("ann"), node, "ferry")
    publisher.put(SETTINGS)

    the_schedule(runtime, clock, 1)

    assert rows(runtime) == {}
    assert difference(runtime) == NONE


@pytest.mark.bounds(comments={"removal_step_comments": 2, "removal_steps": 2})
def test_words_are_removed_step_by_step(
    client: Client, nodes: list[str], publisher: Client, clock: Clock, runtime: Runtime
) -> None:
    for node in nodes:
        post(client.as_("ann"), node, "ferry")
    publisher.put(SETTINGS)
    clock.advance(minutes=1)

    assert [upkeep.index_due(runtime) for _ in range(3)] == [4, 1, 0]


@pytest.mark.bounds(comments={"indexed_at_once": 4})
@pytest.mark.usefixtures("switched_on")
def test_a_site_that_is_switched_off_and_on_again_is_indexed_from_its_beginning(
    client: Client, publisher: Client, runtime: Runtime, clock: Clock
) -> None:
    upkeep.index_due(runtime)
    publisher.patch(SETTINGS, search=False)
    publisher.patch(SETTINGS, search=True)
    TERMS.of(runtime.database).delete_many({"site": "blog"})

    for _ in range(4):
        clock.advance(minutes=2)
        upkeep.index_due(runtime)

    assert len(found(client, "ferry")) == 15


def test_settings_that_leave_search_as_it_is_begin_no_work(
    publisher: Client, runtime: Runtime
) -> None:
    changes = SEARCH_CHANGES.of(runtime.database)
    changes.delete_many({})

    publisher.patch(SETTINGS, votes="up")
    publisher.patch(SETTINGS, search=True)
    publisher.put(SETTINGS, search=True)

    assert changes.count_documents({}) == 0


def test_a_post_may_end_anywhere(
    client: Client, nodes: list[str], runtime: Runtime, mongodb_uri: str, clock: Clock
) -> None:
    new, ann = NewComment(text="ferry"), PEOPLE["ann"]
    assert ann is not None
    for node in nodes:
        node_id = node.removeprefix("/nodes/")

        def call(ending: Runtime, node_id: str = node_id) -> None:
            post_comment(ending, node_id, new, ann)

        for _ in crash_everywhere(runtime, mongodb_uri, call):
            the_schedule(runtime, clock, 1)
            assert difference(runtime) == NONE
        shown = client.get(f"{node}/comments?limit=200").json["comments"]
        assert len([each for each in rows(runtime) if each.startswith(f"{node_id}/")]) == len(shown)


def _hide(path: str, state: str) -> Callable[[Runtime], object]:
    *_, node, _, comment = path.split("/")
    wanted, mo = StateChange.model_validate({"state": state}), PEOPLE["mo"]
    assert mo is not None
    return lambda ending: decisions.set_state(ending, node, comment, wanted, Actor(mo))


def _edit(path: str) -> Callable[[Runtime], object]:
    *_, node, _, comment = path.split("/")
    mo = PEOPLE["mo"]
    assert mo is not None
    change = CommentEdit(text="harbour")
    return lambda ending: edit.edit_comment(ending, node, comment, change, mo)


@pytest.mark.parametrize("act", ["hide", "edit", "delete"])
def test_a_change_may_end_anywhere(
    client: Client, nodes: list[str], runtime: Runtime, clock: Clock, act: str
) -> None:
    mo = PEOPLE["mo"]
    assert mo is not None
    path = post(client.as_("ann"), nodes[0], "ferry")
    *_, node, _, comment = path.split("/")
    calls: dict[str, Callable[[Runtime], object]] = {
        "hide": _hide(path, "hidden"),
        "edit": _edit(path),
        "delete": lambda ending: edit.delete_comment(ending, node, comment, mo),
    }

    def call(ending: Runtime) -> None:
        state = client.as_("mo", roles=["moderator"]).get(path)
        if state.status == 200 and state.json["state"] == "visible":
            calls[act](ending)

    uri = runtime.settings.mongodb_uri.get_secret_value()
    for _ in crash_everywhere(runtime, uri, call):
        # At once, whatever the row says: the comment decides.
        texts = {"ferry": found(client, "ferry"), "harbour": found(client, "harbour")}
        assert all(word in text for word, shown in texts.items() for text in shown)
        the_schedule(runtime, clock, 1)
        assert difference(runtime) == NONE


def test_the_command_counts_what_is_wrong_and_repairs_it(
    client: Client, nodes: list[str], runtime: Runtime, app: Chalice
) -> None:
    paths = [post(client.as_("ann"), node, "ferry") for node in nodes]
    rows_of = TERMS.of(runtime.database)
    ids = [f"{path.split('/')[2]}/{path.rpartition('/')[2]}" for path in paths]
    rows_of.delete_one({"_id": ids[0], "site": "blog"})
    rows_of.update_one({"_id": ids[1], "site": "blog"}, {"$set": {"terms": ["harbour"]}})
    row = rows_of.find_one({"_id": ids[2], "site": "blog"})
    assert row is not None
    rows_of.insert_one({**row, "_id": f"{ids[2]}x"})
    command = app.handler_map["command"]

    told = command({"command": "compare_terms"}, None)
    again = command({"command": "compare_terms", "repair": True}, None)
    after = command({"command": "compare_terms"}, None)

    assert told == again == {"missing": 1, "wrong": 1, "extra": 1, "next": None}
    assert after == {"missing": 0, "wrong": 0, "extra": 0, "next": None}


@pytest.mark.usefixtures("switched_on")
def test_a_change_during_a_step_begins_anew(
    publisher: Client,
    runtime: Runtime,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ask = upkeep._ask

    def switch_meanwhile(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(upkeep, "_ask", ask)
        publisher.patch(SETTINGS, search=False)
        return ask(*given, **more)

    monkeypatch.setattr(upkeep, "_ask", switch_meanwhile)
    upkeep.index_due(runtime)
    (change,) = SEARCH_CHANGES.of(runtime.database).find()
    assert change["after"] == ""

    the_schedule(runtime, clock, 1)

    assert rows(runtime) == {}
    assert publisher.get("/sites/blog/search?q=ferry").code == "not_enabled"


@pytest.mark.bounds(comments={"removal_step_comments": 1})
@pytest.mark.usefixtures("switched_on")
def test_a_removal_ends_when_the_site_is_searched_again(
    client: Client,
    publisher: Client,
    runtime: Runtime,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would go on with rows that the indexing has passed."""
    upkeep.index_due(runtime)
    publisher.patch(SETTINGS, search=False)
    clock.advance(minutes=1)
    remove = delete_some

    def search_meanwhile(*given: Any) -> int:
        monkeypatch.undo()
        removed = remove(*given)
        publisher.patch(SETTINGS, search=True)
        return removed

    monkeypatch.setattr(upkeep, "delete_some", search_meanwhile)

    assert upkeep.index_due(runtime) == 1
    the_schedule(runtime, clock, 1)

    assert len(found(client, "ferry", 4)) == 15


@pytest.mark.usefixtures("switched_on")
def test_a_page_whose_store_changes_meanwhile_is_indexed_whole(
    runtime: Runtime, unsearched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    look, moved = stored_nodes.look, set[str]()

    def look_after_a_move(database: Any, node_id: str) -> Any:
        if node_id not in moved:
            moved.add(node_id)
            other: StoreName = "embedded" if "documents" in node_id else "documents"
            promotion.move(runtime, node_id, other)
        return look(database, node_id)

    monkeypatch.setattr(stored_nodes, "look", look_after_a_move)
    upkeep.index_due(runtime)

    assert len(moved) == len(unsearched)
    assert difference(runtime) == NONE


@pytest.mark.usefixtures("switched_on")
def test_a_page_that_moves_again_and_again_is_indexed_by_the_comparison_of_counts(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def move_on(*_given: Any) -> None:
        raise Moved

    # Nothing else has the comparison look at these pages.
    runtime.database["comments.node"].update_many({}, {"$set": {"written": None}})
    with monkeypatch.context() as patched:
        patched.setattr(upkeep, "_write", move_on)
        upkeep.index_due(runtime)
    assert difference(runtime).missing == 15

    the_schedule(runtime, clock)

    assert difference(runtime) == NONE


@pytest.mark.usefixtures("switched_on")
def test_a_page_is_indexed_though_a_move_has_removed_the_comments_of_before(
    runtime: Runtime, unsearched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    batches, moved = upkeep._batches, set[str]()

    def move_first(runtime: Runtime, node: Node, *after: int) -> Any:
        if node["_id"] in moved:
            return batches(runtime, node, *after)
        moved.add(node["_id"])
        promotion.move(runtime, node["_id"], "buckets" if "embedded" in node["_id"] else "embedded")
        return iter(())

    flat = [node for node in unsearched if "flat" in node]
    NODES.of(runtime.database).delete_many({"threaded": True})
    with monkeypatch.context() as patched:
        patched.setattr(upkeep, "_batches", move_first)
        upkeep.index_due(runtime)

    assert len(moved) == len(flat)
    assert difference(runtime) == NONE
