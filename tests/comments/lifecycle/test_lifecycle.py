"""Nodes that are made, moved, deleted and made again, beside a plain dictionary of lists."""

import itertools
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from chalicelib.comments import jobs, nodes
from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.errors import NodeExists, NodeMoved, UnknownNode
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.moderation import queue
from chalicelib.comments.stores import promotion
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import PUBLISHER, Discussion, Layout
from tests.support.clock import Clock

# A long run: PLAZA_TEST_EXAMPLES=500 pytest tests/comments/lifecycle/test_lifecycle.py
EXAMPLES = int(os.environ.get("PLAZA_TEST_EXAMPLES", "8"))
PLACES = ("a", "b", "c")
places = st.sampled_from(PLACES)


class Lifecycle(RuleBasedStateMachine):
    """Three ids, each of them free, a node with its comments, or a forward to another id."""

    runs = itertools.count()

    def __init__(self, runtime: Runtime, layout: Layout) -> None:
        super().__init__()
        clock = runtime.now
        assert isinstance(clock, Clock)
        self.runtime, self.layout, self.clock = runtime, layout, clock
        self.number = next(self.runs)
        self.nodes: dict[str, list[str]] = {}
        self.forwards: dict[str, str] = {}

    def id_of(self, place: str) -> str:
        return f"life-{self.number}-{place}"

    def at(self, place: str) -> Discussion:
        return Discussion(self.runtime, self.id_of(place))

    @rule(place=places, moderation=st.sampled_from(["after", "before"]))
    def make(self, place: str, moderation: str) -> None:
        if place in self.forwards:
            with pytest.raises(NodeMoved):
                Discussion.make(self.runtime, self.layout, self.id_of(place))
        elif place not in self.nodes:
            Discussion.make(self.runtime, self.layout, self.id_of(place), moderation=moderation)
            self.nodes[place] = []

    @rule(place=places, number=st.integers(1, 3))
    def post(self, place: str, number: int) -> None:
        for _ in range(number):
            if place in self.nodes:
                self.nodes[place].append(self.at(place).post("text")["id"])
            else:
                with pytest.raises(NodeMoved if place in self.forwards else UnknownNode):
                    self.at(place).post("text")

    @precondition(lambda self: self.nodes)
    @rule(place=places)
    def move_to_another_store(self, place: str) -> None:
        if place in self.nodes:
            store = self.at(place).node["store"]
            self.at(place).move("embedded" if store != "embedded" else self.layout.store)

    @rule(there=places, to=places)
    def move_to_another_id(self, there: str, to: str) -> None:
        if there not in self.nodes:
            with pytest.raises(NodeMoved if there in self.forwards else UnknownNode):
                relocation.request(self.runtime, self.id_of(there), self.id_of(to))
        elif to in self.nodes:
            with pytest.raises(NodeExists):
                relocation.request(self.runtime, self.id_of(there), self.id_of(to))
        else:
            relocation.request(self.runtime, self.id_of(there), self.id_of(to))
            self.nodes[to] = self.nodes.pop(there)
            self.forwards.pop(to, None)
            self.forwards[there] = to

    @rule(place=places)
    def delete(self, place: str) -> None:
        if place in self.nodes or place in self.forwards:
            discussion_nodes.delete_node(self.runtime, self.id_of(place), PUBLISHER)
            self.nodes.pop(place, None)
            self.forwards.pop(place, None)
        else:
            with pytest.raises(UnknownNode):
                discussion_nodes.delete_node(self.runtime, self.id_of(place), PUBLISHER)

    @rule(minutes=st.sampled_from([0, 15, 60]))
    def let_the_schedule_run(self, minutes: int) -> None:
        self.clock.advance(minutes=minutes)
        assert jobs.run_due(self.runtime)["counts_repaired"] == 0

    @invariant()
    def each_place_is_as_in_the_model(self) -> None:
        for place in PLACES:
            if place in self.nodes:
                listed = self.at(place).walk(by="mo")
                assert [each["id"] for each in listed] == self.nodes[place]
                counts = self.at(place).node["counts"]
                assert counts["visible"] + counts["pending"] == len(listed)
                continue
            with pytest.raises(NodeMoved if place in self.forwards else UnknownNode) as refused:
                self.at(place).page()
            if isinstance(refused.value, NodeMoved):
                assert refused.value.moved_to == self.id_of(self.forwards[place])

    @invariant()
    def what_waits_is_of_nodes_that_are_there(self) -> None:
        waiting = {row["_id"] for row in self.runtime.database[queue.PENDING.name].find()}
        pending = {
            f"{self.id_of(place)}/{each['id']}"
            for place in self.nodes
            for each in self.at(place).walk(by="mo")
            if each["state"] == "pending"
        }
        assert waiting == pending

    def teardown(self) -> None:
        """Delete all that is there: nothing may be left once the schedule has run."""
        for place in (*self.nodes, *self.forwards):
            discussion_nodes.delete_node(self.runtime, self.id_of(place), PUBLISHER)
        self.clock.advance(hours=1)
        jobs.run_due(self.runtime)
        left: dict[str, Any] = {
            each.name: self.runtime.database[each.name].count_documents({})
            for each in (nodes.NODES, COMMENTS, PAGES, queue.PENDING, promotion.GENERATIONS)
        }
        assert set(left.values()) == {0}, left


def test_nodes_come_and_go_like_entries_of_a_dictionary(runtime: Runtime, layout: Layout) -> None:
    class Machine(Lifecycle):
        def __init__(self) -> None:
            super().__init__(runtime, layout)

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=25,
            deadline=None,
            database=None,
            derandomize="PLAZA_TEST_EXAMPLES" not in os.environ,
            suppress_health_check=list(HealthCheck),
        ),
    )
