"""The worker that counts marks by batch, and the schedule for overdue marks."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from chalice.app import Chalice, SQSEvent

from chalicelib.jobs import resending
from chalicelib.jobs.resending import Resending
from chalicelib.jobs.schedules import ScheduledJob
from chalicelib.marks.folded import fold
from chalicelib.marks.messages import COUNT_MARK, CountMark
from chalicelib.marks.shapes import MARKS, Kinds, Mark
from chalicelib.messaging import consume_together
from chalicelib.runtime import Runtime


def declare_worker(app: Chalice, runtime: Runtime, kinds: Kinds) -> None:
    """Declare the worker for the marks of these kinds."""
    queue = runtime.queues.name_of(CountMark.queue)

    @app.on_sqs_message(queue=queue, batch_size=500, maximum_batching_window_in_seconds=1)
    def count_marks(event: SQSEvent) -> dict[str, Any]:
        def handle(batch: list[CountMark]) -> None:
            fold(runtime, kinds, [message.mark_id for message in batch])

        return consume_together(event.to_dict(), COUNT_MARK, handle)


RESENDING = Resending(at="due")


def resend_overdue(runtime: Runtime) -> None:
    """Send the messages of overdue marks again."""

    def messages(rows: Iterable[Mark]) -> Iterator[CountMark]:
        return (CountMark(mark_id=row["_id"]) for row in rows)

    resending.sweep(runtime, MARKS.of(runtime.database), RESENDING, messages)


SCHEDULES = (ScheduledJob("sweep_marks", timedelta(minutes=1), resend_overdue),)
