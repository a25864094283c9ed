"""The worker and the schedules of analytics; a run may happen twice, or not at all."""

from datetime import timedelta
from typing import Any

from chalice.app import Chalice, SQSEvent

from chalicelib.analytics import upkeep
from chalicelib.analytics.counting.counting import HitCounter
from chalicelib.analytics.hits import HITS, Hits
from chalicelib.analytics.logs import moving as logs_moving
from chalicelib.analytics.reports import late, moving
from chalicelib.analytics.reports.names import Pages
from chalicelib.analytics.sessions import making
from chalicelib.jobs.schedules import ScheduledJob
from chalicelib.messaging import consume_together
from chalicelib.runtime import Runtime


def roll_up(runtime: Runtime) -> dict[str, int]:
    """Make sessions and roll them up, continue moves; return the number of each."""
    rewritten, followed = moving.rewrite(runtime), late.follow(runtime)
    done = {**logs_moving.sweep(runtime), "days_rewritten": rewritten, "names_followed": followed}
    return {**done, **making.make_due(runtime)}


def tend(runtime: Runtime) -> dict[str, int]:
    """Make and drop the parts of logs, and measure collections; return the number of each."""
    return {"parts_dropped": upkeep.trim(runtime), "collections_measured": upkeep.measure(runtime)}


SCHEDULES = (
    ScheduledJob("roll_hits_up", timedelta(minutes=5), roll_up),
    ScheduledJob("tend_hits", timedelta(hours=1), tend),
)


def declare_workers(app: Chalice, runtime: Runtime, pages: Pages) -> None:
    """Declare the worker that counts hits."""
    queue, counter = runtime.queues.name_of(Hits.queue), HitCounter(runtime, pages)

    @app.on_sqs_message(queue=queue, batch_size=500, maximum_batching_window_in_seconds=1)
    def count_hits(event: SQSEvent) -> dict[str, Any]:
        def handle(batch: list[Hits]) -> None:
            counter.count(batch)

        return consume_together(event.to_dict(), HITS, handle)
