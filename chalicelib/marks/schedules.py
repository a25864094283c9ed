"""The schedule of marks: asking again for what is still to be counted."""

from collections.abc import Iterable, Iterator

from chalice.app import Chalice, CloudWatchEvent, Rate

from chalicelib.jobs import resending
from chalicelib.jobs.resending import Resending
from chalicelib.marks.messages import CountMark
from chalicelib.marks.shapes import MARKS, Mark
from chalicelib.runtime import Runtime

RESENDING = Resending(at="due")


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the schedule."""

    @app.schedule(Rate(1, Rate.MINUTES))
    def sweep_marks(_event: CloudWatchEvent) -> None:
        resend_overdue(runtime)


def resend_overdue(runtime: Runtime) -> None:
    """Send messages again for marks that are overdue."""

    def messages(rows: Iterable[Mark]) -> Iterator[CountMark]:
        return (CountMark(mark_id=row["_id"]) for row in rows)

    resending.sweep(runtime, MARKS.of(runtime.database), RESENDING, messages)
