"""Moving a node to another id: whole or not at all, with its writers, and found from the old id."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.comments import nodes, schedules
from chalicelib.comments.discussion import editing, posting
from chalicelib.comments.errors import NodeExists, NodeMoved, UnknownNode
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.moderation import queue
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import Added
from chalicelib.comments.stores import promotion
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.errors import Unavailable
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from tests.comments.discussion.test_concurrency import in_threads, real_time
from tests.comments.support.discussion import Discussion, Layout
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}
OLD, NEW = "a-page", "blog:a-page"
ADMIN = Principal("root", "Root", frozenset({"admin"}))


class Crash(BaseException):
    """The process ends here."""


def crash(*_: object, **__: object) -> Any:
    raise Crash


@pytest.fixture
def admin(client: Client) -> Client:
    return client.as_("root", roles=["admin"])


def filled(runtime: Runtime, layout: Layout, number: int = 12) -> Discussion:
    """Return a discussion with replies, a tombstone, hidden and waiting comments."""
    discussion = Discussion.make(runtime, layout, OLD)
    posted: list[str] = []
    for index in range(number):
        parent = posted[index // 3] if layout.threaded and index % 2 else None
        posted.append(
            discussion.post(f"text {index}", parent, by="ann" if index % 2 else "bob")["id"]
        )
    discussion.set_state(posted[1], "pending")
    discussion.set_state(posted[2], "hidden")
    discussion.edit(posted[3], "edited")
    discussion.delete(posted[0])
    return discussion


def waiting(runtime: Runtime) -> list[tuple[str, str, str]]:
    rows = queue.list_pending(runtime, PageQuery(limit=200), ADMIN)["comments"]
    return [(row["site"], row["node_id"], row["id"]) for row in rows]


def rows(runtime: Runtime) -> int:
    """Return how many rows of comments are stored, under whatever node and generation."""
    return sum(runtime.database[each.name].count_documents({}) for each in (COMMENTS, PAGES))


def told(discussion: Discussion, order: Any, by: str | None) -> list[dict[str, Any]]:
    return [{**each, "node_id": None} for each in discussion.walk(order, limit=5, by=by)]


def test_everything_comes_along(runtime: Runtime, layout: Layout, clock: Clock) -> None:
    old = filled(runtime, layout)
    readers = list(itertools.product(("oldest", "newest"), (None, "ann", "bob", "mo")))
    before = [told(old, *reader) for reader in readers]
    stored, node = old.stored(), old.node
    ((_, _, pending),) = waiting(runtime)

    moved = relocation.request(runtime, OLD, NEW)

    new = Discussion(runtime, NEW)
    assert [told(new, *reader) for reader in readers] == before
    assert new.stored() == stored
    assert (moved["_id"], moved["site"]) == (NEW, "blog")
    kept = {"title", "url", "store", "threaded", "moderation", "locked", "last_seq", "counts"}
    assert {k: v for k, v in moved.items() if k in kept} == {
        k: v for k, v in node.items() if k in kept
    }
    assert waiting(runtime) == [("blog", NEW, pending)]
    assert new.post("after the move")["seq"] == node["last_seq"] + 1
    number = rows(runtime)
    clock.advance(hours=1)
    assert schedules.run_due(runtime)["counts_mended"] == 0
    assert rows(runtime) <= number
    assert {row["node_id"] for row in runtime.database[COMMENTS.name].find()} <= {NEW}
    assert {row["node_id"] for row in runtime.database[PAGES.name].find()} <= {NEW}


def test_calls_at_the_old_id_are_sent_to_the_new_one(
    runtime: Runtime, layout: Layout, admin: Client, client: Client
) -> None:
    old = filled(runtime, layout)
    comment = next(each["id"] for each in old.walk() if each["text"] == "edited")
    made = admin.post(f"/nodes/{OLD}/move", to=NEW)
    assert (made.status, made.json["id"], made.json["site"]) == (200, NEW, "blog")
    assert made.headers["Location"] == f"/nodes/{NEW}"

    page = client.get(f"/nodes/{OLD}/comments?order=newest&limit=3")
    assert (page.status, page.code) == (308, "node_moved")
    assert page.headers["Location"] == f"/nodes/{NEW}/comments?order=newest&limit=3"
    assert client.get(page.headers["Location"]).status == 200
    moderator, ann = client.as_("mo", roles=["moderator"]), client.as_("ann")
    at = f"/nodes/%s/comments/{comment}"
    for caller, method, path, body in (
        (client, "GET", "/nodes/%s", {}),
        (client, "GET", at, {}),
        (client, "GET", f"{at}/thread", {}),
        (ann, "POST", "/nodes/%s/comments", {"text": "x"}),
        (ann, "PATCH", at, {"text": "x"}),
        (moderator, "POST", f"{at}/state", {"state": "hidden"}),
        (admin, "PUT", "/nodes/%s", PAGE),
        (admin, "POST", "/nodes/%s/store", {"store": "documents"}),
        (admin, "POST", "/nodes/%s/move", {"to": "blog:other"}),
        (ann, "DELETE", at, {}),
    ):
        sent = caller._with_json(method, path % OLD, body)
        assert (sent.status, sent.headers["Location"]) == (308, path % NEW)
    assert client.get(f"/comment-counts?nodes={OLD},{NEW}").json[OLD] == 0


def test_only_an_admin_moves_a_node_and_only_to_a_free_id_that_a_node_may_have(
    client: Client, admin: Client
) -> None:
    for node_id in (OLD, "blog:taken"):
        admin.put(f"/nodes/{node_id}", **PAGE)

    assert client.post(f"/nodes/{OLD}/move", to=NEW).status == 401
    for roles in (["publisher"], ["moderator"], []):
        caller = client.as_("paula", roles=roles, sites=["default", "blog"])
        assert caller.post(f"/nodes/{OLD}/move", to=NEW).status == 403
    for bad in ("..", "blog:", "Blog:a", "a" * 257, "a/b", {"$ne": 1}, None):
        refused = admin.post(f"/nodes/{OLD}/move", to=bad)
        assert (refused.status, refused.code) == (422, "invalid_request")
    for taken in (OLD, "blog:taken"):
        assert admin.post(f"/nodes/{OLD}/move", to=taken).code == "node_exists"
    assert admin.post("/nodes/none/move", to=NEW).code == "unknown_node"
    assert admin.post(f"/nodes/{OLD}/move", to=NEW).status == 200


def test_an_admin_gives_a_page_back_that_another_tenant_took(
    client: Client, admin: Client, runtime: Runtime
) -> None:
    """As the release before this one let alpha take an id of beta."""
    nodes.insert(runtime.database, nodes.new_node("beta:home", "alpha"))
    beta = client.as_("pb", roles=["publisher"], sites=["beta"])
    assert beta.put("/nodes/beta:home", **PAGE).status == 403

    assert admin.post("/nodes/beta:home/move", to="alpha:home").status == 200
    assert beta.put("/nodes/beta:home", **PAGE).status == 308
    assert (
        client.as_("pa", roles=["publisher"], sites=["alpha"]).delete("/nodes/beta:home").status
        == 403
    )
    assert beta.delete("/nodes/beta:home").status == 204

    made = beta.put("/nodes/beta:home", **PAGE)
    assert (made.status, made.json["site"]) == (201, "beta")
    assert client.get("/nodes/alpha:home").json["site"] == "alpha"


@pytest.mark.parametrize("step", ["mark_for_sweep", "renewing", "counting"])
def test_a_crash_leaves_the_node_where_it_was_and_a_second_run_finishes(
    runtime: Runtime, layout: Layout, clock: Clock, step: str
) -> None:
    discussion = filled(runtime, layout)
    before = told(discussion, "oldest", "mo")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(promotion, step, crash)
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


@pytest.mark.parametrize("is_repeated", [False, True], ids=["given-up", "repeated"])
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
    schedules.run_due(runtime)

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
    schedules.run_due(runtime)

    assert waiting(runtime) == [("blog", NEW, pending)]


@pytest.mark.parametrize("is_stored", [False, True], ids=["numbered", "stored"])
def test_a_post_that_is_under_way_comes_along_once(
    runtime: Runtime, layout: Layout, clock: Clock, *, is_stored: bool
) -> None:
    discussion = Discussion.make(runtime, layout, OLD, moderation="before")
    discussion.post("first")
    add = posting._add

    def racing(runtime: Runtime, node: Node, comment: Comment) -> Added | None:
        patched.undo()
        added = add(runtime, node, comment) if is_stored else None
        relocation.relocate(runtime, OLD, NEW)
        return added if is_stored else add(runtime, node, comment)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(posting, "_add", racing)
        posted = discussion.post("under way")["id"]

    new = Discussion(runtime, NEW)
    assert new.texts(by="mo") == ["first", "under way"]
    assert new.node["counts"] == {"visible": 0, "pending": 2}
    assert ("blog", NEW, posted) in waiting(runtime)
    clock.advance(hours=1)
    assert schedules.run_due(runtime)["counts_mended"] == 0
    assert {row[1] for row in waiting(runtime)} == {NEW}


def test_a_change_that_was_copied_is_not_counted_twice(
    runtime: Runtime, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node moves between a deletion and its confirmation."""
    discussion = Discussion.make(runtime, layout, OLD)
    kept, gone = (discussion.post(text)["id"] for text in ("kept", "gone"))
    confirm = editing._confirm

    def moving_first(*args: Any) -> bool:
        monkeypatch.setattr(editing, "_confirm", confirm)
        relocation.relocate(runtime, OLD, NEW)
        return confirm(*args)

    monkeypatch.setattr(editing, "_confirm", moving_first)
    discussion.delete(gone)
    if layout.store == "embedded":
        relocation.relocate(runtime, OLD, NEW)

    new = Discussion(runtime, NEW)
    assert [each["id"] for each in new.walk()] == [kept]
    assert new.node["counts"] == {"visible": 1, "pending": 0}


