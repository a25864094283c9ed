"""Removal of unreachable data: unfinished uploads, and blobs without a version."""

from chalicelib.assets import catalogue
from chalicelib.assets.blobs import store_of
from chalicelib.assets.shapes import ASSETS, UPLOADS, WASTE, Upload
from chalicelib.runtime import Runtime


def sweep_uploads(runtime: Runtime) -> int:
    """Remove uploads some time after their end, with the blobs of unfinished uploads.

    Return the number of removed uploads. All calls that found an upload open have ended by then,
    so no write follows the removal.
    """
    rows = UPLOADS.of(runtime.database)
    ended = {"expires_at": {"$lte": runtime.now() - catalogue.GRACE}}
    removed = 0
    for upload in rows.find(ended).sort("expires_at").limit(runtime.bounds.assets.swept_at_once):
        if upload["finished"] is None:
            _drop(runtime, upload)
        rows.delete_one({"_id": upload["_id"]})
        removed += 1
    return removed


def _drop(runtime: Runtime, upload: Upload) -> None:
    blobs = store_of(runtime, upload["store"])
    blobs.drop(upload["_id"])
    if upload["clean"] is not None:
        blobs.drop(upload["clean"])


def sweep_waste(runtime: Runtime) -> int:
    """Remove due blobs that no version has; return their number."""
    rows = WASTE.of(runtime.database)
    due = {"due": {"$lte": runtime.now()}}
    removed = 0
    for row in rows.find(due).sort("due").limit(runtime.bounds.assets.swept_at_once):
        holder = {"$elemMatch": {"blob": row["_id"], "gone": {"$exists": False}}}
        in_use = {"_id": row["asset"], "versions": holder}
        if ASSETS.of(runtime.database).find_one(in_use, {"_id": 1}) is None:
            store_of(runtime, row["store"]).drop(row["_id"])
            removed += 1
        rows.delete_one({"_id": row["_id"]})
    return removed
