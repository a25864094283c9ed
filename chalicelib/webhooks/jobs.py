"""The worker that sends events, and the sweep of due deliveries."""

from typing import Any

from pydantic import TypeAdapter

from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.webhooks import deliveries
from chalicelib.webhooks.messages import SendEvent


def send_webhooks(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Send events to webhooks."""

    def handle(message: SendEvent) -> None:
        deliveries.run(runtime, message.delivery)

    return consume(event, TypeAdapter(SendEvent), handle)


def resend_overdue(runtime: Runtime) -> None:
    """Send the messages of due deliveries."""
    deliveries.WORK.sweep(runtime)
