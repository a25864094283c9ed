"""The outbox of jobs: a transaction stores a job with its cause; a finished run deletes it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar, NotRequired, TypedDict, TypeVar

from pydantic import TypeAdapter, ValidationError
from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.client_session import ClientSession

from chalicelib.database import Collection, Document, prefix_range
from chalicelib.ids import new_id
from chalicelib.jobs import resending
from chalicelib.jobs.resending import Resending
from chalicelib.messaging import Message
from chalicelib.observability.logs import log
from chalicelib.runtime import LONGEST_RUN, Runtime


class Job(Message):
    """The message of a job; its `type` and its ids identify it.

    `runs_twice`: it runs again after `OUTLIVES_ALL`.
    """

    runs_twice: ClassVar[bool] = False
    type: str


AnyJob = TypeVar("AnyJob", bound=Job)


class StoredJob(TypedDict):
    """A noted job; each `note` changes its `version`.

    `resends` is how often its message was sent again, and `resent_by` the last sweep that sent it.
    """

    _id: str
    errand: Document
    version: str
    noted: datetime
    due: datetime
    resends: NotRequired[int]
    resent_by: NotRequired[str]


# The shop has an outbox of its own.
JOBS = Collection("social.errand", StoredJob, indexes=(IndexModel([("due", ASCENDING)]),))
RESENDING = Resending(at="due", made_of="errand")
# After this no request that read the old state can be running: 5 minutes cover the transaction and
# clock skew.
OUTLIVES_ALL = LONGEST_RUN + timedelta(minutes=5)


def note(
    runtime: Runtime,
    job: Job,
    session: ClientSession | None = None,
    *,
    due: datetime | None = None,
    jobs: Collection[StoredJob] = JOBS,
) -> None:
    """Note a job in the transaction of its cause; the caller sends its message afterwards.

    With a later `due`, only the sweep sends its message. A job that is noted again during its run
    runs once more.
    """
    where, update = _note(runtime, job, due)
    jobs.of(runtime.database).update_one(where, update, upsert=True, session=session)


def note_all(runtime: Runtime, noted: Sequence[Job], session: ClientSession) -> None:
    """Note jobs as `note`, in one round trip."""
    if noted:
        updates = [UpdateOne(*_note(runtime, job), upsert=True) for job in noted]
        JOBS.of(runtime.database).bulk_write(updates, session=session)


def _note(runtime: Runtime, job: Job, due: datetime | None = None) -> tuple[Document, Document]:
    """Return the filter and the update that note a job."""
    now = runtime.now()
    row = {
        "errand": job.model_dump(),
        "version": new_id(now, runtime.random),
        "noted": now,
        "due": due or resending.lease_end(runtime),
        "resends": 0,
    }
    return {"_id": _key(job)}, {"$set": row}


def run(
    runtime: Runtime,
    job: AnyJob,
    work: Callable[[Runtime, AnyJob], None],
    jobs: Collection[StoredJob] = JOBS,
) -> None:
    """Run a job that is still noted, and delete it unless it was noted again meanwhile.

    A job that `runs_twice` runs at once and again after `OUTLIVES_ALL`, and is then deleted. A late
    message of a job that was noted again with a later `until` does nothing.
    """
    rows, begun = jobs.of(runtime.database), runtime.now()
    fields = {"version": 1, "noted": 1, "resends": 1, "errand.until": 1}
    noted = rows.find_one({"_id": _key(job)}, fields)
    if noted is None or _is_former(job, noted["errand"]):
        return
    same = {"_id": noted["_id"], "version": noted["version"]}
    if noted.get("resends"):
        resending.note_taken(runtime, rows, RESENDING, same)
    work(runtime, job)
    again = noted["noted"] + OUTLIVES_ALL
    if job.runs_twice and begun < again:
        rows.update_one(same, {"$set": {"due": again, "resends": 0}})
    else:
        rows.delete_one(same)


def filter_of(*jobs: Job) -> Document:
    """Return the filter of these jobs in the outbox."""
    return {"_id": {"$in": [_key(job) for job in jobs]}}


def filter_from(first: Job) -> Document:
    """Return the filter of the jobs with the ids of `first`; its empty last id stands for any."""
    return {"_id": prefix_range(_key(first).removesuffix(":") + ":")}


def sweep(runtime: Runtime, kinds: TypeAdapter[Any], jobs: Collection[StoredJob] = JOBS) -> None:
    """Send messages again for overdue jobs of these kinds."""
    rows = jobs.of(runtime.database)
    resending.sweep(runtime, rows, RESENDING, partial(_parse_jobs, kinds))


def _parse_jobs(kinds: TypeAdapter[Any], rows: Iterable[StoredJob]) -> Iterator[Job]:
    """Yield the noted jobs that this release can run."""
    for row in rows:
        try:
            yield kinds.validate_python(row["errand"])
        except ValidationError:
            fields = {"type": row["errand"].get("type")}
            log.warning("job left to a newer release", extra={"fields": fields})


def _is_former(job: Job, noted: Document) -> bool:
    until, later = getattr(job, "until", None), noted.get("until")
    return until is not None and later is not None and until < later


def _key(job: Job) -> str:
    ids = job.model_dump(exclude={"type", "version", "until"})
    return ":".join((job.type, *ids.values()))
