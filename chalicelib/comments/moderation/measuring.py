"""How many comments wait for a moderator, and for how long, as metrics."""

from typing import get_args

from pymongo import ASCENDING

from chalicelib.comments.entries.rows import ENTRIES, QUEUED
from chalicelib.comments.shapes import WaitingQueue
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import WAITING
from chalicelib.runtime import Runtime

# No moderator decides by how much more there is.
_MOST_COUNTED = 10_000


def measure(runtime: Runtime) -> int:
    """Log for each queue of all sites how much waits, and for how long the oldest does.

    Returns how many comments wait.
    """
    waiting = 0
    for queue in get_args(WaitingQueue):
        fields = {"queue": queue, **_measured(runtime, queue)}
        log.info("waiting comments", extra={"fields": fields, "metrics": WAITING})
        waiting += fields["waiting_comments"]
    return waiting


def _measured(runtime: Runtime, queue: str) -> dict[str, int]:
    rows = ENTRIES.of(runtime.database)
    where = {"$and": [QUEUED, {"queue": queue}]}
    oldest = rows.find(where, {"queued_at": 1}).sort("queued_at", ASCENDING).limit(1)
    since = next((row["queued_at"] for row in oldest), runtime.now())
    return {
        "waiting_comments": rows.count_documents(where, limit=_MOST_COUNTED),
        "waiting_seconds": max(0, int((runtime.now() - since).total_seconds())),
    }
