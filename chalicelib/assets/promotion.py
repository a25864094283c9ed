"""Moving an owner's assets to another store while they are read.

Each version is copied to a new blob, read back and compared by its SHA-256, and one transaction
makes the version name it. A reader may be in the old blob, so that goes 15 minutes later. The new
blob is noted as waste before its first byte: a worker that is killed leaves nothing for ever.
"""

from datetime import timedelta
from typing import ClassVar

from pymongo.client_session import ClientSession

from chalicelib.assets import catalogue
from chalicelib.assets.blobs import BlobGone, Blobs, hash_of, pieces, store_of, write
from chalicelib.assets.shapes import (
    ASSETS,
    LIBRARIES,
    UPLOADS,
    WASTE,
    Asset,
    Library,
    StoreName,
    Version,
    Waste,
)
from chalicelib.database import Document, in_transaction
from chalicelib.ids import new_id
from chalicelib.jobs import resending
from chalicelib.jobs.resending import Resending
from chalicelib.messaging import Message
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# Longer than a worker runs.
_WRITTEN_BY = timedelta(hours=1)
_RESENDING = Resending(at="due")


class MoveAssets(Message):
    """Move assets of an owner to the store that the owner has chosen."""

    queue: ClassVar[str] = "assets"
    owner: str


def choose(runtime: Runtime, owner: str, store: StoreName) -> Library:
    """Make a store the one of an owner's assets, and have a worker move those that there are.

    Raises StoreUnavailable.
    """
    store_of(runtime, store)
    due = runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)
    chosen: Library = {"_id": owner, "store": store, "due": due}
    LIBRARIES.of(runtime.database).replace_one({"_id": owner}, chosen, upsert=True)
    runtime.queues.send(MoveAssets(owner=owner))
    return chosen


def move_wanted(runtime: Runtime, owner: str) -> None:
    """Move versions that are in another store than the chosen one.

    After ten minutes the rest is left to another run, which the schedule sends for.
    """
    library = catalogue.library_of(runtime.database, owner)
    if library["due"] is None:
        return
    until = runtime.now() + timedelta(seconds=runtime.bounds.assets.move_seconds)
    target = store_of(runtime, library["store"])
    for asset in ASSETS.of(runtime.database).find(_elsewhere(owner, target)):
        for version in asset["versions"]:
            if version["store"] == target.name or version["length"] > target.max_bytes:
                continue
            if runtime.now() >= until:
                return
            _move(runtime, asset, version, target)
            _note_progress(runtime, library)
    _end(runtime, library, target)


def resend_wanted(runtime: Runtime) -> None:
    """Send messages again for moves that are not finished."""
    resending.sweep(
        runtime,
        LIBRARIES.of(runtime.database),
        _RESENDING,
        lambda rows: (MoveAssets(owner=row["_id"]) for row in rows),
    )


def _elsewhere(owner: str, target: Blobs) -> Document:
    other = {"store": {"$ne": target.name}, "length": {"$lte": target.max_bytes}}
    return {"owner": owner, "versions": {"$elemMatch": other}}


def _move(runtime: Runtime, asset: Asset, version: Version, target: Blobs) -> None:
    """Copy a version's blob and switch to it; a version that was deleted meanwhile stays so."""
    source, now = store_of(runtime, version["store"]), runtime.now()
    blob, length = new_id(now, runtime.random), version["length"]
    row: Waste = {
        "_id": blob,
        "store": target.name,
        "asset": asset["_id"],
        "due": now + _WRITTEN_BY,
    }
    WASTE.of(runtime.database).insert_one(row)
    try:
        write(target, blob, version["type"], pieces(source, version["blob"], length), length)
        copied = hash_of(pieces(target, blob, length))
    except BlobGone:
        return
    if copied != version["sha256"]:
        fields = {"asset": asset["_id"], "version": version["n"], "store": version["store"]}
        log.error("asset not moved: its copy is different", extra={"fields": fields})
        return

    def switch(session: ClientSession) -> None:
        _switch(runtime, session, asset["_id"], version, row)

    in_transaction(runtime.database, switch)


def _switch(
    runtime: Runtime, session: ClientSession, asset_id: str, version: Version, new: Waste
) -> None:
    """Make a version name its new blob, unless it names another than it did."""
    here = {
        "_id": asset_id,
        "versions": {"$elemMatch": {"n": version["n"], "blob": version["blob"]}},
    }
    named = {"versions.$.blob": new["_id"], "versions.$.store": new["store"]}
    done = ASSETS.of(runtime.database).update_one(here, {"$set": named}, session=session)
    if done.matched_count:
        rows = WASTE.of(runtime.database)
        rows.delete_one({"_id": new["_id"]}, session=session)
        old = catalogue.waste(asset_id, version, runtime.now() + catalogue.GRACE)
        rows.insert_one(old, session=session)


def _note_progress(runtime: Runtime, library: Library) -> None:
    """Keep the sweep from sending the message again for another lease."""
    due = runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)
    mine = {"_id": library["_id"], "store": library["store"], "due": {"$ne": None}}
    LIBRARIES.of(runtime.database).update_one(mine, {"$set": {"due": due, "resends": 0}})


def _end(runtime: Runtime, library: Library, target: Blobs) -> None:
    """Mark the move as finished, unless an upload to the former store can still be finished.

    Uploads are asked for first: one that is finished in between is found among the assets.
    """
    owner, database = library["_id"], runtime.database
    begun = {
        "owner": owner,
        "finished": None,
        "store": {"$ne": target.name},
        "expires_at": {"$gt": runtime.now() - catalogue.GRACE},
    }
    if UPLOADS.of(database).find_one(begun) or ASSETS.of(database).find_one(
        _elsewhere(owner, target)
    ):
        return
    mine = {"_id": owner, "store": library["store"]}
    LIBRARIES.of(database).update_one(mine, {"$set": {"due": None}})
