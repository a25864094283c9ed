"""Upkeep of transfers: send lost messages again, and remove expired files."""

from datetime import timedelta
from functools import partial

from chalicelib.comments.transfers import files
from chalicelib.comments.transfers.endings import end
from chalicelib.comments.transfers.rows import TRANSFERS, WORK, DiscussionTransfer, key_of
from chalicelib.database import Document
from chalicelib.jobs.schedules import run_all
from chalicelib.jobs.sweeping import Sweep
from chalicelib.runtime import Runtime

_SWEPT_AT_ONCE, _RETRY_AFTER = 100, timedelta(hours=1)
_OVER = Sweep(TRANSFERS, "kept_until")
_LEFT = frozenset({"uploading", "tried"})


def sweep(runtime: Runtime) -> int:
    """Send lost messages again, and remove expired files; return the number of files.

    An import that its publisher left ends here, and its file goes with a later sweep. If a store
    fails, the transfer is due again in an hour, so that other transfers get their turn.
    """
    WORK.sweep(runtime)
    found = _OVER.find(runtime, _SWEPT_AT_ONCE)
    return sum(
        number for _, number in run_all((row["_id"], partial(_end, runtime, row)) for row in found)
    )


def _end(runtime: Runtime, row: DiscussionTransfer) -> int:
    """End an abandoned import, or remove a transfer's files; return the number of removed files."""
    if row["state"] in _LEFT:
        end(runtime, row, "stopped")
        return 0
    rows = TRANSFERS.of(runtime.database)
    try:
        files.drop_all(runtime, row)
    except Exception:
        as_read = {**key_of(row), "kept_until": row["kept_until"]}
        rows.update_one(as_read, {"$set": {"kept_until": runtime.now() + _RETRY_AFTER}})
        raise
    emptied: Document = {"files": [], "moved": [], "digests": []}
    rows.update_one(key_of(row), {"$unset": {"kept_until": ""}, "$set": emptied})
    return len(row["files"])
