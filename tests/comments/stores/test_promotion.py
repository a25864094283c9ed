"""A move that is asked for, crashes, is refused, or is too large for one call."""

import dataclasses
import itertools
from typing import Any

import pytest

from bench.discussions import made_up
from chalicelib.comments import jobs, nodes
from chalicelib.comments.errors import StoreTooSmall
from chalicelib.comments.stores import promotion, store_of
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from tests.comments.support.crashes import Crash, crash_at
from tests.comments.support.discussion import Discussion, Layout
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}


STEPS = ["mark_for_sweep", "renewing", "_switch"]
MOVES = [
    (Layout("documents", threaded=True), "embedded"),
    (Layout("embedded", threaded=True), "documents"),
    (Layout("documents", threaded=False), "buckets"),
    (Layout("buckets", threaded=False), "documents"),
    (Layout("buckets", threaded=False), "embedded"),
    (Layout("embedded", threaded=False), "buckets"),
]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("layout", "store"), MOVES, ids=str)
def test_a_crash_leaves_the_old_copy_whole_and_a_second_run_finishes(
    runtime: Runtime, clock: Clock, layout: Layout, store: Any, step: str
) -> None:
    discussion = Discussion.make(runtime, layout)
    posted = [discussion.post(str(number))["id"] for number in range(120)]
    with pytest.MonkeyPatch.context() as monkeypatch:
        crash_at(monkeypatch, step)
        with pytest.raises(Crash):
            discussion.move(store)

    assert discussion.node["store"] == layout.store
    assert [comment["id"] for comment in discussion.walk()] == posted
    with pytest.raises(Unavailable):
        discussion.move(store)

    clock.advance(milliseconds=runtime.settings.lease_ms)
    posted.append(discussion.post("after the crash")["id"])
    discussion.edit(posted[0], "changed since the crash")
    assert discussion.move(store)["store"] == store

    assert [comment["id"] for comment in discussion.walk()] == posted
    assert discussion.texts()[0] == "changed since the crash"
    assert discussion.node["counts"] == {"visible": 121, "pending": 0}


