"""Deleting a node: at once for everybody, whole after any crash, and its id free again."""

import contextlib
import threading
from typing import Any

import pytest

from app import create_app
from chalicelib.comments import nodes, repair, schedules
from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.discussion import posting
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.models import NodeSettings
from chalicelib.comments.moderation import queue
from chalicelib.comments.shapes import Comment, Node, StoreName
from chalicelib.comments.store import Added
from chalicelib.comments.stores import promotion, store_of
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.errors import Unavailable
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from local.schedules import run_schedule
from tests.comments.discussion.test_concurrency import in_threads, real_time
from tests.comments.support.discussion import PUBLISHER, Discussion, Layout
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
LEFT = (nodes.NODES, COMMENTS, PAGES, queue.PENDING, promotion.GENERATIONS)


class Crash(BaseException):
    """The process ends here."""


def crash(*_: object, **__: object) -> Any:
    raise Crash


def delete(discussion: Discussion) -> None:
    discussion_nodes.delete_node(discussion.runtime, discussion.node_id, PUBLISHER)


def left(runtime: Runtime) -> dict[str, int]:
    """Return how many documents each collection of comments still has."""
    counts = {each.name: runtime.database[each.name].count_documents({}) for each in LEFT}
    return {name: number for name, number in counts.items() if number}


def filled(runtime: Runtime, layout: Layout, number: int = 120) -> Discussion:
    """Return a discussion of so many comments, two of which wait for a moderator."""
    discussion = Discussion.make(runtime, layout)
    posted = [discussion.post(f"old {index}")["id"] for index in range(number)]
    for comment_id in posted[:2]:
        discussion.set_state(comment_id, "pending")
    return discussion


def test_a_deleted_node_is_unknown_to_everybody_at_once(
    runtime: Runtime, layout: Layout, client: Client
) -> None:
    discussion = filled(runtime, layout)
    comment = next(iter(discussion.stored()))
    moderator = client.as_("mo", roles=["moderator"])

    assert client.as_("paula", roles=["publisher"]).delete("/nodes/a-page").status == 204

    at = "/nodes/a-page"
    for reply in (
        client.get(at),
        client.get(f"{at}/comments"),
        moderator.get(f"{at}/comments"),
        client.get(f"{at}/comments/{comment}"),
        client.get(f"{at}/comments/{comment}/thread"),
        client.as_("ann").post(f"{at}/comments", text="x"),
        moderator.patch(f"{at}/comments/{comment}", text="x"),
        moderator.delete(f"{at}/comments/{comment}"),
        moderator.post(f"{at}/comments/{comment}/state", state="hidden"),
        client.as_("paula", roles=["publisher"]).post(f"{at}/store", store="documents"),
        client.as_("paula", roles=["publisher"]).delete(at),
    ):
        assert (reply.status, reply.code) == (404, "unknown_node")
    assert client.get("/comment-counts?nodes=a-page").json == {"a-page": 0}
    assert moderator.get("/moderation/comments").json["comments"] == []


def test_only_the_publisher_of_its_site_deletes_a_node(client: Client) -> None:
    ours = client.as_("paula", roles=["publisher"], sites=["blog"])
    ours.put("/nodes/blog:a-page", **PAGE)

    assert client.delete("/nodes/blog:a-page").status == 401
    for caller in (
        client.as_("ann"),
        client.as_("mo", roles=["moderator"]),
        client.as_("pete", roles=["publisher"], sites=["shop"]),
        client.as_("paul", roles=["publisher"]),
    ):
        assert caller.delete("/nodes/blog:a-page").status == 403
    assert ours.delete("/nodes/blog:none").code == "unknown_node"
    assert ours.delete("/nodes/blog:a-page").status == 204
    assert client.as_("root", roles=["admin"]).put("/nodes/blog:a-page", **PAGE).status == 201
    assert client.as_("root", roles=["admin"]).delete("/nodes/blog:a-page").status == 204


@pytest.mark.bounds(comments={"removal_step_comments": 100})
def test_nothing_of_a_deleted_node_is_left(runtime: Runtime, layout: Layout, clock: Clock) -> None:
    """Neither of what is served, nor of what an older move left."""
    discussion = filled(runtime, layout, 250)
    if layout.store != "documents":
        discussion.move("documents")
        discussion.move(layout.store)

    delete(discussion)
    clock.advance(hours=1)
    run_schedule(create_app(runtime), "tend_comments")

    assert left(runtime) == {}


