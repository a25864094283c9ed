"""Events of things: one event for each difference between a thing and its reported state.

A worker reads the reported state, and then the thing. One write, on condition of the state's
version, stores the new state with the events that it owes. So concurrent workers, and repeated or
late messages, report each difference once. After a crash, a repeat makes the missing deliveries.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pymongo import ReturnDocument

from chalicelib.database import Document, insert_missing
from chalicelib.errors import Unavailable
from chalicelib.instants import milliseconds
from chalicelib.runtime import Runtime
from chalicelib.webhooks import deliveries, hooks
from chalicelib.webhooks.deliveries import NewEvent
from chalicelib.webhooks.kinds import Kind, body_of
from chalicelib.webhooks.rows import KEPT, TOLD, ToldThing

_ATTEMPTS = 5


class OwedEvent(NamedTuple):
    """An event that a thing owes: its kind, its time, and its data."""

    kind: Kind
    at: datetime
    data: Mapping[str, Any]


class SeenThing(NamedTuple):
    """A thing as it is now; its events follow from differences of `facts`."""

    facts: Document
    differences: Sequence[OwedEvent]


# Returns a thing and its differences from the reported facts; None: no such thing. Arguments: these
# facts (None: no report yet), and the time of the site's oldest hook.
Look = Callable[[Document | None, datetime], SeenThing | None]


def tell(runtime: Runtime, site: str, thing_id: str, look: Look) -> None:
    """Make deliveries for the differences of a thing from its reported state, and store its state.

    `thing_id` has to stay the same when the thing moves. Without hooks, nothing happens. Raises
    Unavailable if other workers store a report at each attempt.
    """
    listening = hooks.listening(runtime, site)
    if not listening:
        return
    since = min(each.made for each in listening)
    for _ in range(_ATTEMPTS):
        told = _told(runtime, site, thing_id)
        if told["owed"]:
            _deliver(runtime, told)
        # Read the thing after the report: an earlier read could be older than the report.
        seen = look(told["facts"], since)
        if seen is None or seen.facts == told["facts"]:
            return
        noted = _note(runtime, site, told, seen)
        if noted is not None:
            _deliver(runtime, noted)
            return
    raise Unavailable("Others report this thing; try again")


def _told(runtime: Runtime, site: str, thing_id: str) -> ToldThing:
    """Return the reported state of a thing; for a new thing, store an empty state."""
    rows, now = TOLD.of(runtime.database), runtime.now()
    found = rows.find_one({"_id": thing_id})
    if found is not None:
        return found
    new: ToldThing = {
        "_id": thing_id,
        "site": site,
        # Not from 0: event ids have the version, and stay unique after the row has expired.
        "version": milliseconds(now),
        "facts": None,
        "owed": [],
        "expires": now + KEPT,
    }
    insert_missing(rows, [new])
    return rows.find_one({"_id": thing_id}) or new


def _note(runtime: Runtime, site: str, told: ToldThing, seen: SeenThing) -> ToldThing | None:
    """Store a new reported state with the events that it owes; None: another worker was faster."""
    owed = [{"kind": each.kind, "body": body_of(*each)} for each in seen.differences]
    fields: Document = {"facts": seen.facts, "owed": owed, "expires": runtime.now() + KEPT}
    # A thing may have moved to another site: from now on, the hooks of this site get its events.
    fields["site"] = site
    return TOLD.of(runtime.database).find_one_and_update(
        {"_id": told["_id"], "version": told["version"], "owed": []},
        {"$set": fields, "$inc": {"version": 1}},
        return_document=ReturnDocument.AFTER,
    )


def _deliver(runtime: Runtime, told: ToldThing) -> None:
    """Make the deliveries of the owed events, and clear the events; idempotent."""
    deliveries.make(
        runtime, told["site"], [_event(told, each["kind"], each["body"]) for each in told["owed"]]
    )
    done = {"_id": told["_id"], "version": told["version"]}
    TOLD.of(runtime.database).update_one(done, {"$set": {"owed": []}})


def _event(told: ToldThing, kind: Kind, body: str) -> NewEvent:
    _, _, name = kind.partition(".")
    return NewEvent(f"{told['_id']}-{name}-{told['version']}", kind, body)
