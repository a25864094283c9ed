"""The worker of catalogues; a job may run twice."""

from typing import Any

from chalicelib.jobs import outbox
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue import relisting, rewriting
from chalicelib.shop.categories.messages import JOB, JOBS, CatalogueJob, Relist


def catalogue(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Run the jobs of catalogues."""

    def handle(job: CatalogueJob) -> None:
        outbox.run(runtime, job, _do, jobs=JOBS)

    return consume(event, JOB, handle)


def _do(runtime: Runtime, job: CatalogueJob) -> None:
    match job:
        case Relist():
            relisting.relist(runtime, job)
        case _:
            rewriting.rewrite(runtime, job)
