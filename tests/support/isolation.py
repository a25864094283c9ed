"""What lets each test begin with nothing, at little cost: its server, collections and queues."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chalice.app import Chalice
from moto.backends import get_backend
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.sqs import models
from pymongo import MongoClient
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.wiring import schema
from deploy.declared import declared_queues
from local.queues import Poller, create_queues
from tests.support.written import WriteLog

# Long, so that a message that failed does not come back within the same `drain`.
VISIBILITY_TIMEOUT_SECONDS = 600
# By the server and the database.
_write_logs: defaultdict[tuple[object, str], WriteLog] = defaultdict(WriteLog)
# What `create_queues` gives a queue.
_GIVEN = ("VisibilityTimeout", "RedrivePolicy")


def acknowledge_unjournaled(uri: str) -> None:
    """Have a member acknowledge what it has, not what it has on a disk: no test cuts its power.

    A write takes a quarter of the time.
    """
    with MongoClient[Document](uri) as client:
        config = client.admin.command("replSetGetConfig")["config"]
        config["writeConcernMajorityJournalDefault"] = False
        config["version"] += 1
        client.admin.command("replSetReconfig", config)


def empty_collections(database: Database[Document]) -> None:
    """Delete all documents of Plaza's collections, whichever process wrote them.

    Most tests write to a few of them: only those are deleted from that the server's log names.
    """
    written = _write_logs[database.client.address, database.name].read(database)
    for each in schema.COLLECTIONS:
        if written is None or each.name in written:
            database[each.name].delete_many({})
    for family in schema.FAMILIES:
        if written is None or any(name.startswith(f"{family.name}.") for name in written):
            for collection in family.collections(database):
                collection.of(database).drop()


def ask_the_clock_once() -> None:
    """Have moto read the time in one call, not by three dates.

    It reads the time twice for each message of a queue, four times for each that is sent.
    """
    models.unix_time_millis = _milliseconds  # type: ignore[assignment,attr-defined]


def _milliseconds(_: None = None) -> float:
    return time.time() * 1_000


class QueueRoom:
    """Plaza's queues and their pollers, of which a test may have new ones at little cost.

    What a call to SQS takes is mostly its way there, so only the first queues are made by calls.
    """

    def __init__(self, sqs: Any) -> None:
        self._sqs = sqs
        self._backend = get_backend("sqs")[DEFAULT_ACCOUNT_ID][sqs.meta.region_name]
        self._attributes: dict[str, dict[str, Any]] = {}
        self._pollers: list[Poller] = []

    @contextmanager
    def opened(self, app: Chalice) -> Iterator[list[Poller]]:
        """Have the queues there, new, and none of any kind afterwards; give their pollers."""
        if not self._pollers:
            self._make(app)
        for name, attributes in self._attributes.items():
            self._backend.create_queue(name, **attributes)
        for poller in self._pollers:
            poller.app = app
        try:
            yield self._pollers
        finally:
            self._backend.queues.clear()

    def _make(self, app: Chalice) -> None:
        create_queues(self._sqs, app, lambda _: VISIBILITY_TIMEOUT_SECONDS)
        self._attributes = {
            name: {key: value for key, value in queue.attributes.items() if key in _GIVEN}
            for name, queue in self._backend.queues.items()
        }
        self._pollers = [Poller(app, self._sqs, source) for source in declared_queues(app)]
        for poller in self._pollers:
            # Nothing is sent while a test has its messages delivered: there is none to wait for.
            poller.source.maximum_batching_window_in_seconds = 0

    def has_messages(self, poller: Poller) -> bool:
        """Return whether a message can be received from a poller's queue."""
        return bool(self._backend.queues[str(poller.source.queue)].messages)