@pytest.mark.bounds(comments={"removal_step_comments": 100, "removal_steps": 1})
def test_a_large_node_goes_in_bounded_steps_and_runs(
    runtime: Runtime, layout: Layout, clock: Clock
) -> None:
    discussion = filled(runtime, layout, 350)
    delete(discussion)
    clock.advance(hours=1)

    runs = 0
    while left(runtime):
        schedules.run_due(runtime)
        runs += 1

    # Of the last page of a step, a bucket cannot tell that it is the last of all.
    assert runs == {"embedded": 1, "documents": 3, "buckets": 4}[layout.store]


def test_an_id_can_be_used_again_at_once_and_shows_nothing_of_before(
    runtime: Runtime, layout: Layout, clock: Clock
) -> None:
    old = filled(runtime, layout)
    comment = next(iter(old.stored()))
    cursor = old.page(limit=1)["next"]
    delete(old)

    new = Discussion.make(runtime, layout)
    posted = new.post("new")

    assert posted["seq"] == 1
    assert [each["id"] for each in new.walk(by="mo")] == [posted["id"]]
    assert [each["id"] for each in new.page(cursor=cursor, by="mo")["comments"]] == []
    assert comment not in new.stored()
    clock.advance(hours=1)
    assert schedules.run_due(runtime)["counts_mended"] == 0
    assert (new.texts(), new.node["counts"]) == (["new"], {"visible": 1, "pending": 0})
    rows = 0 if layout.store == "embedded" else 1
    assert (
        sum(runtime.database[name.name].count_documents({}) for name in (COMMENTS, PAGES)) == rows
    )


@pytest.mark.parametrize(
    ("module", "step"),
    [(vacancies, "_vacate"), (queue, "forget"), (vacancies, "store_of")],
    ids=lambda given: getattr(given, "__name__", given),
)
def test_a_deletion_that_crashes_is_all_or_nothing_and_finished_by_the_schedule(
    runtime: Runtime, layout: Layout, clock: Clock, module: Any, step: str
) -> None:
    discussion = filled(runtime, layout)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, step, crash)
        with pytest.raises(Crash):
            delete(discussion)

    if step == "_vacate":
        assert len(discussion.texts(by="mo")) == 120
        clock.advance(hours=1)
        schedules.run_due(runtime)
        assert len(discussion.texts(by="mo")) == 120
        delete(discussion)
    with pytest.raises(UnknownNode):
        discussion.page()
    clock.advance(hours=1)
    schedules.run_due(runtime)
    assert left(runtime) == {}


@pytest.mark.parametrize("is_late", [False, True], ids=["numbered", "stored"])
@pytest.mark.parametrize("again", [False, True], ids=["gone", "made-again"])
def test_a_post_that_is_under_way_goes_with_the_node(
    runtime: Runtime, layout: Layout, clock: Clock, *, again: bool, is_late: bool
) -> None:
    """The node is deleted after the post was numbered, or after it was stored."""
    discussion = Discussion.make(runtime, layout, moderation="before")
    add = posting._add

    def racing(runtime: Runtime, node: Node, comment: Comment) -> Added | None:
        patched.undo()
        added = add(runtime, node, comment) if is_late else None
        delete(discussion)
        if again:
            Discussion.make(runtime, layout)
        return added if is_late else add(runtime, node, comment)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(posting, "_add", racing)
        is_counted = is_late and layout.store == "embedded"
        with contextlib.nullcontext() if is_counted else pytest.raises(UnknownNode):
            discussion.post("under way")
    assert queue.PENDING.name not in left(runtime)

    if again:
        assert discussion.stored() == {}
        delete(discussion)
    clock.advance(hours=1)
    schedules.run_due(runtime)
    assert left(runtime) == {}


