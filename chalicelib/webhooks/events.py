"""Events of things: each difference between a thing and its reported state, once.

The reported state has a version. A worker reads it, then the thing, and notes the new state with
the events that it owes by one write under that version. So workers at once, and messages that come
twice, late or in any order, note each difference once; a repeat makes the deliveries that a crash
left out.
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


# Returns a thing with its differences from its reported facts, by the time since which the site
# has hooks; None: no such thing.
Look = Callable[[Document | None, datetime], SeenThing | None]


def tell(runtime: Runtime, site: str, thing_id: str, look: Look) -> None:
    """Send a site's hooks the differences of a thing from its reported state.

    `thing_id` outlives each move of the thing. Raises Unavailable if other workers keep on.
    """
    listening = hooks.listening(runtime, site)
    if not listening:
        return
    since = min(each.made for each in listening)
    for _ in range(_ATTEMPTS):
        told = _told(runtime, site, thing_id)
        if told["owed"]:
            _deliver(runtime, told)
        # After the report: an earlier reading could be older than the report.
        seen = look(told["facts"], since)
        if seen is None or seen.facts == told["facts"]:
            return
        noted = _note(runtime, site, told, seen)
        if noted is not None:
            _deliver(runtime, noted)
            return
    raise Unavailable("Others report this thing; try again")


def _told(runtime: Runtime, site: str, thing_id: str) -> ToldThing:
    """Return the reported state of a thing; of a new thing, an empty one."""
    rows, now = TOLD.of(runtime.database), runtime.now()
    found = rows.find_one({"_id": thing_id})
    if found is not None:
        return found
    new: ToldThing = {
        "_id": thing_id,
        "site": site,
        # No id of an event returns after the row has expired.
        "version": milliseconds(now),
        "facts": None,
        "owed": [],
        "expires": now + KEPT,
    }
    insert_missing(rows, [new])
    return rows.find_one({"_id": thing_id}) or new


def _note(runtime: Runtime, site: str, told: ToldThing, seen: SeenThing) -> ToldThing | None:
    """Note a thing with the events that it owes; None: another worker was faster."""
    owed = [{"kind": each.kind, "body": body_of(*each)} for each in seen.differences]
    fields: Document = {"facts": seen.facts, "owed": owed, "expires": runtime.now() + KEPT}
    # A thing may have moved to another site, whose hooks hear of it from now on.
    fields["site"] = site
    return TOLD.of(runtime.database).find_one_and_update(
        {"_id": told["_id"], "version": told["version"], "owed": []},
        {"$set": fields, "$inc": {"version": 1}},
        return_document=ReturnDocument.AFTER,
    )


def _deliver(runtime: Runtime, told: ToldThing) -> None:
    """Make the deliveries of the events that a thing owes; a repeat makes none."""
    deliveries.make(
        runtime, told["site"], [_event(told, each["kind"], each["body"]) for each in told["owed"]]
    )
    done = {"_id": told["_id"], "version": told["version"]}
    TOLD.of(runtime.database).update_one(done, {"$set": {"owed": []}})


def _event(told: ToldThing, kind: Kind, body: str) -> NewEvent:
    _, _, name = kind.partition(".")
    return NewEvent(f"{told['_id']}-{name}-{told['version']}", kind, body)
