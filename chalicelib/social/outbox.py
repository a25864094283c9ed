"""The outbox of what is owed in the background: noted with its cause, forgotten when done."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import NotRequired, TypedDict

from pydantic import ValidationError
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession

from chalicelib.database import Collection, Document
from chalicelib.ids import new_id
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.social.delivery import resending
from chalicelib.social.delivery.resending import Resending
from chalicelib.social.messages import JOB, Job, Rebuild, Refill, Rename, RenameRef, Rerank, Trim


class StoredJob(TypedDict):
    """An errand as it is noted; each time gives it another `version`.

    `resends` and `resent_by` say how often it was sent for again, and by which sweep.
    """

    _id: str
    errand: Document
    version: str
    noted: datetime
    due: datetime
    resends: NotRequired[int]
    resent_by: NotRequired[str]


JOBS = Collection("social.errand", StoredJob, indexes=(IndexModel([("due", ASCENDING)]),))
RESENDING = Resending(at="due", made_of="errand")
# Whoever had read a name before it changed has ended by then: no Lambda function runs for longer
# than 15 minutes. The rest is for the transaction that wrote the note, and for clocks.
OUTLIVES_ALL = timedelta(minutes=20)


def note(
    runtime: Runtime,
    errand: Job,
    session: ClientSession | None = None,
    *,
    due: datetime | None = None,
) -> None:
    """Write an errand down, in the transaction of its cause; send its message afterwards.

    One that is due later has no message before the sweep sends it.
    An errand that is noted again while it is run is run once more.
    """
    now = runtime.now()
    runtime.database[JOBS.name].update_one(
        {"_id": _key(errand)},
        {
            "$set": {
                "errand": errand.model_dump(),
                "version": new_id(now, runtime.random),
                "noted": now,
                "due": due or now + timedelta(milliseconds=runtime.settings.lease_ms),
                "resends": 0,
            }
        },
        upsert=True,
        session=session,
    )


def run(runtime: Runtime, errand: Job, work: Callable[[Runtime, Job], None]) -> None:
    """Do what was noted, if it still is, and forget it unless it was noted again meanwhile.

    A renaming is done at once and again when `OUTLIVES_ALL` has passed, and forgotten then.
    """
    rows, begun = runtime.database[JOBS.name], runtime.now()
    noted = rows.find_one({"_id": _key(errand)}, {"version": 1, "noted": 1, "resends": 1})
    if noted is None:
        return
    same = {"_id": noted["_id"], "version": noted["version"]}
    if noted.get("resends"):
        resending.note_taken(runtime, rows, RESENDING, same)
    work(runtime, errand)
    again = noted["noted"] + OUTLIVES_ALL
    if isinstance(errand, Rename | RenameRef) and begun < again:
        rows.update_one(same, {"$set": {"due": again, "resends": 0}})
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
    first = _key(Rerank(action_id=action_id, event_id=event_id))
    return {"_id": {"$gte": first, "$lt": f"{first[:-1]};"}}


def sweep(runtime: Runtime) -> None:
    """Send again what is overdue."""
    resending.sweep(runtime, runtime.database[JOBS.name], RESENDING, _readable)


def _readable(rows: Iterable[Document]) -> Iterator[Job]:
    """Yield what is noted, but for what a newer release noted and must do itself."""
    for row in rows:
        try:
            yield JOB.validate_python(row["errand"])
        except ValidationError:
            fields = {"type": row["errand"].get("type")}
            log.warning("errand left to a newer release", extra={"fields": fields})


def _key(errand: Job) -> str:
    ids = errand.model_dump(exclude={"type", "version", "until"})
    return ":".join((errand.type, *ids.values()))
