"""Removal of unreachable data: unfinished uploads, and blobs without a version."""

from chalicelib.assets.blobs import store_of
from chalicelib.assets.shapes import ASSETS, UPLOADS, WASTE, Upload
from chalicelib.jobs.sweeping import Sweep
from chalicelib.runtime import LONGEST_RUN, Runtime

_ENDED = Sweep(UPLOADS, "expires_at", after=LONGEST_RUN)
_UNUSED = Sweep(WASTE, "due")


def sweep_uploads(runtime: Runtime) -> int:
    """Remove uploads some time after their end, with the blobs of unfinished uploads.

    Return the number of removed uploads. All calls that found an upload open have ended by then,
    so no write follows the removal.
    """
    removed = 0
    for upload in _ENDED.find(runtime, runtime.bounds.assets.swept_at_once):
        if upload["finished"] is None:
            _drop(runtime, upload)
        UPLOADS.of(runtime.database).delete_one({"_id": upload["_id"]})
        removed += 1
    return removed


def _drop(runtime: Runtime, upload: Upload) -> None:
    blobs = store_of(runtime, upload["store"])
    blobs.drop(upload["_id"])
    if upload["clean"] is not None:
        blobs.drop(upload["clean"])


def sweep_waste(runtime: Runtime) -> int:
    """Remove due blobs that no version has; return their number."""
    removed = 0
    for row in _UNUSED.find(runtime, runtime.bounds.assets.swept_at_once):
        holder = {"$elemMatch": {"blob": row["_id"], "gone": {"$exists": False}}}
        in_use = {"_id": row["asset"], "versions": holder}
        if ASSETS.of(runtime.database).find_one(in_use, {"_id": 1}) is None:
            store_of(runtime, row["store"]).drop(row["_id"])
            removed += 1
        WASTE.of(runtime.database).delete_one({"_id": row["_id"]})
    return removed
