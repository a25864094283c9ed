"""Queue workers and schedules of shops; each may run twice at once, or miss a run."""

from typing import Any

from chalicelib.jobs import outbox
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue import indexing, relisting, rewriting
from chalicelib.shop.categories.messages import JOB, JOBS, CatalogueJob, Relist
from chalicelib.shop.orders import books, resuming
from chalicelib.shop.orders.messages import RESUME_ORDER, ResumeOrder


def resend_overdue(runtime: Runtime) -> None:
    """Send the messages of the catalogue's overdue jobs again."""
    outbox.sweep(runtime, JOB, JOBS)


def tend_catalogue(runtime: Runtime) -> None:
    """Send the messages of overdue jobs again, and make the search words of older rules anew."""
    resend_overdue(runtime)
    indexing.refresh(runtime)


def verify_stock(runtime: Runtime, site: str, sku: str) -> dict[str, int]:
    """Return the units that a stock lacks or has too many: by its entries, and by its books."""
    differences = books.verify(runtime, site, sku)
    return {"held": differences["held"], "moved": differences["moved"]}


def catalogue(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Run the jobs of catalogues."""

    def handle(job: CatalogueJob) -> None:
        outbox.run(runtime, job, _do, jobs=JOBS)

    return consume(event, JOB, handle)


def resume_orders(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Resume orders that their calls left."""

    def handle(message: ResumeOrder) -> None:
        resuming.resume(runtime, message.order, reconciles=True)

    return consume(event, RESUME_ORDER, handle)


def _do(runtime: Runtime, job: CatalogueJob) -> None:
    match job:
        case Relist():
            relisting.relist(runtime, job)
        case _:
            rewriting.rewrite(runtime, job)
