"""Imports that end between a node's switch and its votes: any later import of the file goes on."""

from typing import Any

import pytest

from chalicelib.comments.entries.kind import KIND
from chalicelib.comments.importing import running
from chalicelib.comments.importing.lease import LEASE
from chalicelib.comments.importing.shapes import Item
from chalicelib.comments.lifecycle.relocation import relocate
from chalicelib.marks.verification import verify
from chalicelib.runtime import Runtime
from tests.comments.support.crashes import Crash, crash
from tests.comments.support.discussion import Discussion
from tests.comments.support.entries import NONE, difference, entries
from tests.comments.support.importing import at_url, author, bring, comment, thread
from tests.support.clock import Clock

ITEMS: list[Item] = [
    thread(),
    comment("1", 9, ups=3, votes=(("eve", 1),), author=author("Ann", email="ann@mail.example")),
    comment("2", 8, parent="1"),
]


def votes(discussion: Discussion) -> tuple[int, Any]:
    """Return the votes of the first comment: of named people, and from before Plaza."""
    first = discussion.walk()[0]["id"]
    row = entries(discussion)[first]
    return row["up"], row.get("base")


@pytest.fixture
def unsettled(runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Discussion:
    """Return a discussion that readers see, and whose import has ended before its votes."""
    with monkeypatch.context() as patched:
        patched.setattr(running, "settle", crash)
        with pytest.raises(Crash):
            bring(runtime, ITEMS)
    clock.time += 2 * LEASE
    return at_url(runtime)


def check_whole(runtime: Runtime) -> None:
    found = at_url(runtime)
    assert votes(found) == (1, {"up": 2, "down": 0})
    assert difference(found) == NONE
    assert verify(runtime.database, KIND).wrong == 0
    assert "imported" not in found.node
    assert runtime.database["comments.person"].count_documents({"email_key": {"$ne": ""}}) == 1


@pytest.mark.usefixtures("unsettled")
def test_another_order_of_the_same_file_brings_the_votes(runtime: Runtime) -> None:
    done = bring(runtime, ITEMS, digest="of the same file with other options")

    check_whole(runtime)
    assert done["counts"]["present"] == 2


@pytest.mark.usefixtures("unsettled")
def test_an_order_with_one_comment_more_brings_the_votes_of_all(runtime: Runtime) -> None:
    bring(runtime, [*ITEMS, comment("3", 7, ups=1)], digest="of the longer file")

    check_whole(runtime)
    assert len(at_url(runtime).walk()) == 3


def test_a_trial_leaves_the_votes_to_the_order_after_it(
    unsettled: Discussion, runtime: Runtime
) -> None:
    bring(runtime, ITEMS, digest="of the same file", is_dry_run=True)
    assert "imported" in unsettled.node

    bring(runtime, ITEMS, digest="of the same file")

    check_whole(runtime)


@pytest.mark.parametrize("digest", ["of the file", "of another order"])
def test_a_discussion_that_moves_meanwhile_gets_its_votes(
    unsettled: Discussion, runtime: Runtime, digest: str
) -> None:
    relocate(runtime, unsettled.node["_id"], "default:elsewhere")

    bring(runtime, ITEMS, digest=digest)

    check_whole(runtime)


def test_an_order_that_ends_as_well_leaves_the_votes_to_the_next(
    unsettled: Discussion, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(running, "settle", crash)
        with pytest.raises(Crash):
            bring(runtime, ITEMS, digest="of another order")
    clock.time += 2 * LEASE
    assert "imported" in unsettled.node

    bring(runtime, ITEMS, digest="of another order")

    check_whole(runtime)
