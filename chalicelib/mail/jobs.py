"""The worker that sends letters and handles bounces and complaints."""

from typing import Any

from pydantic import TypeAdapter

from chalicelib.mail import events, letters
from chalicelib.mail.events import MailEvent
from chalicelib.mail.messages import SendLetter
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime

_RECEIVED: TypeAdapter[SendLetter | MailEvent] = TypeAdapter(SendLetter | MailEvent)


def send_letters(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Send letters, and apply the events of the provider."""

    def handle(received: SendLetter | MailEvent) -> None:
        match received:
            case SendLetter():
                letters.send(runtime, received.letter)
            case MailEvent():
                events.apply(runtime, received)

    return consume(event, _RECEIVED, handle)