def test_writes_while_a_node_goes_round_ids_are_neither_lost_nor_doubled(
    runtime: Runtime, layout: Layout
) -> None:
    real = real_time(runtime)
    Discussion.make(real, layout, OLD)
    ids = itertools.cycle(("blog:a", "blog:b", "shop:c", OLD))
    places, done = [OLD], threading.Event()

    def write(writer: int) -> list[str]:
        if not writer:
            return move()
        kept: list[str] = []
        for number in itertools.count():
            if done.is_set():
                return kept
            here = Discussion(real, places[-1])
            try:
                posted = here.post(f"{writer}:{number}", by=f"user-{writer}")["id"]
            except NodeMoved:
                continue
            kept.append(posted)
            try:
                if number % 3 == 1:
                    here.edit(posted, "edited")
            except NodeMoved:
                continue
        raise AssertionError

    def move() -> list[str]:
        try:
            for to in itertools.islice(ids, 12):
                relocation.relocate(real, places[-1], to)
                places.append(to)
        finally:
            done.set()
        return []

    kept = in_threads(4, write)

    here = Discussion(real, places[-1])
    assert sorted(each["id"] for each in here.walk()) == sorted(kept)
    assert len({each["seq"] for each in here.stored().values()}) == len(kept)
    assert here.node["counts"] == {"visible": len(kept), "pending": 0}


