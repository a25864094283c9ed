"""What each process of the budget's swarm does: serve, beacon, count, run schedules; and die."""

import random
from datetime import timedelta
from typing import Any

from pydantic import SecretStr
from pymongo.database import Database

from chalicelib.ads.budgets import exhaustion, leases
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.serving.decisions import AdRequest, answer, decide
from chalicelib.ads.tracking import beacons, counting, events
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.messaging import Queues
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings

# The messages on their way: deleted when they are done, taken by anyone as long as they are not.
QUEUE = "test.queue"
LEASE_IMPRESSIONS = 50
GRACE = timedelta(seconds=0.5)
BATCH = 25


class LossyQueues(Queues):
    """A queue that delivers in any order, at times twice, and at times cannot be reached."""

    def __init__(self, database: Database[Document], rng: random.Random) -> None:
        super().__init__("test-")
        self._messages = database[QUEUE]
        self._rng = rng

    def send(self, *messages: Any) -> bool:
        """Take each message once or twice; refuse some."""
        if self._rng.random() < 0.05:
            return False
        copies = [
            {"body": message.model_dump_json()}
            for message in messages
            for _ in range(1 + (self._rng.random() < 0.3))
        ]
        self._messages.insert_many(copies)
        return True


class Container:
    """One process's runtime and memory."""

    def __init__(self, database: Database[Document], rng: random.Random) -> None:
        settings = Settings(
            signing_keys=(SecretStr("a signing key of the swarm, as long as it must be"),),
            budget_lease_impressions=LEASE_IMPRESSIONS,
            budget_lease_seconds=1,
        )
        queues = LossyQueues(database, rng)
        self.runtime = Runtime(database, queues, utc_now, rng, settings)
        self.warm = ZoneCache(self.runtime)

    def serve_and_beacon(self) -> bool:
        """Ask for an ad and send its beacon, often more than once; return whether there was one."""
        decision = decide(self.runtime, self.warm, AdRequest("blog", "banner"))
        for ad in answer(self.runtime, decision)["ads"]:
            token = ad["impression_url"].rpartition("/")[2]
            for _ in range(self.runtime.random.choice((1, 1, 2, 5))):
                beacons.record_impression(self.runtime, token, by_person=True)
        return bool(decision.placements)

    def work(self) -> None:
        """Take a batch of messages in any order; at times forget to say that it is done."""
        runtime = self.runtime
        sample: list[Document] = [{"$sample": {"size": BATCH}}]
        batch = list(runtime.database[QUEUE].aggregate(sample))
        happened = [events.AD_EVENT.validate_json(message["body"]) for message in batch]
        counting.count_and_bill(runtime, happened)
        if runtime.random.random() < 0.8:
            done = {"_id": {"$in": [message["_id"] for message in batch]}}
            runtime.database[QUEUE].delete_many(done)

    def run_schedules(self) -> None:
        """Run the schedules, as often as not beside another process that does."""
        leases.end_expired(self.runtime.database, GRACE, self.runtime.now())
        exhaustion.refresh_all(self.runtime.database, self.runtime.now(), self.runtime.random)


_containers: dict[int, Container] = {}


def serve_and_count(database: Database[Document], rng: random.Random) -> None:
    """Do one of the works; a process has one container for its life."""
    container = _containers.setdefault(id(database), Container(database, rng))
    work = rng.choices(
        (container.serve_and_beacon, container.work, container.run_schedules), (6, 3, 1)
    )[0]
    try:
        work()
    except Unavailable:
        return
