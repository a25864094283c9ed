"""Repairs by schedules and commands, and what they leave alone."""

import dataclasses
from typing import Any

import pytest

from app import create_app
from chalicelib.bounds import Bounds, CommentBounds
from chalicelib.comments import nodes, repair
from chalicelib.comments.marking import flags
from chalicelib.comments.marking.flag_forms import CommentFlag
from chalicelib.comments.moderation import queue as moderation
from chalicelib.comments.moderation.queue import PENDING
from chalicelib.comments.rendered import RENDERER
from chalicelib.comments.shapes import CommentFields, NodeGeneration
from chalicelib.comments.store import Store
from chalicelib.comments.stores import store_of
from chalicelib.runtime import Runtime
from local.schedules import run_schedule
from tests.comments.support.crashes import Crash
from tests.comments.support.discussion import PEOPLE, Discussion, Layout
from tests.support.clock import Clock
from tests.support.workers import Workers


def test_counts_that_a_crash_left_wrong_are_repaired(
    discussion: Discussion, layout: Layout, clock: Clock
) -> None:
    discussion.post("counted")
    if layout.store != "embedded":
        crash_before_counting(discussion)
        assert discussion.node["counts"] == {"visible": 1, "pending": 0}
    else:
        falsify_counts(discussion)
    clock.advance(minutes=15)

    assert repair.repair_counts(discussion.runtime) == 1

    visible = len(discussion.texts())
    assert discussion.node["counts"] == {"visible": visible, "pending": 0}
    assert repair.repair_counts(discussion.runtime) == 0


def crash_before_counting(discussion: Discussion) -> None:
    def crash(*_: object) -> bool:
        raise Crash

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(nodes, "count", crash)
        with pytest.raises(Crash):
            discussion.post("stored, but not counted")


def falsify_counts(discussion: Discussion) -> None:
    nodes.NODES.of(discussion.runtime.database).update_one(
        {"_id": discussion.node_id}, {"$inc": {"counts.visible": 7}}
    )


def test_counts_of_a_node_in_use_are_left_alone(discussion: Discussion, clock: Clock) -> None:
    """A write in flight would be counted twice: by the repair, and by itself."""
    discussion.post("first")
    falsify_counts(discussion)
    clock.advance(minutes=14)

    assert repair.repair_counts(discussion.runtime) == 0


