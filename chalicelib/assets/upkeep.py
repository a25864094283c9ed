"""Removal of unreachable data: unfinished uploads, and blobs without a version."""

from datetime import timedelta
from functools import partial

from chalicelib.assets import catalogue
from chalicelib.assets.blobs import store_of
from chalicelib.assets.shapes import ASSETS, UPLOADS, WASTE, Waste
from chalicelib.jobs.schedules import run_all
from chalicelib.jobs.sweeping import Sweep
from chalicelib.runtime import LONGEST_RUN, Runtime

_ENDED = Sweep(UPLOADS, "expires_at", after=LONGEST_RUN, fields={"expires_at": 1})
_UNUSED = Sweep(WASTE, "due")
_RETRY_AFTER = timedelta(hours=1)


def sweep_uploads(runtime: Runtime) -> int:
    """Delete uploads LONGEST_RUN after they expire; blobs of unfinished uploads become waste.

    Return the number of deleted uploads. Each call that found an upload open has ended by then, so
    none writes after the deletion.
    """
    deleted = 0
    for upload in _ENDED.find(runtime, runtime.bounds.assets.swept_at_once):
        catalogue.delete_upload(runtime.database, upload, runtime.now())
        deleted += 1
    return deleted


def sweep_waste(runtime: Runtime) -> int:
    """Remove due blobs that no version has; return their number.

    If the store of a blob fails, the blob is due again in an hour: others get their turn.
    """
    found = _UNUSED.find(runtime, runtime.bounds.assets.swept_at_once)
    removed = run_all((row["_id"], partial(_remove, runtime, row)) for row in found)
    return sum(is_removed for _, is_removed in removed)


def _remove(runtime: Runtime, row: Waste) -> bool:
    """Remove a blob unless a version has it, and its row in both cases.

    Return whether it removed the blob.
    """
    try:
        is_unused = not _is_in_use(runtime, row)
        if is_unused:
            store_of(runtime, row["store"]).drop(row["_id"])
    except Exception:
        _UNUSED.take(runtime, row, _RETRY_AFTER)
        raise
    WASTE.of(runtime.database).delete_one({"_id": row["_id"]})
    return is_unused


def _is_in_use(runtime: Runtime, row: Waste) -> bool:
    holder = {"$elemMatch": {"blob": row["_id"], "gone": {"$exists": False}}}
    in_use = {"_id": row["asset"], "versions": holder}
    return ASSETS.of(runtime.database).find_one(in_use, {"_id": 1}) is not None
