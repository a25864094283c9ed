"""Eight processes change three trees under SIGKILL: each tree is what the accepted changes make.

A long run: PLAZA_TEST_SHOP_SECONDS=60 script/test tests/shop/categories/test_kills.py -s
"""

import os
import time
from collections.abc import Iterator

import pytest

from chalicelib.errors import Problem
from chalicelib.runtime import Runtime
from chalicelib.shop.categories.rows import TREES
from tests.ads.support.crash_workers import run_swarm
from tests.shop.support.gardeners import NOTES, replayed, site_of
from tests.shop.support.trees import NAMES, Grove

pytestmark = pytest.mark.processes

SECONDS = float(os.environ.get("PLAZA_TEST_SHOP_SECONDS", "2"))
# On a busy machine, processes may die before they have changed as much as this.
FEWEST_CHANGES = 15
DEADLINE_SECONDS = 60


@pytest.fixture
def groves(runtime: Runtime) -> Iterator[Runtime]:
    """A tree in each store; the server gives a dead process's transaction up after a second."""
    admin = runtime.database.client.admin
    name = "transactionLifetimeLimitSeconds"
    before = admin.command({"getParameter": 1, name: 1})
    admin.command({"setParameter": 1, name: 1})
    for store in NAMES:
        Grove(runtime, store, site_of(store))
    runtime.database.create_collection(NOTES)
    yield runtime
    admin.command({"setParameter": 1, name: before[name]})
    runtime.database.drop_collection(NOTES)


def gardened(groves: Runtime, mongodb_uri: str, work: str) -> int:
    """Let processes change the trees and be killed; return how many were."""
    name = f"tests.shop.support.gardeners:{work}"
    return run_swarm(name, mongodb_uri, groves.database.name, seconds=SECONDS)


def stands(groves: Runtime, store: str) -> Grove:
    """Return a tree as it is stored now."""
    (tree,) = TREES.of(groves.database).find({"_id": site_of(store)})
    return Grove.standing(groves, tree["store"], tree["_id"])


def wrong_with(grove: Grove) -> list[str]:
    """Return in what a tree contradicts itself, or the accepted changes in their order."""
    notes = grove.runtime.database[NOTES]
    versions = [note["version"] for note in notes.find({"site": grove.site})]
    found = ["two changes at once"] if len(set(versions)) < len(versions) else []
    try:
        found += grove.faults()
        if grove.lines() != replayed(grove.runtime.database, grove.site):
            found.append("another tree than the changes make")
    except (KeyError, Problem) as broken:
        # What its store keeps is missing, or a change is noted that would have been refused.
        found.append(repr(broken))
    return found


def test_trees_are_what_the_accepted_changes_make(groves: Runtime, mongodb_uri: str) -> None:
    died = changed = 0
    deadline = time.monotonic() + DEADLINE_SECONDS
    while changed <= FEWEST_CHANGES and time.monotonic() < deadline:
        died += gardened(groves, mongodb_uri, "garden")
        changed = groves.database[NOTES].count_documents({})

    print(f"\n{died} killed, {changed} changes")  # noqa: T201 - a measurement
    assert died > 3
    assert changed > FEWEST_CHANGES
    for store in NAMES:
        # Waits for the transactions of the dead, so that nothing of theirs is open afterwards.
        stands(groves, store).add("last")
        stands(groves, store).remove("last")
        assert wrong_with(stands(groves, store)) == []


@pytest.mark.parametrize("work", ["garden_without_fence", "garden_without_transaction"])
def test_the_same_swarm_breaks_trees_that_are_changed_otherwise(
    groves: Runtime, mongodb_uri: str, work: str
) -> None:
    """A busy machine makes few changes in a round."""
    deadline, is_broken = time.monotonic() + DEADLINE_SECONDS, False
    while not is_broken and time.monotonic() < deadline:
        gardened(groves, mongodb_uri, work)
        is_broken = any(wrong_with(stands(groves, store)) for store in NAMES)

    assert is_broken
