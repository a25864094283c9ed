"""The worker that sends events, and the schedule of due deliveries and of hooks that ended."""

from typing import Any

from pydantic import TypeAdapter

from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.webhooks import deliveries, notifications
from chalicelib.webhooks.messages import SendEvent


def send_webhooks(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Send events to webhooks."""

    def handle(message: SendEvent) -> None:
        deliveries.run(runtime, message.delivery)

    return consume(event, TypeAdapter(SendEvent), handle)


def resend_overdue(runtime: Runtime) -> None:
    """Send the messages of due deliveries, and tell of hooks that Plaza has switched off."""
    deliveries.WORK.sweep(runtime)
    notifications.report_ends(runtime)
