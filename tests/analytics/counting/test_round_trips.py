"""How often a batch asks the database: no more for names it knows, a few times for new ones."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pymongo import MongoClient
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)

from chalicelib.analytics.hits import Hits
from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from tests.analytics.support.hits import at, site, view, worker

NOON = at("2026-03-01 12:00")


class Calls(CommandListener):
    """Hears what is asked for, and of which collection."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        about = event.command.get(event.command_name)
        self.names.append(f"{event.command_name} {about}")

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """What was answered does not matter."""

    def failed(self, event: CommandFailedEvent) -> None:
        """What failed has raised."""


@pytest.fixture
def heard(runtime: Runtime) -> Iterator[tuple[Runtime, Calls]]:
    calls = Calls()
    uri = runtime.settings.mongodb_uri.get_secret_value()
    with MongoClient[Document](uri, event_listeners=[calls]) as client:
        yield replace(runtime, database=open_database(client, runtime.database.name)), calls


def batch(first: int, sites: int, path: str) -> list[Hits]:
    """Return 200 hits of several sites, each with a source and a node, from 50 networks."""
    return [
        view(
            first + n,
            NOON,
            path.format(n),
            site=f"s{n % sites}",
            ref=f"r{n % 7}.example",
            visitor=f"v{n % 50}",
            node=f"s{n % sites}:n",
        )
        for n in range(200)
    ]


@pytest.mark.parametrize("sites", [1, 20])
def test_a_batch_asks_as_often_however_many_sites_and_names_it_has(
    heard: tuple[Runtime, Calls], sites: int
) -> None:
    runtime, calls = heard
    for n in range(sites):
        site(runtime, name=f"s{n}")
    counter = worker(runtime, 1)
    counter.count(batch(0, sites, "/known"))
    asked = []

    for number, path in enumerate(["/known", "/new/{0}", "/newer/{0}"], 1):
        calls.names.clear()
        counter.count(batch(1_000 * number, sites, path))
        asked.append(len(calls.names))

    # Of names that it knows, of names that are new, and of as many again.
    assert asked == [6, 15, 15]
