"""Due events: a thing stores each event with its cause, until a schedule makes its deliveries.

The write of the cause also stores the event: a crash loses no event, and the event costs no round
trip. This write fixes the id and the data of the event, so a repeat makes the same deliveries.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pymongo import ASCENDING, UpdateOne

from chalicelib import deadlines
from chalicelib.database import Collection, Document
from chalicelib.runtime import Runtime
from chalicelib.webhooks import deliveries
from chalicelib.webhooks.deliveries import NewEvent
from chalicelib.webhooks.hooks import REMEMBERED
from chalicelib.webhooks.kinds import body_of
from chalicelib.webhooks.rows import MAX_DUE, DueEvent

# Notifies users of due events; has to be idempotent.
Notify = Callable[[Runtime, Sequence[DueEvent]], None]
# The most things of one run; the next run continues.
MOST_AT_ONCE = 500
# The things of a step: each step ends with a write of its progress, and a run may end after it.
_STEP = 5


def push(*events: DueEvent) -> Document:
    """Return the argument of `$push` that stores events; beyond `MAX_DUE`, the oldest go."""
    return {"due_events": {"$each": [*events], "$slice": -MAX_DUE}}


def deliver(
    runtime: Runtime,
    things: Collection[Any],
    notify: Notify | None = None,
    key: Sequence[str] = ("_id",),
) -> int:
    """Make the deliveries of due events, notify users, and remove the events; return their number.

    `key`: the fields that find a thing, with its shard key. Without hooks, an event goes without a
    delivery. After a crash, the next run repeats one step, without duplicates. A run ends after
    half of its time limit.
    """
    # An event waits until every container remembers the hooks of its time.
    until = runtime.now() - REMEMBERED
    rows = things.of(runtime.database)
    due = rows.find({"due_events.at": {"$lte": until}}, dict.fromkeys((*key, "due_events"), 1))
    found = list(due.sort("due_events.at", ASCENDING).limit(MOST_AT_ONCE))
    has_time, count = deadlines.share(0.5), 0
    for start in range(0, len(found), _STEP):
        if not has_time():
            break
        told: list[DueEvent] = []
        done: list[UpdateOne] = []
        for thing in found[start : start + _STEP]:
            come = [each for each in thing["due_events"] if each["at"] <= until]
            told += come
            ids = [each["id"] for each in come]
            this = {name: thing[name] for name in key}
            done.append(UpdateOne(this, {"$pull": {"due_events": {"id": {"$in": ids}}}}))
        _tell(runtime, told, notify)
        rows.bulk_write(done, ordered=False)
        count += len(told)
    return count


def _tell(runtime: Runtime, events: Sequence[DueEvent], notify: Notify | None) -> None:
    for event in events:
        body = body_of(event["kind"], event["at"], event["data"])
        made = NewEvent(event["id"], event["kind"], body)
        deliveries.make(runtime, event["data"]["site"], [made])
    if notify is not None and events:
        notify(runtime, events)
