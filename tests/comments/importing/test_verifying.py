"""Comparisons of a file with a site: votes and reactions, by their sums and by their people."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.comments.discussion import nodes as discussion_nodes
from chalicelib.comments.importing import running, verifying
from chalicelib.comments.importing.running import ImportOrder
from chalicelib.comments.importing.shapes import Item
from chalicelib.comments.importing.verifying import Comparison
from chalicelib.runtime import Runtime
from tests.comments.importing.support.reading import comments
from tests.comments.support.discussion import PUBLISHER, Discussion, Layout
from tests.comments.support.importing import bring, brought, comment, everything, exported, thread
from tests.support.clock import Clock
from tests.support.http_client import Client

VOTED: dict[str, Any] = {"ups": 3, "downs": 1, "votes": (("eve", 1), ("joe", -1))}
REACTED: dict[str, Any] = {"reactions": [["eve", ["heart", "smile"]], ["joe", ["heart"]]]}


def compared(runtime: Runtime, *items: Any, site: str = "default", name: str) -> Comparison:
    """Compare a file with a site, and see that nothing changes."""
    conversion = running.conversion_of(runtime, ImportOrder(site, name, ""), "", runtime.now())
    before = everything(runtime)
    found = verifying.compare(runtime, conversion, items)
    assert everything(runtime) == before
    return found


@pytest.mark.parametrize(
    ("later", "different"),
    [
        (VOTED, {}),
        ({**VOTED, "ups": 4}, {"votes": 1}),
        ({**VOTED, "downs": 0}, {}),
        ({**VOTED, "downs": 2}, {"votes": 1}),
        # The sums are the same, and the people are others.
        ({**VOTED, "votes": (("zoe", 1), ("joe", -1))}, {"votes": 1}),
        ({**VOTED, "votes": (("eve", 1),)}, {}),
        ({"ups": 0, "downs": 0, "votes": ()}, {"votes": 1}),
    ],
)
def test_votes_differ_by_their_sums_or_their_voters(
    runtime: Runtime, later: dict[str, Any], different: dict[str, int]
) -> None:
    brought(runtime, comment("1", **VOTED))

    found = compared(runtime, thread(), comment("1", **later), name="isso")

    assert dict(found.different) == different
    assert [each["reason"] for each in found.samples] == list(different)


@pytest.mark.parametrize(
    ("later", "different"),
    [
        (REACTED, {}),
        ({"reactions": [["joe", ["heart"]], ["eve", ["smile", "heart"]]]}, {}),
        ({"reactions": [["eve", ["heart"]], ["joe", ["heart"]]]}, {"reactions": 1}),
        ({"reactions": [["zoe", ["heart", "smile"]], ["joe", ["heart"]]]}, {"reactions": 1}),
        ({"reactions": [["eve", ["heart", "smile"]]]}, {"reactions": 1}),
        ({}, {"reactions": 1}),
    ],
)
def test_reactions_differ_where_a_file_has_them(
    runtime: Runtime, later: dict[str, Any], different: dict[str, int]
) -> None:
    brought(runtime, comment("1", own={**REACTED, "seq": 1}), format="plaza")

    file = (thread(), comment("1", own={**later, "seq": 1}))

    assert dict(compared(runtime, *file, name="plaza").different) == different


def test_a_faultless_import_has_no_differences_although_it_changed_some_comments(
    runtime: Runtime, clock: Clock
) -> None:
    """Each comment of the file stays out or comes over changed, as docs/imports.md says."""
    later = runtime.now() + timedelta(days=1)
    file: list[Item] = [
        thread(),
        comment("1"),
        comment("no-parent", 1, parent="nowhere"),
        comment("no-root", 2, parent="nowhere", root="nor-here"),
        comment("below", 3, parent="no-parent"),
        replace(comment("later"), posted=later, edited=later),
        replace(comment("empty"), text=" "),
        comment("1", 4),
        thread("no address", url=None),
        comment("elsewhere", thread="no address"),
    ]
    done = bring(runtime, file)
    clock.advance(hours=1)

    found = compared(runtime, *file, name="isso")

    assert done["counts"]["unknown_parent"] == 2
    assert (found.same, found.left, dict(found.different)) == (5, 3, {})


def test_a_reply_that_lost_its_parent_is_told(runtime: Runtime) -> None:
    brought(runtime, comment("1"), comment("2", 1))

    found = compared(runtime, thread(), comment("1"), comment("2", 1, parent="1"), name="isso")

    assert dict(found.different) == {"parent": 1}


@pytest.mark.parametrize("end", ["moved", "deleted"])
def test_a_node_that_leaves_during_a_comparison_ends_nothing(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    node = brought(runtime, comment("1")).node_id
    monkeypatch.setattr(verifying, "_BATCH", 1)
    order = ImportOrder("default", "isso", "")
    conversion = running.conversion_of(runtime, order, "", runtime.now())

    def read() -> Iterator[Item]:
        yield from (thread(), comment("1"), comment("2", 1))
        if end == "moved":
            discussion_nodes.relocate_node(runtime, node, "elsewhere")
        else:
            discussion_nodes.delete_node(runtime, node, PUBLISHER)

    assert verifying.compare(runtime, conversion, read()).same == 1


def test_files_of_other_systems_say_nothing_of_reactions(runtime: Runtime, client: Client) -> None:
    discussion = brought(runtime, comment("1"))
    react(client, discussion)

    assert compared(runtime, thread(), comment("1"), name="isso").same == 1


def test_comments_that_a_thread_lacks_count_as_extra_although_none_of_its_own_is_there(
    runtime: Runtime,
) -> None:
    brought(runtime, comment("1"), comment("2", 1))

    found = compared(runtime, thread(), comment("other"), name="isso")

    assert dict(found.different) == {"extra": 2, "missing": 1}


def test_a_later_vote_of_a_reader_is_told(runtime: Runtime, client: Client) -> None:
    discussion = brought(runtime, comment("1", **VOTED), comment("2", 5))
    runtime.database["comments.node"].update_many({}, {"$set": {"votes": "up_down"}})
    (first, second) = discussion.walk()
    for each in (first, second):
        path = f"/nodes/{discussion.node_id}/comments/{each['id']}/vote"
        assert client.as_("ann").put(path, value=1).status == 200

    file = (thread(), comment("1", **VOTED), comment("2", 5, ups=1, votes=(("ann", 1),)))
    found = compared(runtime, *file, name="isso")

    assert dict(found.different) == {"votes": 2}


def test_an_export_agrees_with_its_own_site_and_with_a_copy(
    runtime: Runtime, client: Client
) -> None:
    """At its own site the voters are accounts, in the copy people from a file."""
    discussion = Discussion.make(runtime, Layout("documents", threaded=True))
    runtime.database["comments.node"].update_many({}, {"$set": {"votes": "up_down"}})
    discussion.post("Full tonight", by="bob")
    react(client, discussion)
    path = f"/nodes/{discussion.node_id}/comments/{discussion.walk()[0]['id']}/vote"
    assert client.as_("ann").put(path, value=-1).status == 200
    items = list(exported(runtime, "default"))
    assert comments(items)[0].downs == 1
    bring(runtime, items, "copy", format="plaza")

    for site in ("default", "copy"):
        found = compared(runtime, *items, site=site, name="plaza")
        assert (found.same, dict(found.different)) == (1, {}), site


def react(client: Client, discussion: Discussion) -> None:
    """Have Ann react to the first comment."""
    reactions = [{"key": "heart", "emoji": "\u2764"}]
    root = client.as_("root", roles=["admin"])
    assert root.patch("/sites/default/comments/settings", reactions=reactions).status == 200
    path = f"/nodes/{discussion.node_id}/comments/{discussion.walk()[0]['id']}/reactions/heart"
    assert client.as_("ann").put(path).status == 200
