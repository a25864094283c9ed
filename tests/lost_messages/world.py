"""Plaza with its parts at hand, whose queues a test silences for a while."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.messaging import Message, Queues
from chalicelib.runtime import Runtime
from local.schedules import declared_schedules, run_schedule
from tests.comments.support.akismet_stand_in import AkismetStandIn
from tests.support.clock import Clock
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

REDIRECTED = 302


@dataclass(frozen=True)
class World:
    """An app over real queues; `unsent` are the messages that these did not take."""

    app: Chalice
    client: Client
    workers: Workers
    runtime: Runtime
    clock: Clock
    akismet: AkismetStandIn
    monkeypatch: pytest.MonkeyPatch
    unsent: list[Message] = field(default_factory=list)

    @contextlib.contextmanager
    def silence(self) -> Iterator[None]:
        """Have SQS take nothing within the block, in which every call succeeds."""
        request = Client.request

        def refuse(_queues: Queues, *messages: Message) -> bool:
            self.unsent.extend(messages)
            return not messages

        def succeed(client: Client, method: str, target: str, **given: Any) -> Reply:
            reply = request(client, method, target, **given)
            assert reply.status < 300 or reply.status == REDIRECTED, (target, reply.body)
            return reply

        with self.monkeypatch.context() as patch:
            patch.setattr(Queues, "send", refuse)
            patch.setattr(Client, "request", succeed)
            yield

    def run_schedules(self) -> None:
        """Run every schedule once."""
        for schedule in declared_schedules():
            run_schedule(self.app, schedule.name)

    def recover(self) -> None:
        """Let the schedules find what is owed, and the workers do it, for half an hour."""
        for _ in range(3):
            self.clock.advance(minutes=10)
            self.run_schedules()
            self.workers.drain()

    def letters(self) -> list[str]:
        """Return the addresses of the letters that were sent."""
        files = Path(self.runtime.settings.mail_folder).glob("*.eml")
        return [str(message_from_bytes(each.read_bytes())["To"]) for each in files]

    def count(self, collection: str, **where: Any) -> int:
        return self.runtime.database[collection].count_documents(where)

    def stored(self, collection: str, key: str) -> Any:
        return self.runtime.database[collection].find_one({"_id": key})
