"""The worker that sends letters and hears of returned letters, and the schedule beside it."""

from datetime import timedelta
from typing import Any

from chalice.app import Chalice, SQSEvent
from pydantic import TypeAdapter

from chalicelib.jobs.schedules import ScheduledJob
from chalicelib.mail import events, letters
from chalicelib.mail.events import MailEvent
from chalicelib.mail.messages import SendLetter
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime

SCHEDULES = (ScheduledJob("tend_mail", timedelta(minutes=1), letters.tend),)

_RECEIVED: TypeAdapter[SendLetter | MailEvent] = TypeAdapter(SendLetter | MailEvent)


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the worker; a letter at a time, so that each has the whole time of a run."""

    @app.on_sqs_message(queue=runtime.queues.name_of(SendLetter.queue), batch_size=1)
    def send_letters(event: SQSEvent) -> dict[str, Any]:
        def handle(received: SendLetter | MailEvent) -> None:
            match received:
                case SendLetter():
                    letters.send(runtime, received.letter)
                case MailEvent():
                    events.heed(runtime, received)

        return consume(event.to_dict(), _RECEIVED, handle)
