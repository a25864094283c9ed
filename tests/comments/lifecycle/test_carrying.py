"""Entries that wait at a moved node's old id for their transport, while people go on."""

import pytest

from chalicelib.comments import jobs, nodes, watches
from chalicelib.comments.entries import carrying
from chalicelib.comments.entries.rows import OPTIONAL
from chalicelib.comments.forms import PendingQuery
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.marking import flags
from chalicelib.comments.marking.flag_forms import CommentFlag
from chalicelib.comments.moderation import queue
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.shapes import Node
from chalicelib.comments.terms import writing as terms
from chalicelib.comments.terms.rows import TERMS
from chalicelib.comments.watches import WATCHES
from chalicelib.errors import Unavailable
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE
from tests.comments.marking.test_pages import decide, vote
from tests.comments.support.crashes import Crash, crash
from tests.comments.support.discussion import LAYOUTS, Discussion, Layout
from tests.comments.support.entries import NONE, difference, entry
from tests.comments.support.relocation import ADMIN, NEW, OLD
from tests.support.clock import Clock
from tests.support.http_client import Client


def move_without_entries(discussion: Discussion) -> tuple[Node, Discussion]:
    """Move a discussion until its entries are due; return its node before, and the moved one."""
    node = discussion.node
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relocation, "carry", crash)
        with pytest.raises(Crash):
            relocation.relocate(discussion.runtime, OLD, NEW)
    return node, Discussion(discussion.runtime, NEW)


def excerpts(runtime: Runtime) -> list[tuple[str, str]]:
    """Return the place and the excerpt of each waiting comment."""
    rows = queue.list_pending(runtime, PendingQuery(limit=200), ADMIN)["comments"]
    return [(row["id"], row["excerpt"]) for row in rows]


def test_what_was_decided_or_deleted_at_the_new_id_stays_so(
    runtime: Runtime, layout: Layout
) -> None:
    discussion = Discussion.make(runtime, layout, OLD, moderation="before")
    gone, shown, waits = (discussion.post(f"text {n}")["id"] for n in range(3))
    node, moved = move_without_entries(discussion)
    moved.delete(gone, by="ann")
    moved.set_state(shown, "visible")

    carrying.carry(runtime, node, NEW)

    assert excerpts(runtime) == [(waits, "text 2")]
    for each in (gone, shown):
        assert entry(moved, each)["queue"] is None
    assert entry(moved, gone)["author_id"] is None
    assert not set(OPTIONAL) & set(entry(moved, gone))
    assert difference(moved) == NONE


def test_votes_and_reports_come_along_to_what_changed_at_the_new_id(runtime: Runtime) -> None:
    decide(runtime)
    discussion = Discussion.make(runtime, LAYOUTS[0], OLD)
    edited = discussion.post("a text")["id"]
    vote(discussion, edited)
    spam = CommentFlag(reason="spam")
    flags.flag(runtime, OLD, edited, Principal("mo", "Mo", frozenset({"moderator"})), spam)
    node, moved = move_without_entries(discussion)
    moved.edit(edited, "another text")

    carrying.carry(runtime, node, NEW)

    here = entry(moved, edited)
    assert (here["up"], here["reports"], here["queue"]) == (1, 1, "flagged")


@pytest.fixture
def on_the_way(runtime: Runtime) -> tuple[Discussion, str]:
    """A moved discussion whose entries are due, and the comment that somebody voted on."""
    decide(runtime)
    discussion = Discussion.make(runtime, LAYOUTS[0], OLD)
    voted = discussion.post("a text")["id"]
    vote(discussion, voted)
    return move_without_entries(discussion)[1], voted


def test_an_id_is_free_again_once_its_entries_have_left(
    on_the_way: tuple[Discussion, str], runtime: Runtime, clock: Clock, admin: Client
) -> None:
    moved, voted = on_the_way
    refused = admin.delete(f"/nodes/{OLD}")
    assert (refused.status, refused.code) == (503, "unavailable")

    clock.advance(hours=1)
    jobs.run_due(runtime)

    assert admin.delete(f"/nodes/{OLD}").status == 204
    again = Discussion.make(runtime, LAYOUTS[0], OLD)
    clock.advance(hours=1)
    jobs.run_due(runtime)
    assert entry(moved, voted)["up"] == 1
    assert again.texts() == []


def test_a_node_moves_to_a_former_id_once_the_entries_there_have_left(
    on_the_way: tuple[Discussion, str], runtime: Runtime, clock: Clock, admin: Client
) -> None:
    moved, voted = on_the_way
    other = Discussion.make(runtime, LAYOUTS[0], "other")
    comment = other.post("another text")["id"]
    assert admin.post("/nodes/other/move", to=OLD).code == "unavailable"
    with pytest.raises(Unavailable):
        relocation.relocate(runtime, "other", OLD)

    clock.advance(hours=1)
    jobs.run_due(runtime)

    assert admin.post("/nodes/other/move", to=OLD).status == 200
    assert entry(moved, voted)["up"] == 1
    assert entry(Discussion(runtime, OLD), comment)["up"] == 0


def test_a_late_carry_leaves_the_next_node_its_entries(
    on_the_way: tuple[Discussion, str],
    runtime: Runtime,
    clock: Clock,
    admin: Client,
) -> None:
    """Another worker had found the id still forwarding, and is behind."""
    for name in {site_of(each) or DEFAULT_SITE for each in (OLD, NEW)}:
        assert admin.patch(f"/sites/{name}/comments/settings", search=True).status == 200
    left = nodes.look(runtime.database, OLD)
    assert left is not None
    clock.advance(hours=1)
    jobs.run_due(runtime)
    admin.delete(f"/nodes/{OLD}")
    again = Discussion.make(runtime, LAYOUTS[0], OLD)
    comment = again.post("of the next node")["id"]
    watches.put(runtime, again.node, watches.WHOLE, "zoe", "watching")
    words = runtime.database[TERMS.name].count_documents({"_id": {"$regex": f"^{OLD}/"}})
    assert words > 0

    assert carrying.carry(runtime, left, NEW) == 0
    terms.carry(runtime, left, NEW)
    watches.carry(runtime, left, NEW)

    assert [each["_id"] for each in runtime.database[WATCHES.name].find()] == [f"{OLD}//zoe"]
    assert runtime.database[TERMS.name].count_documents({"_id": {"$regex": f"^{OLD}/"}}) == words
    assert entry(again, comment)["node_id"] == OLD
    assert difference(on_the_way[0]) == NONE
