"""The outbox of what is owed in the background: noted with its cause, forgotten when done."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import TypedDict

from pydantic import ValidationError
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession

from chalicelib.database import Collection, Document
from chalicelib.ids import new_id
from chalicelib.logs import log
from chalicelib.runtime import Runtime
from chalicelib.social.messages import (
    ERRAND,
    Errand,
    Rank,
    Rebuild,
    Refill,
    Rename,
    RenameRef,
    Trim,
)


class Noted(TypedDict):
    """An errand as it is noted; each time gives it another `version`."""

    _id: str
    errand: Document
    version: str
    noted: datetime
    due: datetime


ERRANDS = Collection("social.errand", Noted, indexes=(IndexModel([("due", ASCENDING)]),))
_SWEPT_AT_ONCE = 1_000
# Whoever had read a name before it changed has ended by then: no Lambda function runs for longer
# than 15 minutes. The rest is for the transaction that wrote the note, and for clocks.
OUTLIVES_ALL = timedelta(minutes=20)


def note(runtime: Runtime, errand: Errand, session: ClientSession | None = None) -> None:
    """Write an errand down, in the transaction of its cause; send its message afterwards.

    An errand that is noted again while it is run is run once more.
    """
    now = runtime.now()
    runtime.database[ERRANDS.name].update_one(
        {"_id": _key(errand)},
        {
            "$set": {
                "errand": errand.model_dump(),
                "version": new_id(now, runtime.random),
                "noted": now,
                "due": now + timedelta(milliseconds=runtime.settings.lease_ms),
            }
        },
        upsert=True,
        session=session,
    )


def run(runtime: Runtime, errand: Errand, work: Callable[[Runtime, Errand], None]) -> None:
    """Do what was noted, if it still is, and forget it unless it was noted again meanwhile.

    A renaming is done at once and again when `OUTLIVES_ALL` has passed, and forgotten then.
    """
    rows, begun = runtime.database[ERRANDS.name], runtime.now()
    noted = rows.find_one({"_id": _key(errand)}, {"version": 1, "noted": 1})
    if noted is None:
        return
    work(runtime, errand)
    same = {"_id": noted["_id"], "version": noted["version"]}
    again = noted["noted"] + OUTLIVES_ALL
    if isinstance(errand, Rename | RenameRef) and begun < again:
        rows.update_one(same, {"$set": {"due": again}})
    else:
        rows.delete_one(same)


def noted_for(user_id: str) -> Document:
    """Return the filter of what is noted for a user alone, but for their erasure.

    What is noted for a pair, or goes on after a reader's id, is gone when it has been done.
    """
    own = (kind(user_id=user_id) for kind in (Rename, Rebuild, Trim, Refill))
    return {"_id": {"$in": [_key(errand) for errand in own]}}


def rankings_of(action_id: str, event_id: str) -> Document:
    """Return the filter of the rankings that are noted for an event, from whichever reader on."""
    # All that begins with the key, whose last part, the id of a reader, is empty here.
    first = _key(Rank(action_id=action_id, event_id=event_id))
    return {"_id": {"$gte": first, "$lt": f"{first[:-1]};"}}


def sweep(runtime: Runtime) -> None:
    """Send again what is overdue, and give it another lease."""
    rows = runtime.database[ERRANDS.name]
    where: Document = {"due": {"$lte": runtime.now()}}
    overdue = list(rows.find(where).sort("due", ASCENDING).limit(_SWEPT_AT_ONCE))
    due = runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)
    rows.update_many({"_id": {"$in": [each["_id"] for each in overdue]}}, {"$set": {"due": due}})
    runtime.queues.send(*_readable(overdue))


def _readable(rows: Iterable[Document]) -> Iterator[Errand]:
    """Yield what is noted, but for what a newer release noted and must do itself."""
    for row in rows:
        try:
            yield ERRAND.validate_python(row["errand"])
        except ValidationError:
            fields = {"type": row["errand"].get("type")}
            log.warning("errand left to a newer release", extra={"fields": fields})


def _key(errand: Errand) -> str:
    ids = errand.model_dump(exclude={"type", "version"})
    return ":".join((errand.type, *ids.values()))
