"""Moving a node to another id: whole or not at all, with its writers, and found from the old id."""

import itertools
from typing import Any

import pytest

from chalicelib.comments import jobs, nodes
from chalicelib.comments.errors import NodeMoved
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.shapes import Node
from chalicelib.comments.stores.buckets import PAGES
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.errors import InvalidRequest
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import Discussion, Layout
from tests.comments.support.relocation import NEW, OLD, filled, rows, told, waiting
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

PAGE = {"title": "A page", "url": "https://blog.example/a-page"}


def test_a_move_takes_everything_along(runtime: Runtime, layout: Layout, clock: Clock) -> None:
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
    assert jobs.run_due(runtime)["counts_repaired"] == 0
    assert rows(runtime) <= number
    assert {row["node_id"] for row in runtime.database[COMMENTS.name].find()} <= {NEW}
    assert {row["node_id"] for row in runtime.database[PAGES.name].find()} <= {NEW}


def test_what_is_taken_off_a_node_while_it_moves_stays_off(
    runtime: Runtime, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Discussion.make(runtime, layout, OLD)
    comment = old.post("pinned")["id"]
    optional = {"closes_after": 7, "imported": "thread", "numbering": 1, "pinned": [comment]}
    rows, switch = runtime.database[nodes.NODES.name], relocation._switch
    rows.update_one({"_id": OLD}, {"$set": optional})

    def take_off_then_switch(*given: Any) -> Node:
        rows.update_one({"_id": OLD}, {"$unset": dict.fromkeys(optional, "")})
        return switch(*given)

    monkeypatch.setattr(relocation, "_switch", take_off_then_switch)
    moved = relocation.request(runtime, OLD, NEW)

    assert optional.keys() & moved.keys() == set()


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
    marks = client.as_("ann").get(f"/nodes/{OLD}/marks?ids=a&ids=b")
    assert marks.headers["Location"] == f"/nodes/{NEW}/marks?ids=a&ids=b"
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
    shown = client.get(f"/nodes/{NEW}/comments").json["count"]
    assert client.get(f"/comment-counts?nodes={OLD},{NEW}").json == {OLD: shown, NEW: shown}


def test_every_former_id_has_the_count_of_the_node_where_it_is_now(
    client: Client, admin: Client
) -> None:
    ids = [f"blog:page-{number}" for number in range(5)]
    admin.put(f"/nodes/{ids[0]}", **PAGE)
    client.as_("ann").post(f"/nodes/{ids[0]}/comments", text="x")
    for old, new in itertools.pairwise(ids):
        assert admin.post(f"/nodes/{old}/move", to=new).status == 200

    counts = client.get(f"/comment-counts?nodes={','.join([*ids, 'blog:none'])}").json
    assert counts == {**dict.fromkeys(ids, 1), "blog:none": 0}

    assert admin.post(f"/nodes/{ids[-1]}/move", to=ids[0]).status == 200
    assert client.get(f"/comment-counts?nodes={','.join(ids)}").json == dict.fromkeys(ids, 1)
    assert admin.delete(f"/nodes/{ids[0]}").status == 204
    assert client.get(f"/comment-counts?nodes={','.join(ids)}").json == dict.fromkeys(ids, 0)


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


def test_a_node_never_moves_to_an_id_that_names_no_site(runtime: Runtime) -> None:
    discussion = Discussion.make(runtime, Layout("documents", threaded=False), OLD)
    discussion.post("first")

    for bad in ("..", "blog:", "Blog:a"):
        with pytest.raises(InvalidRequest):
            relocation.relocate(runtime, OLD, bad)

    assert nodes.NODES.of(runtime.database).count_documents({}) == 1
    assert discussion.texts() == ["first"]
    assert discussion.post("still open")["seq"] == 2


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


def test_a_node_can_move_back_over_its_own_forward(runtime: Runtime, layout: Layout) -> None:
    discussion = filled(runtime, layout)
    before = told(discussion, "oldest", "mo")

    relocation.relocate(runtime, OLD, NEW)
    relocation.relocate(runtime, NEW, OLD)

    assert told(discussion, "oldest", "mo") == before
    with pytest.raises(NodeMoved) as forward:
        nodes.find(runtime.database, NEW)
    assert forward.value.moved_to == OLD


@pytest.mark.bounds(comments={"inline_move_comments": 3})
def test_a_large_node_moves_from_the_queue_and_a_lost_message_is_sent_again(
    runtime: Runtime, workers: Workers, admin: Client
) -> None:
    filled(runtime, Layout("documents", threaded=True))

    asked = admin.post(f"/nodes/{OLD}/move", to=NEW)
    assert (asked.status, asked.json["id"]) == (202, OLD)
    assert jobs.run_due(runtime)["moves_sent"] == 1
    assert workers.drain() == 2

    assert admin.get(f"/nodes/{NEW}").status == 200
    assert admin.get(f"/nodes/{OLD}").status == 308
    assert jobs.run_due(runtime)["moves_sent"] == 0


@pytest.mark.bounds(comments={"inline_move_comments": 3})
def test_a_wish_during_a_move_is_met_after_it(
    runtime: Runtime, workers: Workers, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An administrator corrects the id while the worker copies."""
    filled(runtime, Layout("documents", threaded=True))
    assert admin.post(f"/nodes/{OLD}/move", to=NEW).status == 202
    switch = relocation._switch

    def correct(*given: Any) -> Node:
        monkeypatch.undo()
        assert admin.post(f"/nodes/{OLD}/move", to="blog:right").status == 202
        return switch(*given)

    monkeypatch.setattr(relocation, "_switch", correct)
    workers.drain()

    assert jobs.run_due(runtime)["moves_sent"] == 1
    workers.drain()

    assert admin.get("/nodes/blog:right").status == 200
    assert admin.get(f"/nodes/{OLD}").status == admin.get(f"/nodes/{NEW}").status == 308


@pytest.mark.bounds(comments={"inline_move_comments": 3})
def test_a_wanted_id_that_is_taken_meanwhile_is_no_longer_wanted(
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
