"""The work of the queue of content."""

from typing import Any

from chalice.app import Chalice, SQSEvent
from pydantic import TypeAdapter

from chalicelib.content.publishing import telling
from chalicelib.content.publishing.discussions import Discussions
from chalicelib.content.publishing.telling import TellDiscussion
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime


def declare(app: Chalice, runtime: Runtime, discussions: Discussions) -> None:
    """Declare the worker that tells discussions what became of their pages."""

    @app.on_sqs_message(queue=runtime.queues.name_of(TellDiscussion.queue), batch_size=10)
    def content(event: SQSEvent) -> dict[str, Any]:
        def handle(message: TellDiscussion) -> None:
            telling.tell(runtime, discussions, message)

        return consume(event.to_dict(), TypeAdapter(TellDiscussion), handle)
