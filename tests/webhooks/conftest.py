"""A site with a discussion, and a receiver of its events on this machine."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from chalicelib.webhooks import deliveries, rows
from chalicelib.webhooks.rows import DELIVERIES, Delivery
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.webhooks.support.receiver import Receiver, running

SITE = "harbour"
NODE = f"{SITE}:moon"
COMMENTS = f"/nodes/{NODE}/comments"
HOOKS = f"/sites/{SITE}/webhooks"
ALL = [f"comment.{name}" for name in ("created", "edited", "state_changed", "deleted", "flagged")]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Plaza is on its own machine, where receivers may be, too."""
    return settings.model_copy(update={"public_url": "http://127.0.0.1:8000"})


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running() as started:
        yield started


@dataclass(frozen=True)
class Desk:
    """A site's publisher, and the discussion of its page."""

    client: Client
    runtime: Runtime
    clock: Clock
    workers: Workers

    @property
    def publisher(self) -> Client:
        return self.client.as_("paul", roles=["publisher"], sites=[SITE])

    @property
    def moderator(self) -> Client:
        return self.client.as_("mo", roles=["moderator"], sites=[SITE])

    def hook(self, url: str, kinds: list[str] | None = None) -> Any:
        """Register a hook, and let all containers know it."""
        reply = self.publisher.post(HOOKS, url=url, kinds=kinds or ALL)
        assert reply.status == 201, reply.body
        self.clock.advance(seconds=6)
        return reply.json

    def post(self, text: str = "The moon is up.", by: str = "ann") -> str:
        reply = self.client.as_(by, name=by.title()).post(COMMENTS, text=text)
        assert reply.status == 201, reply.body
        return str(reply.json["id"])

    def set_state(self, comment: str, state: str) -> None:
        assert self.moderator.post(f"{COMMENTS}/{comment}/state", state=state).status == 200

    def fail_since(self, hook: str, since: datetime, quiet_until: datetime | None = None) -> None:
        """Have a hook's receiver fail since a time; with `quiet_until` it answers nothing."""
        failing = {"failing_since": since, "quiet_until": quiet_until}
        rows.HOOKS.of(self.runtime.database).update_one({"_id": hook}, {"$set": failing})

    def sweep(self) -> None:
        """Run the schedule of deliveries, and the workers of its messages."""
        deliveries.WORK.sweep(self.runtime)
        self.workers.drain()

    def rows(self) -> list[Delivery]:
        return list(DELIVERIES.of(self.runtime.database).find().sort("_id"))


@pytest.fixture
def desk(client: Client, runtime: Runtime, clock: Clock, workers: Workers) -> Desk:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/moon").status == 201
    return Desk(client, runtime, clock, workers)
