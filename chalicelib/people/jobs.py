"""Jobs that rename or erase a person in all features, or join a past with an account."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import ClassVar, Literal

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.jobs import outbox
from chalicelib.jobs.outbox import Job
from chalicelib.jobs.schedules import Result, run_all
from chalicelib.observability.logs import log
from chalicelib.people.features import People, PersonFeature, Step, Trace, job_entries
from chalicelib.runtime import Runtime


class Rename(Job):
    """Propagate a user's name to every copy of it."""

    queue: ClassVar[str] = "social-errands"
    runs_twice: ClassVar[bool] = True
    type: Literal["rename"] = "rename"
    user_id: str


class Erase(Job):
    """Erase a user and everything that names them."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["erase"] = "erase"
    user_id: str


class EraseLate(Job):
    """Erase documents up to `until` that requests from before an erasure's end wrote late."""

    queue: ClassVar[str] = "social-errands"
    type: Literal["erase-late"] = "erase-late"
    user_id: str
    until: datetime


class Join(Job):
    """Carry the past of a claimed person of a site to the claiming account."""

    queue: ClassVar[str] = "social-errands"
    runs_twice: ClassVar[bool] = True
    type: Literal["join"] = "join"
    site: str
    person_id: str


PersonJob = Rename | Erase | EraseLate | Join

# `outbox.run` runs every renaming twice. The second run finds copies of the old name that a request
# wrote during the first run.


def rename(runtime: Runtime, people: People, user_id: str) -> None:
    """Set every copy of a person's name to their present name."""
    name = people.name_of(runtime.database, user_id)
    if name is None:
        return
    _in_each(people, lambda feature: feature.rename(runtime, user_id, name))


def begin_erasure(runtime: Runtime, people: People, user_id: str) -> int:
    """Note and send the job of a person's erasure; return `told_remaining`."""
    job = Erase(user_id=user_id)
    outbox.note(runtime, job)
    runtime.queues.send(job)
    return told_remaining(runtime.database, people, user_id)


def erase(runtime: Runtime, people: People, user_id: str) -> None:
    """Run a step of a person's erasure in each feature; a second run repairs a crash.

    If documents are left, note the job again: a sweep repeats it, or a message at once if a feature
    has more steps. Else note `EraseLate`, due once all requests from before the erasure's end are
    over: it deletes their late writes. The failure of a feature stops no other feature.
    """
    steps = _in_each(people, lambda feature: feature.erase(runtime, user_id))
    outbox.JOBS.of(runtime.database).delete_many(_renaming(user_id))
    ended = runtime.now()
    left = count_remaining(runtime.database, people, user_id)
    if left:
        outbox.note(runtime, Erase(user_id=user_id))
        if Step.MORE in steps:
            runtime.queues.send(Erase(user_id=user_id))
    else:
        late = EraseLate(user_id=user_id, until=ended)
        outbox.note(runtime, late, due=ended + outbox.OUTLIVES_ALL)
    log.info("user erased", extra={"fields": {"remaining": left}})


def erase_late(runtime: Runtime, people: People, user_id: str, until: datetime) -> None:
    """Erase a person's documents up to a time; later documents stay, since the person is back.

    Raises Unavailable if documents are left: the job stays, and runs again.
    """
    steps = _in_each(people, lambda feature: feature.erase(runtime, user_id, until))
    if set(steps) != {Step.DONE}:
        raise Unavailable("Something of this person is not erased yet")


def _in_each(people: People, act: Callable[[PersonFeature], Result]) -> list[Result]:
    """Do an act in each feature as `run_all`; return the results."""
    done = run_all(
        (getattr(each, "__name__", type(each).__module__), partial(act, each))
        for each in people.features
    )
    return [result for _, result in done]


def count_remaining(
    database: Database[Document], people: People, user_id: str, *, is_told: bool = False
) -> int:
    """Count the documents that are a person's or name the person, in all collections.

    `is_told`: only the documents that the person's export shows.
    """
    traces = traces_of(database, people, user_id)
    return sum(
        trace.rows.count_documents(trace.where)
        for trace in traces
        if not (is_told and trace.not_shown)
    )


def told_remaining(database: Database[Document], people: People, user_id: str) -> int:
    """Count the documents that a person's export shows, plus 1 for a noted erasure; 0: erased.

    Other documents do not count: a rising number would reveal an act of another person, such as a
    block or a moderator's act. The erasure stays noted until those documents are gone, too.
    """
    running = outbox.JOBS.of(database).count_documents(outbox.filter_of(Erase(user_id=user_id)))
    return count_remaining(database, people, user_id, is_told=True) + running


def traces_of(database: Database[Document], people: People, user_id: str) -> list[Trace]:
    """Return the traces of a person in all features, and of a noted renaming."""
    found = [trace for feature in people.features for trace in feature.traces(database, user_id)]
    return [*found, Trace("renaming", outbox.JOBS.of(database), _renaming(user_id), job_entries)]


def sites_of(database: Database[Document], people: People, user_id: str) -> set[str]:
    """Return the sites in the documents that are a person's or name the person."""
    traces = traces_of(database, people, user_id)
    named = (trace.rows.distinct("site", trace.where) for trace in traces)
    return {site for sites in named for site in sites if isinstance(site, str)}


def _renaming(user_id: str) -> Document:
    return outbox.filter_of(Rename(user_id=user_id))


def run(runtime: Runtime, people: People, job: PersonJob) -> None:
    """Run a job that is still noted; a failure leaves it for the sweep."""
    outbox.run(runtime, job, partial(_run, people))


def _run(people: People, runtime: Runtime, job: PersonJob) -> None:
    match job:
        case Rename():
            rename(runtime, people, job.user_id)
        case Erase():
            erase(runtime, people, job.user_id)
        case EraseLate():
            erase_late(runtime, people, job.user_id, job.until)
        case Join():
            people.join(runtime, job.site, job.person_id)
