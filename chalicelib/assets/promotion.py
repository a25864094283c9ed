"""Moves of an owner's assets to another store, while readers read them.

The worker copies each version to a new blob, reads the copy back and compares the SHA-256. Then one
transaction switches the version to the new blob. Calls may still read the old blob, so a sweep
removes it 15 minutes later. A waste row names the new blob before its first byte, so that the sweep
also removes the copy of a killed worker.
"""

from datetime import timedelta
from typing import ClassVar

from pymongo.client_session import ClientSession

from chalicelib.assets import catalogue
from chalicelib.assets.blobs import BlobGone, Blobs, hash_of, most_bytes, pieces, store_of, write
from chalicelib.assets.kinds import IMAGES
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
from chalicelib.jobs.resending import Resending, lease_end
from chalicelib.messaging import Message
from chalicelib.observability.logs import log
from chalicelib.runtime import LONGEST_RUN, Runtime

# The time until an unused copy is waste: longer than a worker runs.
_WRITTEN_BY = timedelta(hours=1)
_RESENDING = Resending(at="due")


class MoveAssets(Message):
    """Move assets of an owner to the store that the owner has chosen."""

    queue: ClassVar[str] = "assets"
    owner: str


def choose(runtime: Runtime, owner: str, store: StoreName) -> None:
    """Choose the store of an owner's assets, and have a worker move the existing assets.

    Raises StoreUnavailable.
    """
    store_of(runtime, store)
    change = {
        "$set": {"store": store, "due": lease_end(runtime)},
        "$unset": {"resends": "", "resent_by": ""},
    }
    LIBRARIES.of(runtime.database).update_one({"_id": owner}, change, upsert=True)
    runtime.queues.send(MoveAssets(owner=owner))


def move_pending(runtime: Runtime, owner: str) -> None:
    """Move an owner's versions to the chosen store; do nothing without an unfinished move.

    After `move_seconds`, stop: the schedule sends another message for the other versions.
    """
    library = catalogue.library_of(runtime.database, owner)
    if library["due"] is None:
        return
    until = runtime.now() + timedelta(seconds=runtime.bounds.assets.move_seconds)
    target = store_of(runtime, library["store"])
    for asset in ASSETS.of(runtime.database).find(_elsewhere(owner, target)):
        for version in asset["versions"]:
            most = most_bytes(target, version["type"])
            if "gone" in version or version["store"] == target.name or version["length"] > most:
                continue
            if runtime.now() >= until:
                return
            if not _move(runtime, library, asset, version, target):
                return
    _end(runtime, library, target)


def resend_pending(runtime: Runtime) -> None:
    """Send the messages of unfinished moves again."""
    resending.sweep(
        runtime,
        LIBRARIES.of(runtime.database),
        _RESENDING,
        lambda rows: (MoveAssets(owner=row["_id"]) for row in rows),
    )


def _elsewhere(owner: str, target: Blobs) -> Document:
    """Return the filter of assets with a version that fits into the target but is elsewhere."""
    limits = [
        {"type": {"$in": IMAGES}, "length": {"$lte": target.max_picture_bytes}},
        {"type": {"$nin": IMAGES}, "length": {"$lte": target.max_bytes}},
    ]
    other = {"store": {"$ne": target.name}, "gone": {"$exists": False}, "$or": limits}
    return {"owner": owner, "versions": {"$elemMatch": other}}


def _move(
    runtime: Runtime, library: Library, asset: Asset, version: Version, target: Blobs
) -> bool:
    """Copy a version's blob, and switch the version to the copy unless it changed meanwhile.

    Return False if the move has ended, or the owner has chosen another store.
    """
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
        return _goes_on(runtime, library)
    if copied != version["sha256"]:
        fields = {"asset": asset["_id"], "version": version["n"], "store": version["store"]}
        log.error("asset not moved: its copy is different", extra={"fields": fields})
        return _goes_on(runtime, library)

    def switch(session: ClientSession) -> bool:
        goes_on = _note_progress(runtime, library, session)
        if goes_on:
            _switch(runtime, session, asset["_id"], version, row)
        return goes_on

    return in_transaction(runtime.database, switch)


def _switch(
    runtime: Runtime, session: ClientSession, asset_id: str, version: Version, new: Waste
) -> None:
    """Make a version name its new blob, unless it was changed or removed meanwhile."""
    here = {
        "_id": asset_id,
        "versions": {
            "$elemMatch": {
                "n": version["n"],
                "blob": version["blob"],
                "gone": {"$exists": False},
            }
        },
    }
    named = {"versions.$.blob": new["_id"], "versions.$.store": new["store"]}
    done = ASSETS.of(runtime.database).update_one(here, {"$set": named}, session=session)
    if done.matched_count:
        rows = WASTE.of(runtime.database)
        rows.delete_one({"_id": new["_id"]}, session=session)
        old = catalogue.waste(asset_id, version, runtime.now() + LONGEST_RUN)
        rows.insert_one(old, session=session)


def _under_way(library: Library) -> Document:
    """Return the filter that matches a library while its move to this store is unfinished."""
    return {"_id": library["_id"], "store": library["store"], "due": {"$ne": None}}


def _goes_on(runtime: Runtime, library: Library) -> bool:
    """Return whether a move goes on. Notes no progress, so the pauses between its runs grow."""
    mine = _under_way(library)
    return LIBRARIES.of(runtime.database).find_one(mine, {"_id": 1}) is not None


def _note_progress(
    runtime: Runtime, library: Library, session: ClientSession | None = None
) -> bool:
    """Postpone the next message of the sweep by a lease, and reset the number of resends.

    Return False if the move has ended, or the owner has chosen another store.
    """
    mine = _under_way(library)
    progress = {"$set": {"due": lease_end(runtime), "resends": 0}}
    noted = LIBRARIES.of(runtime.database).update_one(mine, progress, session=session)
    return noted.matched_count == 1


def _end(runtime: Runtime, library: Library, target: Blobs) -> None:
    """End the move, unless another store has a version to move, or an upload that may finish.

    Read the uploads first: otherwise both reads miss an upload that finishes between them.
    """
    owner, database = library["_id"], runtime.database
    begun = {
        "owner": owner,
        "finished": None,
        "store": {"$ne": target.name},
        "expires_at": {"$gt": runtime.now() - LONGEST_RUN},
    }
    if UPLOADS.of(database).find_one(begun) or ASSETS.of(database).find_one(
        _elsewhere(owner, target)
    ):
        return
    mine = {"_id": owner, "store": library["store"]}
    LIBRARIES.of(database).update_one(mine, {"$set": {"due": None}})
