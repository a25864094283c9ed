"""Counting on a sharded cluster, which tells a repeat by its id on one shard alone."""

import random
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)

from chalicelib.analytics.settings import LogName
from chalicelib.database import Document, open_database
from chalicelib.database.migration import migrate
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.wiring import schema
from tests.analytics.support.hits import at, count, differences, rows, site, view
from tests.support.clock import Clock
from tests.support.sharded_cluster import running_cluster

pytestmark = pytest.mark.processes

NOON = at("2026-03-01 12:00")


class Inserts(CommandListener):
    """Hears which hits are sent to be inserted, in order."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        name = str(event.command.get("insert", ""))
        if name.startswith("hit.event"):
            self.ids += [row["_id"] for row in event.command["documents"]]

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """What was answered does not matter."""

    def failed(self, event: CommandFailedEvent) -> None:
        """What was refused does not matter."""


@pytest.fixture(scope="module")
def inserts() -> Inserts:
    return Inserts()


@pytest.fixture(scope="module")
def cluster(
    inserts: Inserts, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MongoClient[Document]]:
    folder = tmp_path_factory.mktemp("cluster")
    with (
        running_cluster(folder, "plaza") as uri,
        MongoClient[Document](uri, event_listeners=[inserts]) as client,
    ):
        hits = [each for each in schema.COLLECTIONS if each.name.startswith("hit.")]
        migrate(open_database(client, "plaza"), hits)
        yield client
    shutil.rmtree(folder)


@pytest.fixture
def sharded(cluster: MongoClient[Document], clock: Clock, inserts: Inserts) -> Runtime:
    inserts.ids.clear()
    database: Any = open_database(cluster, "plaza")
    assert cluster.topology_description.topology_type_name == "Sharded"
    return Runtime(database, Queues("none-"), clock, random.Random(7), Settings(limits=None))


@pytest.mark.parametrize("log", ["expiring", "rotating"])
def test_a_repeat_is_looked_for_and_never_inserted(
    sharded: Runtime, inserts: Inserts, log: LogName
) -> None:
    """With another path, its row could be on another shard, which takes the same id again.

    These are the logs whose rows say what is new; of the others, receipts do.
    """
    site(sharded, log, name=log)
    of_site: dict[str, Any] = {"site": log}
    first, again = view(1, NOON, **of_site), view(1, NOON, "/b", **of_site)

    batches = [[first], [again, first, view(2, NOON, "/b", **of_site)], [again]]
    counted = [count(sharded, *batch) for batch in batches]

    assert counted == [1, 1, 0]
    assert len(inserts.ids) == len(set(inserts.ids))
    span = (at("2026-03-01"), at("2026-03-02"))
    by_path = rows(sharded, *span, site=log, group="path")
    assert [(row["key"], row["hits"]) for row in by_path] == [("/a", 1), ("/b", 1)]
    assert differences(sharded, NOON, name=log) == []
