"""The workers of the ad network's queues."""

from typing import Any

from chalice.app import Chalice, SQSEvent

from chalicelib.ads.tracking import counting, events
from chalicelib.messaging import consume_together
from chalicelib.runtime import Runtime


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the worker that counts and bills events."""
    queue = runtime.queues.name_of

    @app.on_sqs_message(
        queue=queue(events.AdEvent.queue), batch_size=500, maximum_batching_window_in_seconds=1
    )
    def count_ad_events(event: SQSEvent) -> dict[str, Any]:
        def handle(batch: list[events.AdEvent]) -> None:
            counting.count_and_bill(runtime, batch)

        return consume_together(event.to_dict(), events.AD_EVENT, handle)
