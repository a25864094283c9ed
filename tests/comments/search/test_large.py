"""The words of large discussions: several runs index them, and repairs need little memory."""

import tracemalloc

import pytest

from chalicelib import deadlines
from chalicelib.comments.entries.comparing import Difference
from chalicelib.comments.nodes import NODES
from chalicelib.comments.sites.search_changes import SEARCH_CHANGES
from chalicelib.comments.stores import documents
from chalicelib.comments.terms import upkeep
from chalicelib.comments.terms.rows import TERMS
from chalicelib.runtime import Runtime
from tests.comments.support.searching import (
    NONE,
    SETTINGS,
    difference,
    found,
    node_of,
    post,
    rows,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

MANY = 10_000
# A row without its words, as a dict, takes 500.
MOST_BYTES_A_ROW = 300


@pytest.fixture
def large(client: Client, unsearched: list[str], publisher: Client, clock: Clock) -> list[str]:
    """Two nodes of seven comments, by their ids, of a site that has switched search on."""
    found = sorted(node for node in unsearched if "documents" in node)
    for node in found:
        for number in range(7):
            post(client.as_("ann"), node, f"ferry {number}")
    publisher.patch(SETTINGS, search=True)
    clock.advance(minutes=1)
    return found


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have exports of documents yield two comments at a time."""
    monkeypatch.setattr(documents, "_BATCH", 2)


@pytest.mark.bounds(comments={"indexed_at_once": 4})
@pytest.mark.usefixtures("small_batches", "large")
def test_a_step_ends_within_a_large_node_and_the_next_goes_on_there(
    runtime: Runtime, client: Client
) -> None:
    parts = [upkeep.index_due(runtime) for _ in range(5)]

    assert parts == [4, 5, 4, 1, 0]
    assert len(found(client, "ferry")) == 14
    assert SEARCH_CHANGES.of(runtime.database).count_documents({}) == 0


@pytest.mark.usefixtures("small_batches", "large")
def test_a_step_without_time_does_one_batch(runtime: Runtime) -> None:
    parts = []
    while (change := SEARCH_CHANGES.of(runtime.database).find_one()) is not None:
        with deadlines.bound(0):
            parts.append(upkeep._step(runtime, change))

    assert parts == [2, 2, 2, 1, 2, 2, 2, 1, 0]
    assert difference(runtime) == NONE


@pytest.mark.bounds(comments={"indexed_at_once": 2})
@pytest.mark.usefixtures("small_batches")
def test_a_step_goes_on_within_a_node_after_a_crash(
    runtime: Runtime, large: list[str], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    upkeep.index_due(runtime)
    with monkeypatch.context() as patched:
        patched.setattr(upkeep, "_step", lambda *_: 0)
        upkeep.index_due(runtime)
    TERMS.of(runtime.database).delete_many({})

    clock.advance(minutes=16)
    upkeep.index_due(runtime)

    assert upkeep.verify(runtime, node_of(runtime, large[0])).missing == 5


@pytest.mark.bounds(comments={"indexed_at_once": 2})
@pytest.mark.usefixtures("small_batches")
def test_the_place_in_a_node_that_is_gone_is_of_no_other_node(
    runtime: Runtime, large: list[str]
) -> None:
    upkeep.index_due(runtime)
    NODES.of(runtime.database).delete_one({"_id": large[0].removeprefix("/nodes/")})

    parts = [upkeep.index_due(runtime) for _ in range(5)]

    assert parts == [2, 2, 2, 1, 0]


@pytest.mark.usefixtures("small_batches", "large")
def test_a_site_that_begins_again_within_a_node_is_indexed_whole(
    publisher: Client, runtime: Runtime, clock: Clock
) -> None:
    (change,) = SEARCH_CHANGES.of(runtime.database).find()
    with deadlines.bound(0):
        upkeep._step(runtime, change)
    publisher.patch(SETTINGS, search=False)
    publisher.patch(SETTINGS, search=True)
    TERMS.of(runtime.database).delete_many({})

    clock.advance(minutes=2)

    assert upkeep.index_due(runtime) == 14


def test_a_repair_removes_more_rows_without_a_comment_than_a_batch_has(
    client: Client, nodes: list[str], runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_ROWS_AT_ONCE", 2)
    post(client.as_("ann"), nodes[0], "ferry")
    rows_of = TERMS.of(runtime.database)
    row = rows_of.find_one()
    assert row is not None
    rows_of.insert_many([{**row, "_id": f"{row['_id']}{number}"} for number in range(5)])

    assert upkeep.repair(runtime, node_of(runtime, nodes[0])) == Difference(extra=5)

    assert rows(runtime) == {row["_id"]: row["terms"]}


def test_the_rows_of_a_large_node_are_compared_in_little_memory(
    client: Client, nodes: list[str], runtime: Runtime
) -> None:
    post(client.as_("ann"), nodes[0], "ferry")
    rows_of = TERMS.of(runtime.database)
    row = rows_of.find_one()
    assert row is not None
    rows_of.insert_many([{**row, "_id": f"{row['_id']}{number:05}"} for number in range(MANY)])
    node = node_of(runtime, nodes[0])

    tracemalloc.start()
    try:
        assert upkeep.verify(runtime, node).extra == MANY
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak / MANY < MOST_BYTES_A_ROW
