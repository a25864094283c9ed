"""The commands that a client sends to MongoDB."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from pymongo import MongoClient, monitoring

from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime


class Commands(monitoring.CommandListener):
    """Remembers the names of a client's commands, in order."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        self.names.append(event.command_name)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """A command counts when it is sent."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """A command counts when it is sent."""


@contextmanager
def listening(runtime: Runtime, listener: monitoring.CommandListener) -> Iterator[Runtime]:
    """Give the runtime a client whose commands a listener hears; its connection is open."""
    uri = runtime.settings.mongodb_uri.get_secret_value()
    with MongoClient[Document](uri, event_listeners=[listener]) as client:
        database = open_database(client, runtime.settings.database)
        database.command("ping")
        yield dataclasses.replace(runtime, database=database)
