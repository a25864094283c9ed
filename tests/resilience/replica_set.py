"""A replica set of three real servers, whose primary can be killed."""

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from local.mongod import REPLICA_SET, free_port, start
from tests.local.stack import wait_until

MEMBERS = 3
ELECTION_TIMEOUT_MS = 2_000
OPTIONS = (
    "--oplogSize=64",
    # For the fail point with which a member stops to follow the primary.
    "--setParameter=enableTestCommands=1",
)


@dataclass
class Member:
    """One server of the set."""

    data: Path
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        self.data.mkdir(exist_ok=True)
        self.process = start(self.data, self.port, *OPTIONS)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.process = None

    def ask(self, command: str | dict[str, Any]) -> dict[str, Any]:
        """Return this member's own answer; nothing where it gives none."""
        client: MongoClient[dict[str, Any]] = MongoClient(
            "127.0.0.1", self.port, directConnection=True, serverSelectionTimeoutMS=500
        )
        with client, contextlib.suppress(PyMongoError):
            return client.admin.command(command)
        return {}

    def answers(self) -> bool:
        return bool(self.ask("ping"))

    def is_in_service(self) -> bool:
        hello = self.ask("hello")
        return bool(hello.get("isWritablePrimary") or hello.get("secondary"))

    def is_primary(self) -> bool:
        return bool(self.ask("hello").get("isWritablePrimary"))


@dataclass
class ReplicaSet:
    """Three members; any two of them are a majority."""

    members: list[Member]

    @property
    def uri(self) -> str:
        hosts = ",".join(f"127.0.0.1:{member.port}" for member in self.members)
        return f"mongodb://{hosts}/?replicaSet={REPLICA_SET}"

    def primary(self) -> Member:
        """Wait for a member that takes writes, and return it."""

        def found() -> Member | None:
            living = (member for member in self.members if member.process is not None)
            return next((member for member in living if member.is_primary()), None)

        member: Member = wait_until(found, "a primary is elected")
        return member

    def kill_primary(self, wait: Callable[[], None]) -> Member:
        """Kill the primary while it has writes that no other member has; return it.

        The others fetch nothing meanwhile, as behind a slow network. What the primary has
        acknowledged without them is lost with it.
        """
        primary = self.primary()
        others = [each for each in self.members if each is not primary]
        for other in others:
            other.ask({"configureFailPoint": "stopReplProducer", "mode": "alwaysOn"})
        wait()
        primary.kill()
        for other in others:
            other.ask({"configureFailPoint": "stopReplProducer", "mode": "off"})
        return primary

    def whole(self) -> None:
        """Start the members that were killed, and wait until each has caught up."""
        for member in self.members:
            if member.process is None:
                member.start()
        for member in self.members:
            wait_until(member.is_in_service, "a member is back")


@contextlib.contextmanager
def running_replica_set(folder: Path) -> Iterator[ReplicaSet]:
    """Run three members; they are killed on leaving."""
    members = [Member(folder / f"member-{number}") for number in range(MEMBERS)]
    try:
        for member in members:
            member.start()
        for member in members:
            wait_until(member.answers, "a member answers")
        _initiate(members)
        replica_set = ReplicaSet(members)
        replica_set.primary()
        yield replica_set
    finally:
        for member in members:
            if member.process is not None:
                member.kill()


def _initiate(members: list[Member]) -> None:
    config = {
        "_id": REPLICA_SET,
        "members": [
            {"_id": number, "host": f"127.0.0.1:{member.port}"}
            for number, member in enumerate(members)
        ],
        "settings": {
            "electionTimeoutMillis": ELECTION_TIMEOUT_MS,
            "heartbeatIntervalMillis": ELECTION_TIMEOUT_MS // 4,
            # An elected primary stays: the test decides when it changes.
            "catchUpTakeoverDelayMillis": -1,
        },
    }
    client: MongoClient[dict[str, Any]] = MongoClient(
        "127.0.0.1", members[0].port, directConnection=True
    )
    with client:
        client.admin.command("replSetInitiate", config)