def test_a_crash_right_after_the_switch_has_moved_the_node(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    posted = discussion.post("first")["id"]
    crash_at(monkeypatch, "_forget_want")
    with pytest.raises(Crash):
        discussion.move("buckets")

    assert discussion.node["store"] == "buckets"
    assert [comment["id"] for comment in discussion.walk()] == [posted]
    assert discussion.post("second")["seq"] == 2


def test_nothing_is_posted_while_a_node_moves_and_the_caller_may_retry(
    runtime: Runtime, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    crash_at(monkeypatch, "_switch")
    with pytest.raises(Crash):
        discussion.move("buckets")

    impatient = dataclasses.replace(
        runtime, settings=runtime.settings.model_copy(update={"post_budget_ms": 50})
    )
    with pytest.raises(Unavailable) as refused:
        Discussion(impatient, discussion.node_id).post("too early")

    assert refused.value.headers["Retry-After"] == "1"
    assert client.get("/nodes/a-page/comments").json["comments"] == []


def test_a_store_that_is_too_small_is_refused_and_nothing_changes(runtime: Runtime) -> None:
    small = dataclasses.replace(
        runtime, settings=runtime.settings.model_copy(update={"embedded_max_bytes": 4_096})
    )
    discussion = Discussion.make(small, Layout("documents", threaded=True))
    posted = [discussion.post("x" * 100)["id"] for _ in range(30)]

    with pytest.raises(StoreTooSmall):
        discussion.move("embedded")

    assert discussion.node["store"] == "documents"
    assert [comment["id"] for comment in discussion.walk()] == posted
    assert discussion.post("still open")["seq"] == 31


def test_a_publisher_moves_a_small_node_at_once(client: Client, runtime: Runtime) -> None:
    Discussion.make(runtime, Layout("documents", threaded=False)).post("first")
    publisher = client.as_("paula", roles=["publisher"])

    reply = publisher.post("/nodes/a-page/store", store="buckets")

    assert (reply.status, reply.json["store"], reply.json["moving_to"]) == (200, "buckets", None)
    assert publisher.post("/nodes/a-page/store", store="buckets").status == 200


@pytest.mark.bounds(comments={"inline_move_comments": 10})
def test_a_large_node_moves_from_the_queue(
    client: Client, runtime: Runtime, workers: Workers
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    posted = [discussion.post(str(number))["id"] for number in range(11)]

    reply = client.as_("paula", roles=["publisher"]).post("/nodes/a-page/store", store="buckets")

    assert (reply.status, reply.json["moving_to"]) == (202, "buckets")
    assert discussion.node["store"] == "documents"
    assert workers.drain() == 1
    node = client.get("/nodes/a-page").json
    assert (node["store"], node["moving_to"]) == ("buckets", None)
    assert [comment["id"] for comment in discussion.walk()] == posted


@pytest.mark.bounds(comments={"inline_move_comments": 0})
def test_a_lost_message_is_sent_again(runtime: Runtime, workers: Workers) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    discussion.post("first")
    nodes.want_store(runtime.database, discussion.node_id, "buckets")

    assert jobs.run_due(runtime)["moves_sent"] == 1
    jobs.run_due(runtime)
    assert workers.drain() == 2
    assert discussion.node["store"] == "buckets"
    assert jobs.run_due(runtime)["moves_sent"] == 0


def test_only_a_sites_publisher_moves_a_node_and_only_to_a_store_that_fits(
    client: Client, runtime: Runtime
) -> None:
    Discussion.make(runtime, Layout("documents", threaded=True))
    publisher = client.as_("paula", roles=["publisher"])
    other = client.as_("pete", roles=["publisher"], sites=["shop"])
    moderator = client.as_("mo", roles=["moderator"])

    reply = publisher.post("/nodes/a-page/store", store="buckets")
    assert (reply.status, reply.code) == (422, "cannot_thread")
    assert "documents and embedded" in reply.json["title"]
    assert client.post("/nodes/a-page/store", store="embedded").status == 401
    for caller in (other, moderator, client.as_("ann")):
        assert caller.post("/nodes/a-page/store", store="embedded").status == 403
    assert publisher.post("/nodes/none/store", store="embedded").status == 404
    assert publisher.post("/nodes/a-page/store", store="paper").status == 422


@pytest.mark.parametrize("change", [{"threaded": False}, {"store": "embedded"}], ids=str)
def test_the_layout_of_an_empty_node_stays_while_it_moves(
    runtime: Runtime, client: Client, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=True))
    with monkeypatch.context() as patched:
        crash_at(patched, "_switch")
        with pytest.raises(Crash):
            discussion.move("embedded")

    reply = client.as_("paula", roles=["publisher"]).put("/nodes/a-page", **PAGE, **change)

    assert (reply.status, reply.code) == (503, "unavailable")
    assert (discussion.node["store"], discussion.node["threaded"]) == ("documents", True)


def test_a_wanted_move_goes_on_after_a_crash_though_nobody_posts(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False))
    discussion.post("first")
    nodes.want_store(runtime.database, discussion.node_id, "buckets")
    with monkeypatch.context() as patched:
        crash_at(patched, "_switch")
        with pytest.raises(Crash):
            promotion.move_wanted(runtime, discussion.node_id)

    clock.advance(milliseconds=runtime.settings.lease_ms)
    promotion.move_wanted(runtime, discussion.node_id)

    assert (discussion.node["store"], discussion.node["wanted_store"]) == ("buckets", None)


def test_a_node_of_a_thousand_comments_fits_into_itself_and_one_more_does_not(
    runtime: Runtime,
) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=True))
    *thousand, beyond = itertools.chain.from_iterable(made_up(1_001, threaded=False))
    store_of(runtime, discussion.node).load(discussion.node, [thousand])

    assert promotion.request_move(runtime, discussion.node, "embedded")["store"] == "embedded"
    discussion.move("documents")
    store_of(runtime, discussion.node).load(discussion.node, [[beyond]])
    for move in (promotion.request_move, lambda *_: discussion.move("embedded")):
        with pytest.raises(StoreTooSmall):
            move(runtime, discussion.node, "embedded")
