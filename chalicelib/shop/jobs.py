"""Queue workers and schedules of shops; each may run twice at once, or miss a run."""

from datetime import timedelta
from typing import Any

from chalice.app import Chalice, SQSEvent

from chalicelib.jobs import outbox
from chalicelib.jobs.schedules import ScheduledJob
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue import indexing, relisting, rewriting
from chalicelib.shop.categories.messages import JOB, JOBS, CatalogueJob, Relist
from chalicelib.shop.orders import books, resuming, sweep
from chalicelib.shop.orders.messages import RESUME_ORDER, ResumeOrder


def resend_overdue(runtime: Runtime) -> None:
    """Send the messages of the catalogue's overdue jobs again."""
    outbox.sweep(runtime, JOB, JOBS)


def tend_catalogue(runtime: Runtime) -> None:
    """Send the messages of overdue jobs again, and make the search words of older rules anew."""
    resend_overdue(runtime)
    indexing.refresh(runtime)


SCHEDULES = (
    ScheduledJob("tend_catalogue", timedelta(minutes=1), tend_catalogue),
    ScheduledJob("tend_shop", timedelta(minutes=1), sweep.sweep),
)


def verify_stock(runtime: Runtime, site: str, sku: str) -> dict[str, int]:
    """Return the units that a stock lacks or has too many: by its entries, and by its books."""
    differences = books.verify(runtime, site, sku)
    return {"held": differences["held"], "moved": differences["moved"]}


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the workers of the queues `catalogue` and `orders`."""
    queue = runtime.queues.name_of

    @app.on_sqs_message(queue=queue(Relist.queue), batch_size=1)
    def catalogue(event: SQSEvent) -> dict[str, Any]:
        def handle(job: CatalogueJob) -> None:
            outbox.run(runtime, job, _do, jobs=JOBS)

        return consume(event.to_dict(), JOB, handle)

    @app.on_sqs_message(queue=queue(ResumeOrder.queue), batch_size=10)
    def resume_orders(event: SQSEvent) -> dict[str, Any]:
        def handle(message: ResumeOrder) -> None:
            resuming.resume(runtime, message.order, reconciles=True)

        return consume(event.to_dict(), RESUME_ORDER, handle)


def _do(runtime: Runtime, job: CatalogueJob) -> None:
    match job:
        case Relist():
            relisting.relist(runtime, job)
        case _:
            rewriting.rewrite(runtime, job)
