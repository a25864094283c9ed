"""Deliveries of events to hooks: a worker sends each under a lease; publishers replay them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from time import monotonic
from typing import Any, NamedTuple

from pymongo import ASCENDING, DESCENDING

from chalicelib.database import Document, insert_missing
from chalicelib.http.paging import Position
from chalicelib.ids import new_id
from chalicelib.jobs.work import WHILE_OWED, Work
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.webhooks import hooks, sending
from chalicelib.webhooks.errors import UnknownDelivery
from chalicelib.webhooks.hooks import Listener
from chalicelib.webhooks.kinds import ONCE, TRIAL, EventKindName, body_of
from chalicelib.webhooks.messages import SendEvent
from chalicelib.webhooks.rows import DELIVERIES, HOOKS, KEPT, OWED, Delivery, Hook

# The pauses between the tries of a delivery: ten tries in about three days.
PAUSES = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    *(timedelta(hours=hours) for hours in (2, 5, 10, 14, 20, 24)),
)
# After this time of failures without a success, Plaza switches a hook off.
GIVEN_UP = timedelta(days=5)
# The pause after a try without an answer: time-outs of one receiver do not occupy the workers.
QUIET = timedelta(minutes=1)
# A delivery to a silent receiver waits for `QUIET` plus an eighth of the time since the first
# failure; the eighth is at most `LONGEST_WAIT`. After a success, each `wake` makes the oldest
# `_WOKEN_AT_ONCE` untried deliveries due.
LONGEST_WAIT = timedelta(hours=2)
_WOKEN_AT_ONCE = 1_000
# The time after which the schedule replaces a lost or early message.
_RESENT = timedelta(minutes=1)

WORK = Work(
    DELIVERIES,
    owed=OWED,
    message=lambda row: SendEvent(delivery=row["_id"]),
    key=("hook", "_id"),
)


class NewEvent(NamedTuple):
    """An event to deliver; a repeat has the same id and body."""

    id: str
    kind: EventKindName
    body: str


def make(runtime: Runtime, site: str, events: Iterable[NewEvent]) -> None:
    """Store a delivery of each event for each hook that chose its kind, and send their messages.

    Existing deliveries stay.
    """
    rows = [
        _new(runtime, site, each.id, event._replace(id=_id_in_epoch(event, each)))
        for event in events
        for each in hooks.listening(runtime, site)
        if event.kind in each.kinds
    ]
    _store(runtime, rows)


def _id_in_epoch(event: NewEvent, hook: Listener) -> str:
    """Return the id of an event; only ids that count something begin anew after a restore."""
    return event.id if event.kind in ONCE else f"{event.id}{hook.epoch}"


def try_hook(runtime: Runtime, hook: Hook) -> str:
    """Store a delivery of a trial event for a hook, and send its message; return its id."""
    data = {"hook": hook["_id"], "site": hook["site"]}
    event = f"trial-{new_id(runtime.now(), runtime.random)}"
    body = body_of(TRIAL, runtime.now(), data)
    row = _new(runtime, hook["site"], hook["_id"], NewEvent(event, TRIAL, body))
    _store(runtime, [row])
    return row["_id"]


def _store(runtime: Runtime, rows: Sequence[Delivery]) -> None:
    insert_missing(DELIVERIES.of(runtime.database), rows)
    # The schedule sends lost messages again.
    runtime.queues.send(*(SendEvent(delivery=each["_id"]) for each in rows))


def _new(runtime: Runtime, site: str, hook_id: str, event: NewEvent) -> Delivery:
    now = runtime.now()
    return {
        "_id": f"{event.id}:{hook_id}",
        "hook": hook_id,
        "site": site,
        "kind": event.kind,
        "body": event.body,
        "state": "due",
        "tries": 0,
        "tried": None,
        "status": None,
        "made": now,
        "next": now,
        "expires": now + KEPT,
        "due": now + _RESENT,
    }


def page(
    runtime: Runtime, hook_id: str, after: Position | None, limit: int
) -> tuple[list[Delivery], Position | None]:
    """Return a page of a hook's deliveries, newest first, and the position before the next page.

    None: there is no next page.
    """
    where: Document = {"hook": hook_id}
    if after is not None:
        made, last_id = after
        where["$or"] = [{"made": {"$lt": made}}, {"made": made, "_id": {"$lt": last_id}}]
    order = [("made", DESCENDING), ("_id", DESCENDING)]
    found = list(DELIVERIES.of(runtime.database).find(where).sort(order).limit(limit + 1))
    last = found[limit - 1] if len(found) > limit else None
    return found[:limit], (last["made"], last["_id"]) if last else None


def replay(runtime: Runtime, hook_id: str, delivery_id: str) -> None:
    """Restart a delivery with all its tries, whatever its state; raises UnknownDelivery."""
    now = runtime.now()
    fresh = {"state": "due", "tries": 0, "next": now, "due": now + _RESENT, "expires": now + KEPT}
    gone = {name: "" for name in WHILE_OWED if name != "due"}
    update: Document = {"$set": fresh, "$unset": gone}
    key = {"hook": hook_id, "_id": delivery_id}
    if not DELIVERIES.of(runtime.database).update_one(key, update).matched_count:
        raise UnknownDelivery
    runtime.queues.send(SendEvent(delivery=delivery_id))


def run(runtime: Runtime, delivery_id: str) -> None:
    """Try a due delivery, unless another worker has its lease.

    A delivery of a busy site, or to a silent receiver, waits. A delivery to a hook that is off
    fails, except a trial.
    """
    hook_id = delivery_id.rpartition(":")[2]
    key: Document = {"hook": hook_id, "_id": delivery_id, "next": {"$lte": runtime.now()}}
    row = WORK.take(runtime, key)
    if row is None:
        return
    hook = HOOKS.of(runtime.database).find_one({"site": row["site"], "_id": hook_id})
    if hook is None:
        # Its publisher removed the hook after the event.
        DELIVERIES.of(runtime.database).delete_one({"hook": hook_id, "_id": delivery_id})
    elif hook["state"] != "on" and row["kind"] != TRIAL:
        WORK.finish(runtime, row, {"state": "failed"})
    elif (until := hooks.busy_until(hook, runtime.now())) is not None:
        _postpone(runtime, row, until + _wait_behind_others(runtime, row), {})
    elif not hooks.may_try(runtime, hook, QUIET):
        _wait(runtime, hook, row)
    else:
        began = monotonic()
        status = sending.send(runtime, hook, row)
        hooks.note_call(runtime, hook, monotonic() - began)
        _settle(runtime, hook, row, status)


def _wait(runtime: Runtime, hook: Hook, row: Delivery) -> None:
    """Postpone a delivery to a silent receiver; make it due if the receiver has answered."""
    until = runtime.now() + _wait_of(runtime, hook, row)
    _postpone(runtime, row, until, {})
    present = HOOKS.of(runtime.database).find_one({"site": hook["site"], "_id": hook["_id"]})
    if present is not None and present["quiet_until"] is None:
        # The `wake` after that answer may have come before this postponement.
        key = {"hook": hook["_id"], "_id": row["_id"], **OWED, "next": until}
        DELIVERIES.of(runtime.database).update_one(key, _be_due(runtime.now()))


def _wait_of(runtime: Runtime, hook: Hook, row: Delivery) -> timedelta:
    """Return the wait of a delivery for a silent receiver."""
    if row["kind"] == TRIAL or hook["failing_since"] is None:
        return QUIET
    # Each wait ends with a turn of a worker: a longer silence means rarer turns.
    return QUIET + min((runtime.now() - hook["failing_since"]) / 8, LONGEST_WAIT)


def _wait_behind_others(runtime: Runtime, row: Delivery) -> timedelta:
    """Return the further wait of a delivery of a busy site: an eighth of the delivery's age.

    So an old delivery takes rarer turns. The wait is at most `LONGEST_WAIT`; a trial has none.
    """
    if row["kind"] == TRIAL:
        return timedelta()
    return min((runtime.now() - row["made"]) / 8, LONGEST_WAIT)


def _settle(runtime: Runtime, hook: Hook, row: Delivery, status: int | None) -> None:
    """Store the outcome of a try in its delivery and its hook; `status` None: no answer."""
    now, tries = runtime.now(), row["tries"] + 1
    tried = {"tries": tries, "tried": now, "status": status}
    is_sent = status is not None and HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
    fields = {"hook": hook["_id"], "kind": row["kind"], "status": status, "tries": tries}
    log.info("webhook", extra={"fields": fields})
    if is_sent:
        WORK.finish(runtime, row, {**tried, "state": "sent"})
        # Before `note_success`, because a crash after it would leave deliveries waiting; and again
        # after it, for deliveries that began to wait in between.
        wake(runtime, hook)
        hooks.note_success(runtime, hook)
        wake(runtime, hook)
        return
    hooks.note_failure(runtime, hook, _after_failure(hook, status, now))
    if status == HTTPStatus.GONE or tries > len(PAUSES):
        WORK.finish(runtime, row, {**tried, "state": "failed"})
    else:
        _postpone(runtime, row, now + PAUSES[tries - 1], tried)


def wake(runtime: Runtime, hook: Hook) -> None:
    """Make due the oldest `_WOKEN_AT_ONCE` untried deliveries that wait for a failing receiver.

    `hook`: as read before the success or the change. If it has no failures, nothing changes.
    """
    since, now = hook["failing_since"], runtime.now()
    if since is None:
        return
    # A tried delivery has its own pauses. `since - QUIET`: events came while the first try hung.
    waits: Document = {"hook": hook["_id"], **OWED, "tries": 0, "next": {"$gt": now}}
    rows = DELIVERIES.of(runtime.database)
    found = rows.find({**waits, "made": {"$gte": since - QUIET}}, {"_id": 1})
    ids = [each["_id"] for each in found.sort("made", ASCENDING).limit(_WOKEN_AT_ONCE)]
    if ids:
        rows.update_many({**waits, "_id": {"$in": ids}}, _be_due(now))


def _be_due(now: datetime) -> Document:
    return {"$set": {"next": now, "due": now}}


def _after_failure(hook: Hook, status: int | None, now: datetime) -> Mapping[str, Any]:
    """Return the fields that a failure sets at its hook."""
    if status == HTTPStatus.GONE:
        return {"state": "gone"}
    if hook["failing_since"] is not None and hook["failing_since"] <= now - GIVEN_UP:
        return {"state": "failing"}
    return {"quiet_until": now + QUIET if status is None else None}


def _postpone(runtime: Runtime, row: Delivery, until: datetime, fields: Mapping[str, Any]) -> None:
    WORK.postpone(runtime, row, until, {**fields, "next": until})
