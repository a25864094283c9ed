"""A client whose process ends before one of its commands, whichever that is."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

from pymongo import MongoClient, monitoring

from chalicelib.database import Document, open_database
from chalicelib.runtime import Runtime
from tests.comments.support.crashes import Crash


class LastCommand(monitoring.CommandListener):
    """Ends the process when it is about to send the command of this number, and each after it."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.is_over = False

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        del event
        self.left -= 1
        if self.left < 0 and not self.is_over:
            raise Crash

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        pass

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        pass


def crash_everywhere(
    runtime: Runtime, uri: str, call: Callable[[Runtime], object]
) -> Iterator[int]:
    """Run a call that ends before its first command, then before its second, until it ends well."""
    for number in range(1_000):
        listener = LastCommand(number)
        with MongoClient[Document](uri, event_listeners=[listener]) as client:
            ending = dataclasses.replace(
                runtime, database=open_database(client, runtime.settings.database)
            )
            with contextlib.suppress(Crash):
                call(ending)
            # What the client sends as it is closed is no part of the call.
            listener.is_over = True
            ended_well = listener.left >= 0
        yield number
        if ended_well:
            return
