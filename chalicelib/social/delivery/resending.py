"""Sending again for what is overdue: each once a lease, and more rarely while nobody takes it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pymongo import ASCENDING
from pymongo.collection import Collection as MongoCollection

from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.messaging import Message
from chalicelib.runtime import Runtime

SWEPT_AT_ONCE = 1_000
# The pause doubles with each message, up to 32 leases: a worker that is stopped for a day finds
# some fifty messages for each unfinished document, and not 1,440.
MAX_DOUBLINGS = 5


@dataclass(frozen=True)
class Resending:
    """Where documents keep when they are to be sent for again.

    `at` is the path of that time; with `from_start`, those that lack it are overdue too, as what
    the last release wrote. `where` is the condition of those that are owed, `made_of` what of them
    the messages are made of. In the embedded document `within`, if there is one, are `resends`,
    how often a document was sent for again since the last progress, and `resent_by`, the sweep
    that did so last.
    """

    at: str
    made_of: str = "_id"
    within: str = ""
    where: Mapping[str, Any] = field(default_factory=dict)
    from_start: bool = False

    @property
    def count(self) -> str:
        """Return the path of `resends`."""
        return f"{self.within}resends"

    @property
    def by(self) -> str:
        """Return the path of `resent_by`."""
        return f"{self.within}resent_by"


def sweep(
    runtime: Runtime,
    rows: MongoCollection[Document],
    kept: Resending,
    messages: Callable[[Iterable[Document]], Iterable[Message]],
) -> None:
    """Send for the documents that are overdue for longest, at most `SWEPT_AT_ONCE`.

    Their time is moved on first, so that those behind them get their turn, and of two sweeps at
    once each sends for its own. Where SQS takes nothing, it is moved by no more than a lease.
    """
    now, sweep_id = runtime.now(), new_id(runtime.now(), runtime.random)
    overdue = {**kept.where, kept.at: {"$not": {"$gt": now}} if kept.from_start else {"$lte": now}}
    found = rows.find(overdue, {"_id": 1}).sort(kept.at, ASCENDING).limit(SWEPT_AT_ONCE)
    ids = {"_id": {"$in": [row["_id"] for row in found]}}
    rows.update_many({**ids, **overdue}, [{"$set": _later(runtime, kept, sweep_id)}])
    mine = {**ids, kept.by: sweep_id}
    if not runtime.queues.send(*messages(rows.find(mine, {kept.made_of: 1}))):
        due = now + timedelta(milliseconds=runtime.settings.lease_ms)
        rows.update_many(mine, {"$set": {kept.at: due}, "$inc": {kept.count: -1}})


def note_taken(
    runtime: Runtime, rows: MongoCollection[Document], kept: Resending, where: Document
) -> None:
    """Have a document that was sent for again, and is worked on now, wait for a lease from now.

    What is too long for one run goes on in the next, which must not be far.
    """
    due = runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)
    again = {**where, kept.at: {"$exists": True}}
    rows.update_one(again, {"$set": {kept.at: due, kept.count: 0}})


def _later(runtime: Runtime, kept: Resending, sweep_id: str) -> Document:
    """Return what a pipeline sets on a document that is sent for again."""
    before = {"$ifNull": [f"${kept.count}", 0]}
    leases = {"$pow": [2, {"$min": [before, MAX_DOUBLINGS]}]}
    pause = {"$multiply": [runtime.settings.lease_ms, leases]}
    return {
        kept.at: {"$add": [runtime.now(), pause]},
        kept.count: {"$add": [before, 1]},
        kept.by: sweep_id,
    }
