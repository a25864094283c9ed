"""The runner of the jobs of people."""

from functools import partial

from chalicelib.jobs import outbox
from chalicelib.people import erasure, renaming
from chalicelib.people.follows import People
from chalicelib.people.messages import Erase, EraseLate, PersonJob, Rename
from chalicelib.runtime import Runtime


def run(runtime: Runtime, people: People, job: PersonJob) -> None:
    """Run a job that is still noted; a failure leaves it for the sweep."""
    outbox.run(runtime, job, partial(_run, people))


def _run(people: People, runtime: Runtime, job: PersonJob) -> None:
    match job:
        case Rename():
            renaming.rename(runtime, people, job.user_id)
        case Erase():
            erasure.erase(runtime, people, job.user_id)
        case EraseLate():
            erasure.erase_late(runtime, people, job.user_id, job.until)
