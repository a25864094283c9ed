"""The queue worker and the schedule of content; both may run twice at once."""

from datetime import timedelta
from typing import Any

from chalice.app import Chalice, SQSEvent
from pydantic import TypeAdapter

from chalicelib.content import tag_counts, terms
from chalicelib.content.publishing import discussions as publishing_discussions
from chalicelib.content.publishing import tending
from chalicelib.content.publishing.discussions import Discussions, TellDiscussion
from chalicelib.jobs.schedules import ScheduledJob
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime


def run_due(runtime: Runtime) -> dict[str, int]:
    """Tidy up after instants that have passed, and send messages again; return counts of pages."""
    done = {"made_live": tending.make_live(runtime), "ended": tending.end(runtime)}
    tending.give_date(runtime)
    tag_counts.count_due(runtime)
    tag_counts.repair(runtime)
    publishing_discussions.sweep(runtime)
    terms.index_due(runtime)
    return done


SCHEDULES = (ScheduledJob("tend_content", timedelta(minutes=1), run_due),)


def declare_workers(app: Chalice, runtime: Runtime, discussions: Discussions) -> None:
    """Declare the worker that updates the discussions of changed pages."""

    @app.on_sqs_message(queue=runtime.queues.name_of(TellDiscussion.queue), batch_size=10)
    def content(event: SQSEvent) -> dict[str, Any]:
        def handle(message: TellDiscussion) -> None:
            publishing_discussions.tell(runtime, discussions, message)

        return consume(event.to_dict(), TypeAdapter(TellDiscussion), handle)
