"""The worker and the schedules of analytics; a run may happen twice, or not at all."""

from datetime import timedelta
from typing import Any

from chalicelib.analytics import upkeep
from chalicelib.analytics.counting.counting import HitCounter
from chalicelib.analytics.hits import HITS, Hits
from chalicelib.analytics.logs import moving as logs_moving
from chalicelib.analytics.reports import late, moving
from chalicelib.analytics.reports.names import Pages
from chalicelib.analytics.sessions import making
from chalicelib.jobs.schedules import Step, run_steps
from chalicelib.messaging import consume_together
from chalicelib.runtime import Runtime

# The lifetime of a counter in memory: longer than most containers live.
_COUNTER_LIVES = timedelta(days=1)


def roll_up(runtime: Runtime) -> dict[str, int]:
    """Make sessions and roll them up, move logs, follow names, rewrite days; return the numbers."""
    steps: dict[str, Step] = {
        "sessions": making.make_due,
        # Behind them: a run that ends early has then made the sessions.
        "logs": logs_moving.sweep,
        "names_followed": late.follow,
        # Last: the days of a large site can outlast a run.
        "days_rewritten": moving.rewrite,
    }
    return run_steps(runtime, steps)


def tend(runtime: Runtime) -> dict[str, int]:
    """Measure collections, remove old sessions, make and drop parts of logs; return the numbers."""
    steps: dict[str, Step] = {
        "collections_measured": upkeep.measure,
        "sessions_removed": making.remove_old,
        # Last: new expiries of a large site can outlast a run.
        "parts_dropped": upkeep.trim,
    }
    return run_steps(runtime, steps)


def count_hits(pages: Pages, runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Count a batch of hits, with the names and visitors that the container remembers."""
    counter = runtime.memory.recall(
        "analytics.counter", runtime.now(), _COUNTER_LIVES, lambda: HitCounter(runtime, pages)
    )

    def handle(batch: list[Hits]) -> None:
        counter.count(batch)

    return consume_together(event, HITS, handle)
