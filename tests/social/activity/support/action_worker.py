"""A worker in a process of its own, which a test may kill: delivers every unfinished action."""

import os
import random
import sys

from pydantic import SecretStr
from pymongo import MongoClient

from chalicelib.bounds import Bounds, SocialBounds
from chalicelib.database import Document, open_database
from chalicelib.messaging import Message, Queues
from chalicelib.runtime import Runtime, utc_now
from chalicelib.settings import Settings
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.shapes import StoredAction
from chalicelib.social.activity.feed.action_fan_out import ActionDelivery
from chalicelib.social.delivery import engine

CHUNK_READERS = 10
LEASE_MS = 1_000
# `{thing, token, until, pid, begun, ended}`: who worked on what under which lease, and when.
LOG = "test.work"


class NoQueues(Queues):
    """Loses every message: whatever is to be done is found in the database."""

    def send(self, *messages: Message) -> bool:
        return bool(messages)


class RecordedDelivery(ActionDelivery):
    """Delivers actions, and records when each delivery began and ended."""

    def deliver(
        self, runtime: Runtime, document: StoredAction, reader_ids: list[str], *, is_first: bool
    ) -> None:
        """Deliver an action to readers, and record when that began and ended."""
        fan_out, log = document["fan_out"], runtime.database[LOG]
        leased = [chunk for chunk in fan_out["chunks"] if chunk.get("after", "") < reader_ids[0]]
        work = log.insert_one(
            {
                "thing": f"{document['_id']} from {reader_ids[0]}",
                "token": leased[-1]["owner"] if leased else fan_out["owner"],
                "until": fan_out["expires_at"],
                "pid": os.getpid(),
                "begun": utc_now(),
                "ended": None,
            }
        )
        super().deliver(runtime, document, reader_ids, is_first=is_first)
        log.update_one({"_id": work.inserted_id}, {"$set": {"ended": utc_now()}})


def main(uri: str, database: str) -> None:
    """Try for every action and every chunk that is not done, in any order, until killed."""
    kind = RecordedDelivery()
    bounds = Bounds(social=SocialBounds(chunk_readers=CHUNK_READERS))
    settings = Settings(mongodb_uri=SecretStr(uri), database=database, lease_ms=LEASE_MS)
    opened = open_database(MongoClient[Document](uri), database)
    rng = random.SystemRandom()
    runtime = Runtime(opened, NoQueues("test-"), utc_now, rng, settings, bounds)
    print("ready", flush=True)  # noqa: T201 - the test waits for it
    while True:
        where = {"fan_out.state": {"$in": ["pending", "delivering"]}}
        found = list(opened[actions.ACTIONS.name].find(where, {"fan_out.chunks": 1}))
        rng.shuffle(found)
        for action in found:
            engine.deliver(runtime, kind, action["_id"])
            for number in range(len(action["fan_out"]["chunks"])):
                engine.deliver_chunk(runtime, kind, action["_id"], number)


if __name__ == "__main__":
    main(*sys.argv[1:])
