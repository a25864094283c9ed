"""Erasing a person's comments while a node moves, or after its mover died."""

from typing import Any

import pytest

from chalicelib.comments import personal_data
from chalicelib.comments.store import WIPED
from chalicelib.comments.stores import promotion, store_of
from chalicelib.people.features import Step
from chalicelib.runtime import Runtime
from tests.comments.support.authors import TARGETS, everything, remaining
from tests.comments.support.discussion import Discussion, Layout
from tests.support.clock import Clock


@pytest.mark.parametrize(("layout", "target"), TARGETS, ids=str)
def test_comments_that_a_move_left_behind_are_erased(
    runtime: Runtime, layout: Layout, target: Any
) -> None:
    discussion = Discussion.make(runtime, layout)
    discussion.post("bob says", by="bob")
    promotion.move(runtime, discussion.node_id, target)

    personal_data.rename(runtime, "bob", "Bobby")
    assert "'Bob'" not in everything(runtime)
    assert personal_data.erase(runtime, "bob") is Step.DONE

    assert "bob" not in everything(runtime).lower()
    assert remaining(runtime) == 0


@pytest.mark.parametrize(("layout", "target"), TARGETS, ids=str)
def test_an_erasure_in_the_middle_of_a_move_ends_after_it(
    runtime: Runtime, layout: Layout, target: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The erasure comes when the copy has been made, and its node still moves."""
    discussion = Discussion.make(runtime, layout)
    discussion.post("bob says", by="bob")
    discussion.post("ann says")
    switch, steps = promotion._switch, []

    def erase_first(*arguments: Any) -> Any:
        steps.append(personal_data.erase(runtime, "bob"))
        return switch(*arguments)

    monkeypatch.setattr(promotion, "_switch", erase_first)
    monkeypatch.setattr("chalicelib.comments.stores.waits", lambda _budget: iter([None]))
    promotion.move(runtime, discussion.node_id, target)
    assert steps == [Step.BUSY]
    assert personal_data.erase(runtime, "bob") is Step.DONE

    assert "bob" not in everything(runtime).lower()
    assert [c["text"] for c in discussion.page()["comments"]] == ["ann says"]
    assert discussion.page()["count"] == 1


@pytest.mark.parametrize(("layout", "target"), TARGETS, ids=str)
def test_the_copy_of_a_move_that_died_is_erased(
    runtime: Runtime, layout: Layout, target: Any, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    discussion = Discussion.make(runtime, layout)
    discussion.post("bob says", by="bob")
    discussion.post("ann says")

    def dies(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(promotion, "_switch", dies)
        with pytest.raises(KeyboardInterrupt):
            promotion.move(runtime, discussion.node_id, target)
    clock.advance(milliseconds=runtime.settings.lease_ms)

    for _ in range(3):
        personal_data.erase(runtime, "bob")

    assert "bob" not in everything(runtime).lower()
    assert [c["text"] for c in discussion.page()["comments"]] == ["ann says"]


def test_the_copy_is_erased_if_nothing_else_ends_the_move_that_died(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    """The comment that was served is wiped already, by an erasure that was cut short."""
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    comment = discussion.post("bob says", by="bob")["id"]
    with monkeypatch.context() as patch:
        patch.setattr(promotion, "_switch", _dies)
        with pytest.raises(KeyboardInterrupt):
            promotion.move(runtime, discussion.node_id, "buckets")
    node = discussion.node
    store_of(runtime, node).change(node, comment, WIPED, {})
    clock.advance(milliseconds=runtime.settings.lease_ms)

    assert personal_data.erase(runtime, "bob") is Step.DONE
    assert "bob" not in everything(runtime).lower()


def _dies(*_: Any) -> Any:
    raise KeyboardInterrupt


def test_an_author_stays_noted_while_a_comment_of_theirs_comes_in(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, Layout("embedded", threaded=True))
    discussion.post("first", by="bob")
    forget = personal_data._forget

    def late(*arguments: Any) -> None:
        discussion.post("second", by="bob")
        forget(*arguments)

    monkeypatch.setattr(personal_data, "_forget", late)
    personal_data.erase(runtime, "bob")

    # The comment and its entry.
    assert remaining(runtime) == 2
    monkeypatch.undo()
    personal_data.erase(runtime, "bob")
    assert "bob" not in everything(runtime).lower()
