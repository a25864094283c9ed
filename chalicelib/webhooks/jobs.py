"""The worker that sends events, and the schedule that sends the messages of due deliveries."""

from datetime import timedelta
from typing import Any

from chalice.app import Chalice, SQSEvent
from pydantic import TypeAdapter

from chalicelib.jobs.schedules import ScheduledJob
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.webhooks import deliveries
from chalicelib.webhooks.messages import SendEvent

SCHEDULES = (ScheduledJob("tend_webhooks", timedelta(minutes=1), deliveries.WORK.sweep),)

_RECEIVED: TypeAdapter[SendEvent] = TypeAdapter(SendEvent)


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the worker; a delivery at a time, so that each has the whole time of a run."""

    @app.on_sqs_message(queue=runtime.queues.name_of(SendEvent.queue), batch_size=1)
    def send_webhooks(event: SQSEvent) -> dict[str, Any]:
        def handle(message: SendEvent) -> None:
            deliveries.run(runtime, message.delivery)

        return consume(event.to_dict(), _RECEIVED, handle)
