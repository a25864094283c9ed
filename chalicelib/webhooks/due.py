"""Events that a thing stores with their cause, until a schedule has told of them.

The write of the cause notes the event, so that a crash loses none, and costs no trip of its own. An
event has its id and its body from that write on: a repeat makes the same deliveries.
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

# Notifies people of due events; a repeat must change nothing.
Notify = Callable[[Runtime, Sequence[DueEvent]], None]
# Things of one run; the next run goes on.
MOST_AT_ONCE = 500
# Things of a step: its end stores the progress, and a run ends between two steps.
_STEP = 5


def push(event: DueEvent) -> Document:
    """Return the `$push` of a write that causes an event."""
    return {"due_events": {"$each": [event], "$slice": -MAX_DUE}}


def deliver(
    runtime: Runtime,
    things: Collection[Any],
    notify: Notify | None = None,
    key: Sequence[str] = ("_id",),
) -> int:
    """Tell webhooks and people of due events; return the number of events.

    `key`: fields of the shard key. Without hooks an event just goes. A crash leaves events of one
    step that have deliveries: the next run makes no second ones. A run ends in half of its time.
    """
    # By then each container knows the hooks that were there at the event.
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