def test_a_node_can_move_back_over_its_own_forward(runtime: Runtime, layout: Layout) -> None:
    discussion = filled(runtime, layout)
    before = told(discussion, "oldest", "mo")

    relocation.relocate(runtime, OLD, NEW)
    relocation.relocate(runtime, NEW, OLD)

    assert told(discussion, "oldest", "mo") == before
    with pytest.raises(NodeMoved) as forward:
        nodes.find(runtime.database, NEW)
    assert forward.value.moved_to == OLD


def test_an_id_that_is_taken_while_the_node_moves_there_stays_taken(
    runtime: Runtime, layout: Layout, clock: Clock
) -> None:
    discussion = filled(runtime, layout)
    before = told(discussion, "oldest", "mo")
    switch = relocation._switch

    def taken_first(*args: Any) -> Any:
        nodes.insert(runtime.database, nodes.new_node(NEW, "blog"))
        return switch(*args)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relocation, "_switch", taken_first)
        with pytest.raises(Unavailable):
            relocation.relocate(runtime, OLD, NEW)

    assert told(discussion, "oldest", "mo") == before
    assert discussion.post("goes on")["seq"] == 13
    new = Discussion(runtime, NEW)
    assert new.texts(by="mo") == []
    clock.advance(hours=1)
    schedules.run_due(runtime)
    assert (len(discussion.texts(by="mo")), new.stored()) == (len(before) + 1, {})
    with pytest.raises(NodeExists):
        relocation.request(runtime, OLD, NEW)


