"""The worker that calls foreign servers: webhook receivers and push services."""

from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from chalicelib.messaging import consume
from chalicelib.notifications import pushes
from chalicelib.notifications.push_rows import SendPush
from chalicelib.runtime import Runtime
from chalicelib.webhooks import deliveries
from chalicelib.webhooks.messages import SendEvent
from chalicelib.wiring.notifications import show

_MESSAGE: TypeAdapter[SendEvent | SendPush] = TypeAdapter(
    Annotated[SendEvent | SendPush, Field(discriminator="type")]
)


def send(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Send events to webhooks, and notifications to browsers."""

    def handle(message: SendEvent | SendPush) -> None:
        match message:
            case SendEvent():
                deliveries.run(runtime, message.delivery)
            case SendPush():
                pushes.run(runtime, show, message.subscription)

    return consume(event, _MESSAGE, handle)
