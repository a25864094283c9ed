"""The worker of analytics' queue."""

from typing import Any

from chalice.app import Chalice, SQSEvent

from chalicelib.analytics.counting.counting import HitCounter
from chalicelib.analytics.hits import HITS, Hits
from chalicelib.analytics.reports.names import Pages
from chalicelib.messaging import consume_together
from chalicelib.runtime import Runtime


def declare(app: Chalice, runtime: Runtime, pages: Pages) -> None:
    """Declare the worker that counts hits."""
    queue, counter = runtime.queues.name_of(Hits.queue), HitCounter(runtime, pages)

    @app.on_sqs_message(queue=queue, batch_size=500, maximum_batching_window_in_seconds=1)
    def count_hits(event: SQSEvent) -> dict[str, Any]:
        def handle(batch: list[Hits]) -> None:
            counter.count(batch)

        return consume_together(event.to_dict(), HITS, handle)