def test_a_node_that_is_written_to_while_it_is_compared_is_compared_again(
    discussion: Discussion, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion.post("first")
    clock.advance(minutes=15)
    store = type(store_of(discussion.runtime, discussion.node))
    count = store.count

    def written_meanwhile(*args: Any) -> Any:
        counted = count(*args)
        clock.advance(seconds=1)
        discussion.post("second")
        return counted

    with monkeypatch.context() as patched:
        patched.setattr(store, "count", written_meanwhile)
        repair.repair_counts(discussion.runtime)

    assert discussion.node["written"] == clock()
    assert discussion.node["counts"]["visible"] == 2


def test_right_counts_are_confirmed_in_silence(discussion: Discussion, clock: Clock) -> None:
    for state in ("pending", "hidden", "visible"):
        discussion.set_state(discussion.post(state)["id"], state)
    discussion.delete(discussion.post("deleted")["id"])
    clock.advance(minutes=15)

    assert repair.repair_counts(discussion.runtime) == 0
    assert discussion.node["written"] is None


def test_a_comment_that_flags_hold_back_is_counted_right(
    discussion: Discussion, clock: Clock
) -> None:
    comment = discussion.post("flagged")["id"]
    discussion.set_state(discussion.post("waits")["id"], "pending")
    staff, said = PEOPLE["mo"], CommentFlag(reason="abuse")
    assert staff is not None
    flags.flag(discussion.runtime, discussion.node_id, comment, staff, said)
    assert discussion.stored()[comment]["state"] == "pending"
    clock.advance(minutes=15)

    assert repair.repair_counts(discussion.runtime) == 0


def test_the_queue_is_mended_with_the_counts(discussion: Discussion, clock: Clock) -> None:
    waiting = discussion.post("waits")["id"]
    discussion.set_state(waiting, "pending")
    rows = discussion.runtime.database[PENDING.name]
    rows.delete_many({})
    clock.advance(minutes=15)

    assert repair.repair_counts(discussion.runtime) == 1

    assert [row["id"] for row in rows.find()] == [waiting]


def test_the_queue_loses_rows_without_a_pending_comment(
    discussion: Discussion, clock: Clock
) -> None:
    comment = discussion.post("visible")
    queue = discussion.runtime.database[PENDING.name]
    moderation.settle(discussion.runtime.database, discussion.node, {**comment, "state": "pending"})
    assert queue.count_documents({}) == 1
    clock.advance(minutes=15)

    assert repair.repair_counts(discussion.runtime) == 1

    assert queue.count_documents({}) == 0


def make_two_wrong(runtime: Runtime, clock: Clock, layout: Layout) -> list[Discussion]:
    """Make two quiet discussions whose counts are wrong."""
    made = [Discussion.make(runtime, layout, name) for name in ("a-page", "b-page")]
    for discussion in made:
        discussion.post("x")
        falsify_counts(discussion)
        clock.advance(minutes=1)
    clock.advance(minutes=15)
    return made


def test_a_node_that_moves_meanwhile_does_not_keep_the_others_from_being_compared(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    moving, other = make_two_wrong(runtime, clock, Layout("embedded", threaded=False))

    def moved_first(runtime: Runtime, node: NodeGeneration) -> Store:
        if node["_id"] == "a-page":
            moving.move("documents")
        return store_of(runtime, node)

    monkeypatch.setattr(repair, "store_of", moved_first)
    assert repair.repair_counts(runtime) == 1

    assert other.node["counts"] == {"visible": 1, "pending": 0}


def test_a_node_whose_comparison_kills_the_process_keeps_no_other_from_being_compared(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    large, other = make_two_wrong(runtime, clock, Layout("documents", threaded=False))

    def end_process(runtime: Runtime, node: NodeGeneration) -> Store:
        if node["_id"] == "a-page":
            raise Crash
        return store_of(runtime, node)

    with monkeypatch.context() as patched:
        patched.setattr(repair, "store_of", end_process)
        with pytest.raises(Crash):
            repair.repair_counts(runtime)
        assert repair.repair_counts(runtime) == 1
    assert other.node["counts"] == {"visible": 1, "pending": 0}
    assert large.node["counts"] != {"visible": 1, "pending": 0}
    clock.advance(minutes=31)
    assert repair.repair_counts(runtime) == 1
    assert large.node["counts"] == {"visible": 1, "pending": 0}


def test_old_comments_are_rendered_again(discussion: Discussion) -> None:
    posted = [discussion.post(f"*{number}*")["id"] for number in range(3)]
    discussion.delete(posted[2])
    store = store_of(discussion.runtime, discussion.node)
    for comment_id in posted[:2]:
        store.change(discussion.node, comment_id, {"renderer": "old", "html": "old"}, {})

    app = create_app(discussion.runtime)
    answer = app.handler_map["command"]({"command": "rerender_comments"}, None)

    assert answer == {"rendered": 2, "too_large": 0, "next": None}
    for number, comment_id in enumerate(posted[:2]):
        comment = discussion.get(comment_id)
        assert comment["html"] == f"<p><em>{number}</em></p>\n"
        assert (comment["renderer"], comment["edited"]) == (RENDERER, None)
    assert repair.render_again(discussion.runtime)["rendered"] == 0


def test_images_follow_the_sites_that_show_them(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted = discussion.post("![A boat](https://pictures.example/boat.png)")["id"]
    code = discussion.post("`![A boat](boat.png)`")["id"]
    link, as_code = discussion.get(posted)["html"], discussion.get(code)["html"]
    assert link
    for sites, has_image in ((("default",), True), ((), False)):
        monkeypatch.setitem(vars(discussion.runtime.settings), "image_sites", sites)
        assert repair.render_again(discussion.runtime)["rendered"] == 1
        assert repair.render_again(discussion.runtime)["rendered"] == 0
        assert ("<img " in str(discussion.get(posted)["html"])) == has_image

    assert (discussion.get(posted)["html"], discussion.get(code)["html"]) == (link, as_code)


def test_a_comment_that_the_last_release_nested_deeply_is_rendered_again(
    discussion: Discussion,
) -> None:
    posted, deep = discussion.post("* " * 49 + "x")["id"], "<ul><li>" * 49 + "x"
    rules_2: CommentFields = {"renderer": "markdown-it-py 4.3, nh3 0.3, rules 2", "html": deep}
    store_of(discussion.runtime, discussion.node).change(discussion.node, posted, rules_2, {})

    assert repair.render_again(discussion.runtime)["rendered"] == 1

    assert (discussion.get(posted)["html"] or "").count("<ul>") == 8
    assert discussion.get(posted)["text"] == "* " * 49 + "x"


def test_a_comment_of_the_last_rules_is_shown_until_it_is_rendered_again(
    discussion: Discussion,
) -> None:
    html = "<h1>a</h1>\n<p>b\nc</p>\n"
    posted = discussion.post("# a\nb\nc")["id"]
    rules_3: CommentFields = {"renderer": "markdown-it-py 4.3, nh3 0.3, rules 3", "html": html}
    store_of(discussion.runtime, discussion.node).change(discussion.node, posted, rules_3, {})

    assert discussion.get(posted)["html"] == html
    assert repair.render_again(discussion.runtime)["rendered"] == 1

    assert discussion.get(posted)["html"] == "<p><strong>a</strong></p>\n<p>b<br>\nc</p>\n"
    assert discussion.get(posted)["text"] == "# a\nb\nc"


def test_a_comment_that_becomes_too_large_does_not_keep_the_others_from_being_rendered(
    discussion: Discussion,
) -> None:
    longest, other = discussion.post("x" * 10_000)["id"], discussion.post("other")["id"]
    store = store_of(discussion.runtime, discussion.node)
    for comment_id in (longest, other):
        store.change(discussion.node, comment_id, {"renderer": "old"}, {})

    bounds = Bounds(comments=CommentBounds(html_bytes=10_000))
    answer = repair.render_again(dataclasses.replace(discussion.runtime, bounds=bounds))

    assert answer == {"rendered": 1, "too_large": 1, "next": None}
    assert discussion.get(longest)["renderer"] == "old"
    assert discussion.get(other)["renderer"] == RENDERER


def test_rendering_again_continues_after_the_last_node(runtime: Runtime) -> None:
    for number in range(3):
        discussion = Discussion.make(runtime, Layout("documents", threaded=True), f"page-{number}")
        posted = discussion.post("x")["id"]
        store_of(runtime, discussion.node).change(discussion.node, posted, {"renderer": ""}, {})

    first = repair.render_again(runtime, most_nodes=2)
    second = repair.render_again(runtime, after=first["next"], most_nodes=2)

    assert first == {"rendered": 2, "too_large": 0, "next": "page-1"}
    assert second == {"rendered": 1, "too_large": 0, "next": None}


def test_the_schedule_does_it_all(discussion: Discussion, clock: Clock, workers: Workers) -> None:
    assert workers.drain() == 0
    discussion.post("first")
    falsify_counts(discussion)
    clock.advance(minutes=15)

    run_schedule(create_app(discussion.runtime), "tend_comments")

    assert discussion.node["counts"]["visible"] == 1


def test_a_post_that_crashed_before_it_was_stored_leaves_a_harmless_gap(
    discussion: Discussion, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise Crash

    discussion.post("first")
    with monkeypatch.context() as patched:
        patched.setattr(type(store_of(discussion.runtime, discussion.node)), "add", crash)
        with pytest.raises(Crash):
            discussion.post("lost with its process")

    assert discussion.post("second")["seq"] == 3
    assert discussion.texts() == ["first", "second"]
