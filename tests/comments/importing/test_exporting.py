"""Exports of a site, from which an import makes it again; and comparisons with a file."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.comments import nodes
from chalicelib.comments.entries.kind import KIND
from chalicelib.comments.entries.rows import key_of
from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.importing import exporting, running, verifying
from chalicelib.comments.importing.exporting import lines_of
from chalicelib.comments.importing.running import ImportOrder
from chalicelib.comments.importing.shapes import Item
from chalicelib.comments.shapes import Comment
from chalicelib.marks.verification import verify
from chalicelib.runtime import Runtime
from tests.comments.support.discussion import LAYOUTS, Discussion, Layout
from tests.comments.support.entries import NONE, difference, entry
from tests.comments.support.importing import (
    author,
    bring,
    brought,
    comment,
    everything,
    exported,
    thread,
)
from tests.support.clock import START, Clock
from tests.support.http_client import Client

THREADED = Layout("documents", threaded=True)


def filled(runtime: Runtime, clock: Clock, layout: Layout, site: str) -> Discussion:
    """Fill a discussion with comments in every state, votes, reactions, and gaps in its numbers."""
    settings = NodeSettings(
        title="A page",
        url=f"https://{site}.example/{layout}",
        store=layout.store,
        threaded=layout.threaded,
    )
    discussion = Discussion(runtime, f"{site}:{layout}")
    assert nodes.insert(runtime.database, nodes.new_node(discussion.node_id, site, settings))
    made: list[Comment] = []
    for number in range(6):
        clock.advance(seconds=number % 2)
        parent = made[number - 2]["id"] if number > 2 and layout.threaded else None
        made.append(discussion.post(f"*text* {number}", parent, by="bob"))
    discussion.edit(made[0]["id"], "edited")
    discussion.set_state(made[4]["id"], "hidden")
    discussion.set_state(made[5]["id"], "pending")
    discussion.delete(made[1]["id"])
    discussion.delete(made[2]["id"])
    discussion.set_state(discussion.post("spam", by="eve")["id"], "spam")
    return discussion


def seen(discussion: Discussion) -> Any:
    """Return what a moderator sees, without ids of nodes and people, and without HTML."""
    shown = discussion.walk(by="mo")
    for each in shown:
        each["node_id"] = each["can"] = None
        each["author"] = each["author"] and each["author"]["name"]
    entries = discussion.runtime.database["comments.entry"]
    votes = [
        {
            "up": row["up"] + row.get("base", {}).get("up", 0),
            "down": row["down"] + row.get("base", {}).get("down", 0),
            "reactions": row["reactions"],
            "thread": row["thread"],
            "top": row["top"],
        }
        for each in shown
        for row in entries.find(key_of(discussion.node, each["id"]))
    ]
    node = discussion.node
    kept = ("title", "locked", "store", "threaded", "max_depth", "counts", "pinned")
    return shown, votes, {name: node.get(name) for name in kept}


def copied(discussion: Discussion, site: str) -> Discussion:
    name = discussion.node_id.partition(":")[2]
    return Discussion(discussion.runtime, f"{site}:{name}")


def test_an_import_of_an_export_makes_the_site_again(
    runtime: Runtime, clock: Clock, client: Client
) -> None:
    discussions = [filled(runtime, clock, layout, "blog") for layout in LAYOUTS]
    marked = discussions[0]
    runtime.database["comments.node"].update_many({}, {"$set": {"votes": "up_down"}})
    shown = [each for each in marked.walk() if each["state"] == "visible"][:2]
    for reader in ("ann", "joe"):
        for each in shown:
            path = f"/nodes/{marked.node_id}/comments/{each['id']}/vote"
            assert client.as_(reader).put(path, value=1 if reader == "ann" else -1).status == 200
    pinned = {"$set": {"pinned": [shown[0]["id"]]}}
    runtime.database["comments.node"].update_one({"_id": marked.node_id}, pinned)
    before = [seen(each) for each in discussions]
    assert [votes["up"] for votes in before[0][1]].count(1) == 2

    bring(runtime, exported(runtime, "blog"), "copy", format="plaza")

    copies = [copied(each, "copy") for each in discussions]
    for copy, was in zip(copies, before, strict=True):
        assert seen(copy) == was
    assert all(difference(each) == NONE for each in copies)
    assert verify(runtime.database, KIND).wrong == 0
    assert list(_comments(runtime, "copy")) == list(_comments(runtime, "blog"))


def _comments(runtime: Runtime, site: str) -> Iterator[Any]:
    """Yield the lines of comments without numbers, which have gaps, and ids of people."""
    for line in lines_of(runtime, site):
        if line["kind"] == "comment":
            by = line["author"] and line["author"]["name"]
            votes = sorted(value for _, value in line["votes"])
            yield {**line, "seq": 0, "author": by, "votes": votes, "spam_since": 0}


def test_an_import_into_the_same_site_changes_nothing(runtime: Runtime, clock: Clock) -> None:
    for layout in LAYOUTS:
        filled(runtime, clock, layout, "blog")
    before = everything(runtime, ["comments.import"])

    bring(runtime, exported(runtime, "blog"), "blog", format="plaza")

    assert everything(runtime, ["comments.import"]) == before


def test_votes_of_living_comments_do_not_count_again(
    runtime: Runtime, clock: Clock, client: Client
) -> None:
    """The file has the voters of living comments, and one comment that is new."""
    discussion = filled(runtime, clock, THREADED, "blog")
    runtime.database["comments.node"].update_many({}, {"$set": {"votes": "up_down"}})
    first = next(each["id"] for each in discussion.walk() if each["state"] == "visible")
    path = f"/nodes/{discussion.node_id}/comments/{first}/vote"
    assert client.as_("ann").put(path, value=1).status == 200
    held = [*exported(runtime, "blog"), comment("new", thread=discussion.node_id)]

    bring(runtime, held, "blog", format="plaza")

    assert runtime.database["mark"].count_documents({}) == 1
    assert entry(discussion, first)["up"] == 1
    assert "text of new" in discussion.texts()


def test_an_export_has_one_site_and_says_how_much(runtime: Runtime, clock: Clock) -> None:
    filled(runtime, clock, THREADED, "blog")
    filled(runtime, clock, THREADED, "blog2")
    Discussion.make(runtime, THREADED, node_id="a-page").post("of the default site")

    lines = list(lines_of(runtime, "blog"))
    default = list(lines_of(runtime, "default"))

    assert [line["kind"] for line in lines[:2]] == ["export", "node"]
    at = f"{clock():%Y-%m-%dT%H:%M:%S}.000Z"
    assert lines[0] == {"plaza": 1, "kind": "export", "site": "blog", "at": at}
    assert lines[-1] == {"kind": "end", "nodes": 1, "comments": 7}
    assert {line["id"] for line in lines if line["kind"] == "node"} == {f"blog:{THREADED}"}
    assert [line["id"] for line in default if line["kind"] == "node"] == ["a-page"]
    assert all(json.loads(json.dumps(line)) == line for line in lines)


def test_who_holds_an_export_takes_no_account_over(runtime: Runtime) -> None:
    paula = {"author": author("Paula", account="paula"), "ups": 1, "votes": (("paula", 1),)}
    forged = comment("aaaaaaaaaa", 5, thread="x:a-page", **paula)

    bring(runtime, [thread("x:a-page", None), forged], "blog", format="plaza")

    (stored,) = runtime.database["comments.comment"].find()
    assert stored["author"]["name"] == "Paula"
    assert stored["author"]["id"].startswith("i_")
    assert runtime.database["mark"].count_documents({"user_id": "paula"}) == 0


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_comparison_tells_what_differs(runtime: Runtime, *, is_changed: bool) -> None:
    items: list[Item] = [
        thread(),
        comment("1", 9),
        comment("2", 8, parent="1"),
        comment("3", 7, state="deleted", text="", author=None),
        comment("4", 6),
    ]
    discussion = brought(runtime, *items[1:])
    if is_changed:
        discussion.edit(discussion.walk()[0]["id"], "another")
        discussion.set_state(discussion.walk()[2]["id"], "hidden")
        discussion.post("not in the file")
        items.append(comment("5", 5))
    conversion = running.conversion_of(runtime, ImportOrder("default", "isso", ""), "", START)
    before = everything(runtime)

    found = verifying.compare(runtime, conversion, items)

    assert everything(runtime) == before
    different = {"edited": 1, "extra": 1, "missing": 1, "state": 1} if is_changed else {}
    assert dict(found.different) == different
    assert (found.comments, found.same) == ((5, 2) if is_changed else (4, 4))
    assert len(found.samples) == (3 if is_changed else 0)


def test_a_comment_with_more_voters_than_a_line_has_keeps_the_sums_of_their_votes(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tuple((f"voter-{number}", 1 if number else -1) for number in range(5))
    brought(runtime, comment("1", 9, ups=6, downs=2, votes=named))
    monkeypatch.setattr(exporting, "MAX_BALLOTS", 3)

    (line,) = [each for each in lines_of(runtime, "default") if each["kind"] == "comment"]

    assert (line["up"], line["down"], len(line["votes"])) == (6, 2, 3)
