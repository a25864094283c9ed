"""The schedule's part of transfers: messages that were lost, and files whose time is over."""

from chalicelib.comments.transfers import files
from chalicelib.comments.transfers.endings import end
from chalicelib.comments.transfers.rows import TRANSFERS, WORK, key_of
from chalicelib.database import Document
from chalicelib.jobs.sweeping import Sweep
from chalicelib.runtime import Runtime

_SWEPT_AT_ONCE = 100
_OVER = Sweep(TRANSFERS, "kept_until")
_LEFT = frozenset({"uploading", "tried"})


def sweep(runtime: Runtime) -> int:
    """Send messages again, and remove the files of transfers that are over; return their number.

    An import that its publisher left ends here, and its file goes with a later sweep.
    """
    WORK.sweep(runtime)
    rows, removed = TRANSFERS.of(runtime.database), 0
    for row in _OVER.find(runtime, _SWEPT_AT_ONCE):
        if row["state"] in _LEFT:
            end(runtime, row, "stopped")
            continue
        files.drop_all(runtime, row)
        removed += len(row["files"])
        emptied: Document = {"files": [], "moved": [], "digests": []}
        rows.update_one(key_of(row), {"$unset": {"kept_until": ""}, "$set": emptied})
    return removed
