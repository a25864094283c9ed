"""Calls that end at any point leave a log that tells what has happened, and nothing else."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.comments.acts import upkeep
from chalicelib.comments.forms import StateChange
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.log.acts import ActChange, Actor
from chalicelib.comments.log.rows import LOG, Act
from chalicelib.comments.people import changing
from chalicelib.comments.shapes import Node
from chalicelib.comments.stores import ask
from chalicelib.comments.writing import decisions
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.discussion import PEOPLE, Discussion, Layout
from tests.support.clock import Clock

MO = PEOPLE["mo"]


def toggled(discussion: Discussion, comment: str) -> Callable[[Runtime], object]:
    """Return a call that hides a comment, or shows it again."""
    assert MO is not None

    def call(ending: Runtime) -> object:
        state = "visible" if discussion.stored()[comment]["state"] == "hidden" else "hidden"
        wanted = StateChange.model_validate({"state": state})
        return decisions.set_state(ending, discussion.node_id, comment, wanted, Actor(MO))

    return call


def changes(runtime: Runtime) -> list[tuple[str, str]]:
    """Return what the log tells, the first first; nothing in it may be open."""
    rows = list(LOG.of(runtime.database).find({}).sort([("at", 1), ("_id", 1)]))
    assert all("open" not in row for row in rows)
    return [(row["before"]["state"], row["after"]["state"]) for row in rows]


def test_a_decision_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    comment = discussion.post("changes")["id"]
    seen = [discussion.stored()[comment]["state"]]

    for _ in crash_everywhere(runtime, mongodb_uri, toggled(discussion, comment)):
        state = discussion.stored()[comment]["state"]
        if state != seen[-1]:
            seen.append(state)
        clock.advance(minutes=16)
        upkeep.sweep(runtime)
        assert changes(runtime) == list(itertools.pairwise(seen))
    assert len(seen) > 2


def test_a_decision_that_never_was_is_not_taken_for_the_same_of_another(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    """The next moderator decides before the schedule looks; each change is told once."""
    comment = discussion.post("changes")["id"]
    seen = [discussion.stored()[comment]["state"]]

    for _ in crash_everywhere(runtime, mongodb_uri, toggled(discussion, comment)):
        state = discussion.stored()[comment]["state"]
        if state != seen[-1]:
            seen.append(state)
        clock.advance(seconds=1)
        toggled(discussion, comment)(runtime)
        seen.append(discussion.stored()[comment]["state"])
        clock.advance(minutes=16)
        upkeep.sweep(runtime)
        assert changes(runtime) == list(itertools.pairwise(seen))


def test_a_change_of_a_person_may_end_anywhere(
    runtime: Runtime, mongodb_uri: str, clock: Clock
) -> None:
    assert MO is not None
    notes = [""]

    def note(ending: Runtime) -> object:
        wanted = ActChange(None, {"note": f"{notes[-1]}+"})
        return changing.change(ending, "blog", "ann", wanted, Actor(MO))

    for _ in crash_everywhere(runtime, mongodb_uri, note):
        found = changing.find(runtime.database, "blog", "ann")["note"]
        if found != notes[-1]:
            notes.append(found)
        clock.advance(minutes=16)
        upkeep.sweep(runtime)
        rows = LOG.of(runtime.database).find({}).sort([("at", 1), ("_id", 1)])
        told = [(row["before"]["note"], row["after"]["note"]) for row in rows]
        assert told == list(itertools.pairwise(notes))


def test_an_act_whose_discussion_moved_before_the_next_is_told(
    runtime: Runtime, discussion: Discussion, clock: Clock
) -> None:
    comment = discussion.post("changes")["id"]
    toggled(discussion, comment)(runtime)
    LOG.of(runtime.database).update_one({}, {"$set": {"open": clock()}})
    clock.advance(seconds=1)
    moved = relocation.relocate(runtime, discussion.node_id, f"{discussion.node_id}-moved")
    wanted = StateChange.model_validate({"state": "visible"})
    assert MO is not None
    decisions.set_state(runtime, moved["_id"], comment, wanted, Actor(MO))

    clock.advance(minutes=16)
    upkeep.sweep(runtime)

    assert changes(runtime) == [("visible", "hidden"), ("hidden", "visible")]


def test_an_act_that_the_next_follows_in_that_moment_is_told(
    runtime: Runtime, discussion: Discussion, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    comment = discussion.post("changes")["id"]
    toggled(discussion, comment)(runtime)
    LOG.of(runtime.database).update_one({}, {"$set": {"open": clock()}})
    clock.advance(minutes=16)
    look = upkeep.last_act

    def decide_then_look(given: Runtime, act: Act) -> str | None:
        toggled(discussion, comment)(given)
        return look(given, act)

    monkeypatch.setattr(upkeep, "last_act", decide_then_look)
    upkeep.sweep(runtime)

    assert changes(runtime) == [("visible", "hidden"), ("hidden", "visible")]


def test_an_act_that_may_still_be_under_way_is_left_alone(
    runtime: Runtime, mongodb_uri: str, discussion: Discussion, clock: Clock
) -> None:
    comment = discussion.post("changes")["id"]
    next(iter(crash_everywhere(runtime, mongodb_uri, toggled(discussion, comment))))
    clock.advance(minutes=14)

    assert upkeep.sweep(runtime) == 0
    clock.advance(minutes=1)
    upkeep.sweep(runtime)
    assert LOG.of(runtime.database).count_documents({"open": {"$exists": True}}) == 0


def test_an_act_in_a_discussion_that_is_being_moved_waits_alone(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node_id in ("moving", "still"):
        discussion = Discussion.make(runtime, Layout("documents", threaded=True), node_id)
        toggled(discussion, discussion.post("changes")["id"])(runtime)
        clock.advance(seconds=1)
    # As if the calls had ended before they closed their rows.
    LOG.of(runtime.database).update_many({}, {"$set": {"open": clock.time}})
    clock.advance(minutes=16)

    def move(runtime: Runtime, node: Node, query: Any) -> Any:
        if node["_id"] == "moving":
            raise Unavailable
        return ask(runtime, node, query)

    with monkeypatch.context() as patch:
        patch.setattr(upkeep, "ask", move)
        assert upkeep.sweep(runtime) == 1
    waiting = LOG.of(runtime.database).find({"open": {"$exists": True}})
    assert [row["node_id"] for row in waiting] == ["moving"]

    assert upkeep.sweep(runtime) == 1
    assert len(changes(runtime)) == 2
