"""Moves to another id that crash: whole at the old id or at the new one."""

import pytest

from chalicelib.comments import jobs, nodes
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.moderation import queue
from chalicelib.comments.stores import promotion
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from tests.comments.support.crashes import Crash, crash
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.relocation import NEW, OLD, filled, rows, told, waiting
from tests.support.clock import Clock


@pytest.mark.parametrize("step", ["mark_for_sweep", "renewing", "MoveTally.of"])
def test_a_crash_leaves_the_node_where_it_was_and_a_second_run_finishes(
    runtime: Runtime, layout: Layout, clock: Clock, step: str
) -> None:
    discussion = filled(runtime, layout)
    before = told(discussion, "oldest", "mo")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(f"{promotion.__name__}.{step}", crash)
        with pytest.raises(Crash):
            relocation.relocate(runtime, OLD, NEW)

    assert told(discussion, "oldest", "mo") == before
    with pytest.raises(UnknownNode):
        nodes.find(runtime.database, NEW)
    with pytest.raises(Unavailable):
        relocation.relocate(runtime, OLD, NEW)
    clock.advance(milliseconds=runtime.settings.lease_ms)
    relocation.relocate(runtime, OLD, NEW)
    assert told(Discussion(runtime, NEW), "oldest", "mo") == before


@pytest.mark.parametrize("is_repeated", [False, True], ids=["abandoned", "repeated"])
def test_a_crash_before_the_switch_leaves_nothing_for_long(
    runtime: Runtime, layout: Layout, clock: Clock, *, is_repeated: bool
) -> None:
    discussion = filled(runtime, layout)
    number = rows(runtime)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relocation, "_switch", crash)
        with pytest.raises(Crash):
            relocation.relocate(runtime, OLD, NEW)
    clock.advance(milliseconds=runtime.settings.lease_ms)
    if is_repeated:
        relocation.relocate(runtime, OLD, NEW)

    clock.advance(hours=1)
    jobs.run_due(runtime)

    assert rows(runtime) == number
    assert runtime.database[promotion.GENERATIONS.name].count_documents({}) == 0
    assert nodes.NODES.of(runtime.database).count_documents({}) == (2 if is_repeated else 1)
    here = Discussion(runtime, NEW) if is_repeated else discussion
    assert here.post("goes on")["seq"] == 13


def test_a_crash_after_the_switch_is_repaired_by_the_schedule(
    runtime: Runtime, layout: Layout, clock: Clock
) -> None:
    filled(runtime, layout)
    ((_, _, pending),) = waiting(runtime)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(queue, "queue_again", crash)
        with pytest.raises(Crash):
            relocation.relocate(runtime, OLD, NEW)

    clock.advance(hours=1)
    jobs.run_due(runtime)

    assert waiting(runtime) == [("blog", NEW, pending)]