def test_a_node_that_is_deleted_while_it_moves_is_gone_at_both_ids(
    runtime: Runtime, layout: Layout, clock: Clock, admin: Client
) -> None:
    filled(runtime, layout)
    switch = relocation._switch

    def deleted_first(*args: Any) -> Any:
        assert admin.delete(f"/nodes/{OLD}").status == 204
        return switch(*args)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relocation, "_switch", deleted_first)
        with pytest.raises(Unavailable):
            relocation.relocate(runtime, OLD, NEW)

    for node_id in (OLD, NEW):
        assert admin.get(f"/nodes/{node_id}").code == "unknown_node"
    clock.advance(hours=1)
    schedules.run_due(runtime)
    assert (rows(runtime), waiting(runtime)) == (0, [])
    assert nodes.NODES.of(runtime.database).count_documents({}) == 0


@pytest.mark.bounds(comments={"inline_move_comments": 3})
def test_a_large_node_moves_from_the_queue_and_a_lost_message_is_sent_again(
    runtime: Runtime, workers: Workers, admin: Client
) -> None:
    filled(runtime, Layout("documents", threaded=True))

    asked = admin.post(f"/nodes/{OLD}/move", to=NEW)
    assert (asked.status, asked.json["id"]) == (202, OLD)
    assert schedules.run_due(runtime)["moves_sent"] == 1
    assert workers.drain() == 2

    assert admin.get(f"/nodes/{NEW}").status == 200
    assert admin.get(f"/nodes/{OLD}").status == 308
    assert schedules.run_due(runtime)["moves_sent"] == 0


@pytest.mark.bounds(comments={"inline_move_comments": 3})
def test_a_wanted_id_that_is_taken_meanwhile_is_given_up(
    runtime: Runtime, workers: Workers, admin: Client
) -> None:
    discussion = filled(runtime, Layout("documents", threaded=True))
    admin.post(f"/nodes/{OLD}/move", to=NEW)
    admin.put(f"/nodes/{NEW}", **PAGE)

    assert workers.drain() == 1

    assert discussion.node["wanted_id"] is None
    assert discussion.post("goes on")["seq"] == 13


@pytest.mark.parametrize(("to", "images"), [("pictures:a", 1), ("blog:a", 0)])
def test_images_are_shown_by_the_rule_of_the_new_site(
    runtime: Runtime, layout: Layout, to: str, images: int
) -> None:
    settings = runtime.settings.model_copy(update={"image_sites": ("pictures", "old")})
    here = Runtime(**{**vars(runtime), "settings": settings})
    home = "default" if images else "old"
    node = nodes.new_node(OLD, home) | {"store": layout.store, "threaded": layout.threaded}
    nodes.insert(runtime.database, node)
    posted = Discussion(here, OLD).post("![a duck](https://a.example/duck.png)")
    assert posted["html"] is not None
    assert posted["html"].count("<img") == 1 - images

    relocation.relocate(here, OLD, to)

    html = Discussion(here, to).get(posted["id"])["html"]
    assert html is not None
    assert html.count("<img") == images


def test_readers_meanwhile_see_the_whole_or_the_way_to_it(runtime: Runtime, layout: Layout) -> None:
    real = real_time(runtime)
    discussion = Discussion.make(real, layout, OLD)
    for number in range(30):
        discussion.post(str(number))
    expected, done = discussion.texts(), threading.Event()

    def read() -> int:
        whole = 0
        while not done.is_set():
            for node_id in (OLD, NEW):
                try:
                    assert Discussion(real, node_id).texts() == expected
                except (NodeMoved, UnknownNode):
                    continue
                whole += 1
        return whole

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            for there, to in ((OLD, NEW), (NEW, OLD)) * 5:
                relocation.relocate(real, there, to)
        finally:
            done.set()
        assert all(reader.result() for reader in readers)
