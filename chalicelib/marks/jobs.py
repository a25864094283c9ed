"""The worker that counts marks in batches, and the schedule for overdue marks."""

from collections.abc import Iterable, Iterator
from typing import Any

from chalicelib.jobs import resending
from chalicelib.jobs.resending import Resending
from chalicelib.marks.folded import fold
from chalicelib.marks.messages import COUNT_MARK, CountMark
from chalicelib.marks.shapes import MARKS, Kinds, Mark
from chalicelib.messaging import consume_together
from chalicelib.runtime import Runtime


def count_marks(kinds: Kinds, runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Count the marks of an SQS event together; return its failed records."""

    def handle(batch: list[CountMark]) -> None:
        fold(runtime, kinds, [message.mark_id for message in batch])

    return consume_together(event, COUNT_MARK, handle)


RESENDING = Resending(at="due")


def resend_overdue(runtime: Runtime) -> None:
    """Send the messages of overdue marks again."""

    def messages(rows: Iterable[Mark]) -> Iterator[CountMark]:
        return (CountMark(mark_id=row["_id"]) for row in rows)

    resending.sweep(runtime, MARKS.of(runtime.database), RESENDING, messages)
