"""What is done to the readers of one action reads no more of their feeds than that."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from chalicelib.runtime import Runtime
from chalicelib.social.activity.feed import items
from chalicelib.social.activity.feed.items import Hidden
from chalicelib.social.activity.feed.scoring import Standing
from chalicelib.social.paging import IdRange
from tests.social.activity.support.bulk import item
from tests.support.clock import START

READERS = ["bob", "cy", "dan"]
# Of these, the test is about the oldest, which stands last in every feed.
ACTIONS = 300


@pytest.fixture
def feeds(runtime: Runtime) -> Iterator[Runtime]:
    """Three readers of the same actions, and a database that writes down what it does."""
    times = {f"action-{number:03}": START + timedelta(minutes=number) for number in range(ACTIONS)}
    planted = [item(reader, id_, time) for reader in READERS for id_, time in times.items()]
    runtime.database[items.ITEMS.name].insert_many(planted)
    runtime.database.command("profile", 2)
    yield runtime
    runtime.database.command("profile", 0)
    runtime.database.drop_collection("system.profile")


def keys_examined(runtime: Runtime) -> int:
    done = list(runtime.database["system.profile"].find({"ns": {"$regex": "feed.item$"}}))
    assert done
    return sum(operation["keysExamined"] for operation in done)


def test_re_ranking(feeds: Runtime) -> None:
    risen = Standing(START + timedelta(days=1), own=False)

    items.lift(feeds, {(reader, "action-000"): risen for reader in READERS})

    at_top = feeds.database[items.ITEMS.name].find({"relevancy": risen.relevancy})
    assert sorted(item["_id"] for item in at_top) == [f"{each}:action-000" for each in READERS]
    assert keys_examined(feeds) <= 2 * len(READERS)


def test_hiding(feeds: Runtime) -> None:
    hidden: Hidden = {"_id": "action-000", "hidden": True, "hidden_version": 1}

    items.show_or_hide(feeds.database, hidden)

    assert feeds.database[items.ITEMS.name].count_documents({"hidden": True}) == len(READERS)
    assert keys_examined(feeds) <= 2 * len(READERS)


def test_finding_who_has_it(feeds: Runtime) -> None:
    found = items.subscribers(feeds.database, "action-000", IdRange("bob", limit=1))

    assert found == ["cy"]
    assert keys_examined(feeds) == 1
