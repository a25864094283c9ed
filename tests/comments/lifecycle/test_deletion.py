"""Deleting a node: at once for everybody, whole after any crash, and its id free again."""

from typing import Any

import pytest

from app import create_app
from chalicelib import deadlines
from chalicelib.comments import jobs, nodes, repair
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.errors import UnknownNode
from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.moderation import queue
from chalicelib.comments.stores import promotion
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime
from local.schedules import run_schedule
from tests.comments.support.crashes import Crash, crash
from tests.comments.support.deletion import delete, filled, left
from tests.comments.support.discussion import Discussion, Layout
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}


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
        jobs.run_due(runtime)
        runs += 1

    # Of the last page of a step, a bucket cannot tell that it is the last of all.
    assert runs == {"embedded": 1, "documents": 3, "buckets": 4}[layout.store]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let each step of entries take a third of the time."""
    forget, left = entries.forget, [30.0]

    def be_slow(*given: Any) -> bool:
        left[0] -= 10
        return forget(*given)

    monkeypatch.setattr(deadlines, "remaining", lambda: left[0])
    monkeypatch.setattr(entries, "forget", be_slow)
    return left


def entries_left(runtime: Runtime) -> int:
    return ENTRIES.of(runtime.database).count_documents({})


@pytest.mark.bounds(comments={"removal_step_comments": 25})
def test_the_entries_of_a_large_node_go_step_by_step(
    runtime: Runtime, layout: Layout, clock: Clock, slow: list[float]
) -> None:
    delete(filled(runtime, layout, 120))
    assert entries_left(runtime) == 95
    clock.advance(hours=1)
    promotion.sweep(runtime)

    removed = []
    for _ in range(2):
        slow[0] = 30
        removed.append((vacancies.sweep(runtime), entries_left(runtime)))

    assert removed == [(0, 45), (1, 0)]


@pytest.mark.bounds(comments={"removal_step_comments": 25})
def test_the_next_node_waits_for_the_end_of_a_large_one(
    runtime: Runtime, layout: Layout, slow: list[float]
) -> None:
    delete(filled(runtime, layout, 70))
    slow[0] = 30
    with pytest.raises(Unavailable):
        Discussion.make(runtime, layout)
    slow[0] = 30

    assert Discussion.make(runtime, layout).walk(by="mo") == []
    assert entries_left(runtime) == 0


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
    assert jobs.run_due(runtime)["counts_repaired"] == 0
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
        jobs.run_due(runtime)
        assert len(discussion.texts(by="mo")) == 120
        delete(discussion)
    with pytest.raises(UnknownNode):
        discussion.page()
    clock.advance(hours=1)
    jobs.run_due(runtime)
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
    assert jobs.run_due(runtime)["moves_sent"] == 0
    assert repair.render_again(runtime) == {"rendered": 0, "too_large": 0, "next": None}
    clock.advance(hours=1)
    jobs.run_due(runtime)
    assert left(runtime) == {}
