"""The worker that counts marks by batch."""

from typing import Any

from chalice.app import Chalice, SQSEvent

from chalicelib.marks.folded import fold
from chalicelib.marks.messages import COUNT_MARK, CountMark
from chalicelib.marks.things import Kinds
from chalicelib.messaging import consume_together
from chalicelib.runtime import Runtime


def declare(app: Chalice, runtime: Runtime, kinds: Kinds) -> None:
    """Declare the worker, for the marks of these kinds."""
    queue = runtime.queues.name_of(CountMark.queue)

    @app.on_sqs_message(queue=queue, batch_size=500, maximum_batching_window_in_seconds=1)
    def count_marks(event: SQSEvent) -> dict[str, Any]:
        def handle(batch: list[CountMark]) -> None:
            fold(runtime, kinds, [message.mark_id for message in batch])

        return consume_together(event.to_dict(), COUNT_MARK, handle)
