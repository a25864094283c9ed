"""The workers of a shop's queues: the catalogue's jobs, and orders that go on."""

from typing import Any

from chalice.app import Chalice, SQSEvent

from chalicelib.jobs import outbox
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.shop.orders import resuming
from chalicelib.shop.orders.messages import RESUME_ORDER, ResumeOrder
from chalicelib.shop.products import relisting, rewriting
from chalicelib.shop.tree.messages import JOB, JOBS, CatalogueJob, Relist


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the workers."""
    queue = runtime.queues.name_of

    @app.on_sqs_message(queue=queue(Relist.queue), batch_size=1)
    def catalogue(event: SQSEvent) -> dict[str, Any]:
        def handle(job: CatalogueJob) -> None:
            outbox.run(runtime, job, _do, jobs=JOBS)

        return consume(event.to_dict(), JOB, handle)

    @app.on_sqs_message(queue=queue(ResumeOrder.queue), batch_size=10)
    def resume_orders(event: SQSEvent) -> dict[str, Any]:
        def handle(message: ResumeOrder) -> None:
            resuming.resume(runtime, message.order)

        return consume(event.to_dict(), RESUME_ORDER, handle)


def _do(runtime: Runtime, job: CatalogueJob) -> None:
    match job:
        case Relist():
            relisting.relist(runtime, job)
        case _:
            rewriting.rewrite(runtime, job)