def test_a_post_that_is_refused_leaves_no_row_of_the_queue(
    runtime: Runtime, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node is deleted between a post's number and its row."""
    discussion = Discussion.make(runtime, layout, moderation="before")

    monkeypatch.setattr(posting, "_parent", lambda *_: delete(discussion))
    with pytest.raises(UnknownNode):
        discussion.post("refused")

    assert queue.PENDING.name not in left(runtime)


def test_a_move_that_is_under_way_ends_without_a_trace(
    runtime: Runtime, layout: Layout, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = filled(runtime, layout)
    target: StoreName = "documents" if layout.store == "embedded" else "embedded"
    switch = promotion._switch

    def deleted_first(*args: Any) -> Any:
        delete(discussion)
        return switch(*args)

    monkeypatch.setattr(promotion, "_switch", deleted_first)
    with pytest.raises((Unavailable, UnknownNode)):
        discussion.move(target)

    clock.advance(hours=1)
    schedules.run_due(runtime)
    assert left(runtime) == {}


@pytest.mark.bounds(comments={"inline_move_comments": 0})
def test_a_message_and_settings_for_a_deleted_node_do_nothing(
    runtime: Runtime, clock: Clock, workers: Workers
) -> None:
    discussion = filled(runtime, Layout("documents", threaded=False), 3)
    promotion.request_move(runtime, discussion.node, "buckets")
    as_read = discussion.node
    delete(discussion)

    assert workers.drain() == 1
    with pytest.raises(UnknownNode):
        nodes.want_store(runtime.database, discussion.node_id, "buckets")
    settings = NodeSettings.model_validate({**PAGE, "locked": False})
    with pytest.raises(UnknownNode):
        nodes.update(runtime.database, as_read, settings)
    assert schedules.run_due(runtime)["moves_sent"] == 0
    assert repair.render_again(runtime) == {"rendered": 0, "too_large": 0, "next": None}
    clock.advance(hours=1)
    schedules.run_due(runtime)
    assert left(runtime) == {}


def test_a_row_of_the_queue_that_a_crashed_post_left_goes_with_the_node(
    runtime: Runtime, layout: Layout, clock: Clock
) -> None:
    discussion = Discussion.make(runtime, layout, moderation="before")

    def deleted_then_crash(*_: object) -> Any:
        delete(discussion)
        crash()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(posting, "_add", deleted_then_crash)
        patched.setattr(queue, "forget", lambda *_: None)
        with pytest.raises(Crash):
            discussion.post("queued, then the process ended")
    assert left(runtime)[queue.PENDING.name] == 1

    clock.advance(hours=1)
    schedules.run_due(runtime)

    assert left(runtime) == {}


def test_the_mark_stays_until_no_late_writer_can_be_left(runtime: Runtime, clock: Clock) -> None:
    discussion = filled(runtime, Layout("documents", threaded=False), 3)
    late = discussion.node
    delete(discussion)
    clock.advance(minutes=15)
    assert schedules.run_due(runtime)["vacancies_removed"] == 0

    orphan = add_late(runtime, late)
    assert left(runtime)[COMMENTS.name] == 1
    clock.advance(minutes=1)

    done = schedules.run_due(runtime)
    assert (done["generations_removed"], done["vacancies_removed"]) == (1, 1)
    assert orphan is Added.INSERTED
    assert left(runtime) == {}


def add_late(runtime: Runtime, node: Node) -> Added:
    """Store a comment under a node as it was read long ago."""
    other = Discussion.make(runtime, Layout("embedded", threaded=False), "other")
    comment = other.post("late")
    added = store_of(runtime, node).add(node, comment)
    nodes.NODES.of(runtime.database).delete_one({"_id": "other"})
    return added


def test_writers_and_deletions_at_once_leave_no_orphan(
    runtime: Runtime, layout: Layout, clock: Clock
) -> None:
    """Posts, deletions and new nodes under one id: what is listed is what was acknowledged last."""
    real = real_time(runtime)
    discussion = Discussion.make(real, layout, moderation="before")
    stop = threading.Event()

    def work(worker: int) -> list[str]:
        if worker:
            kept = []
            while not stop.is_set():
                try:
                    kept.append(discussion.post("x", by=f"user-{worker}")["id"])
                except UnknownNode:
                    continue
            return kept
        try:
            for _ in range(12):
                delete(discussion)
                Discussion.make(real, layout, moderation="before")
        finally:
            stop.set()
        return []

    in_threads(4, work)
    moderator = Principal("mo", "Mo", frozenset({"moderator"}))
    listed = {comment["id"] for comment in discussion.walk(by="mo")}
    assert listed == set(discussion.stored())
    assert discussion.node["counts"] == {"visible": 0, "pending": len(listed)}

    clock.time = real.now()
    clock.advance(hours=1)
    schedules.run_due(runtime)
    query = PageQuery(limit=200)
    waiting = queue.list_pending(runtime, query, moderator)["comments"]
    assert {row["id"] for row in waiting} == listed
    delete(Discussion(runtime, discussion.node_id))
    clock.advance(hours=1)
    schedules.run_due(runtime)
    assert left(runtime) == {}
