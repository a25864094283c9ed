"""The outbox of background jobs: noted in the transaction of their cause, deleted when done."""

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
    """A job as it is noted; each time gives it another `version`.

    `resends` and `resent_by` say how often its message was sent again, and by which sweep.
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
# No request that read the old name can still be running: Lambda stops at 15 minutes; the other 5
# cover the transaction and clock skew.
OUTLIVES_ALL = timedelta(minutes=20)


def note(
    runtime: Runtime,
    job: Job,
    session: ClientSession | None = None,
    *,
    due: datetime | None = None,
) -> None:
    """Note a job in the transaction of its cause; the caller sends its message afterwards.

    A job that is due later has no message before the sweep sends it. A job that is noted again
    while it is run is run once more.
    """
    now = runtime.now()
    JOBS.of(runtime.database).update_one(
        {"_id": _key(job)},
        {
            "$set": {
                "errand": job.model_dump(),
                "version": new_id(now, runtime.random),
                "noted": now,
                "due": due or now + timedelta(milliseconds=runtime.settings.lease_ms),
                "resends": 0,
            }
        },
        upsert=True,
        session=session,
    )


def run(runtime: Runtime, job: Job, work: Callable[[Runtime, Job], None]) -> None:
    """Run a job that is still noted, and delete it unless it was noted again in the meantime.

    A renaming is run at once, and again when `OUTLIVES_ALL` has passed, and deleted then.
    """
    rows, begun = JOBS.of(runtime.database), runtime.now()
    noted = rows.find_one({"_id": _key(job)}, {"version": 1, "noted": 1, "resends": 1})
    if noted is None:
        return
    same = {"_id": noted["_id"], "version": noted["version"]}
    if noted.get("resends"):
        resending.note_taken(runtime, rows, RESENDING, same)
    work(runtime, job)
    again = noted["noted"] + OUTLIVES_ALL
    if isinstance(job, Rename | RenameRef) and begun < again:
        rows.update_one(same, {"$set": {"due": again, "resends": 0}})
    else:
        rows.delete_one(same)


def noted_for(user_id: str) -> Document:
    """Return the filter of the jobs for one user, except their erasure.

    A job for a pair, or one that continues after a reader's id, is deleted when it has been run.
    """
    own = (kind(user_id=user_id) for kind in (Rename, Rebuild, Trim, Refill))
    return {"_id": {"$in": [_key(job) for job in own]}}


def rankings_of(action_id: str, event_id: str) -> Document:
    """Return the filter of the re-ranking jobs for an event, from any reader on."""
    # Everything that begins with the key, whose last part, the id of a reader, is empty here.
    first = _key(Rerank(action_id=action_id, event_id=event_id))
    return {"_id": {"$gte": first, "$lt": f"{first[:-1]};"}}


def sweep(runtime: Runtime) -> None:
    """Send messages again for overdue jobs."""
    resending.sweep(runtime, JOBS.of(runtime.database), RESENDING, _readable)


def _readable(rows: Iterable[StoredJob]) -> Iterator[Job]:
    """Yield the noted jobs, except those that only a newer release can run."""
    for row in rows:
        try:
            yield JOB.validate_python(row["errand"])
        except ValidationError:
            fields = {"type": row["errand"].get("type")}
            log.warning("job left to a newer release", extra={"fields": fields})


def _key(job: Job) -> str:
    ids = job.model_dump(exclude={"type", "version", "until"})
    return ":".join((job.type, *ids.values()))
