"""The sweep of entries ends in time, and the next run goes on from there."""

from typing import Any

import pytest

from chalicelib import deadlines
from chalicelib.comments.entries import upkeep
from chalicelib.comments.repair import repair_counts
from chalicelib.comments.shapes import Comment
from chalicelib.comments.stores import store_of
from chalicelib.runtime import Runtime
from tests.comments.support.crashes import Crash, crash
from tests.comments.support.discussion import LAYOUTS, Discussion
from tests.comments.support.entries import NONE, difference, entry
from tests.support.clock import Clock


def test_a_sweep_without_time_keeps_what_it_has_done(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [Discussion.make(runtime, LAYOUTS[0], name) for name in ("b-page", "a-page")]
    posted = [(page, page.post("text")["id"]) for page in pages for _ in range(3)]
    clock.advance(minutes=15)
    told = list[str]()
    monkeypatch.setattr(deadlines, "share", lambda _part: lambda: not told)

    def tell(_runtime: Runtime, _node: Any, comment: Comment, _at: Any) -> None:
        told.append(comment["id"])

    def find_settled() -> set[str]:
        return {each for page, each in posted if entry(page, each)["todo"] is None}

    upkeep.sweep(runtime, tell)
    assert len(told) == 1
    assert find_settled() == set(told)

    monkeypatch.undo()
    upkeep.sweep(runtime, tell)
    assert sorted(told) == sorted(each for _, each in posted)
    assert find_settled() == set(told)


def test_a_large_node_is_compared_once_it_is_quiet(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Discussion.make(runtime, LAYOUTS[0])
    root = page.post("root")["id"]
    with monkeypatch.context() as patched:
        patched.setattr(type(store_of(runtime, page.node)), "add", crash)
        with pytest.raises(Crash):
            page.post("lost", root)
    clock.advance(minutes=15)
    monkeypatch.setattr(upkeep, "_COMPARED_AT_ONCE", 1)

    assert upkeep.sweep(runtime, lambda *_: None) == 1
    assert difference(page).wrong == 1
    clock.advance(minutes=15)
    assert repair_counts(runtime) == 1

    assert difference(page) == NONE
