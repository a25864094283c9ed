"""Sending messages again for overdue documents.

The pause before the next message is one lease at first. It doubles with each message, up to 32
leases, until a worker takes a message.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from pymongo import ASCENDING
from pymongo.collection import Collection as MongoCollection

from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.jobs.sweeping import log_lag
from chalicelib.messaging import Message
from chalicelib.runtime import Runtime

Row = TypeVar("Row", bound=Mapping[str, Any])

# The pause doubles with each message, up to 32 leases: after a day's stop, a worker finds some
# fifty messages for each unfinished document instead of 1,440.
MAX_DOUBLINGS = 5


@dataclass(frozen=True)
class Resending:
    """The fields of a collection's documents that say when to send their messages again.

    - `at`: the path of that time.
    - `where`: the condition of the unfinished documents.
    - `made_of`: the field that their messages are made of.
    - `within`: the path prefix of `resends`, the number of messages sent again since the last
      progress, and of `resent_by`, the sweep that sent the last message.
    """

    at: str
    made_of: str = "_id"
    within: str = ""
    where: Mapping[str, Any] = field(default_factory=dict)

    @property
    def count(self) -> str:
        """The path of `resends`."""
        return f"{self.within}resends"

    @property
    def by(self) -> str:
        """The path of `resent_by`."""
        return f"{self.within}resent_by"


def sweep(
    runtime: Runtime,
    rows: MongoCollection[Row],
    kept: Resending,
    messages: Callable[[Iterable[Row]], Iterable[Message]],
) -> None:
    """Send messages for the documents that are overdue for longest, at most `swept_at_once`.

    It first moves their time on, so that the documents behind them get their turn, and concurrent
    sweeps send for different documents. If SQS refuses any message, all of these documents are due
    again in one lease.
    """
    now, sweep_id = runtime.now(), new_id(runtime.now(), runtime.random)
    overdue = {**kept.where, kept.at: {"$lte": now}}
    most = runtime.bounds.social.swept_at_once
    waits: Document = {"since": f"${kept.at}", "sent": f"${kept.count}"}
    found: list[Any] = list(rows.find(overdue, waits).sort(kept.at, ASCENDING).limit(most))
    if not found:
        return
    lag = max(_lag_of(runtime, row["since"], row.get("sent") or 0) for row in found)
    log_lag(rows.name, len(found), lag)
    ids = {"_id": {"$in": [row["_id"] for row in found]}}
    rows.update_many({**ids, **overdue}, [{"$set": _later(runtime, kept, sweep_id)}])
    mine = {**ids, kept.by: sweep_id}
    if not runtime.queues.send(*messages(rows.find(mine, {kept.made_of: 1}))):
        rows.update_many(mine, {"$set": {kept.at: lease_end(runtime)}, "$inc": {kept.count: -1}})


def note_taken(
    runtime: Runtime, rows: MongoCollection[Row], kept: Resending, where: Document
) -> None:
    """Make a document due in one lease and reset its count, as a worker takes a resent message.

    The pause may have grown long, but work that outlasts a run must continue soon.
    """
    again = {**where, kept.at: {"$exists": True}}
    rows.update_one(again, {"$set": {kept.at: lease_end(runtime), kept.count: 0}})


def lease_end(runtime: Runtime) -> datetime:
    """Return the end of a lease, or of a message's wait, that begins now."""
    return runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)


def _lag_of(runtime: Runtime, due: datetime, sent: int) -> timedelta:
    """Return the time since a document first became overdue: since `due`, plus former pauses."""
    leases = sum(1 << min(number, MAX_DOUBLINGS) for number in range(sent))
    return runtime.now() - due + leases * timedelta(milliseconds=runtime.settings.lease_ms)


def _later(runtime: Runtime, kept: Resending, sweep_id: str) -> Document:
    """Return the fields that a pipeline sets on a document whose message is sent again."""
    before = {"$ifNull": [f"${kept.count}", 0]}
    leases = {"$pow": [2, {"$min": [before, MAX_DOUBLINGS]}]}
    pause = {"$multiply": [runtime.settings.lease_ms, leases]}
    return {
        kept.at: {"$add": [runtime.now(), pause]},
        kept.count: {"$add": [before, 1]},
        kept.by: sweep_id,
    }
