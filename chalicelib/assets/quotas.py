"""Quotas: an owner's library counts the bytes of the owner's versions.

Each transaction that adds or removes versions changes the number, too. So two writers conflict on
the library, and together they stay within the quota. A library of a former release, or of an owner
without a version, has no number: the first change counts all versions.
"""

from collections.abc import Iterable
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.assets.errors import StorageFull
from chalicelib.assets.forms import LibraryAnswer, StorageAnswer
from chalicelib.assets.shapes import (
    ASSETS,
    DEFAULT_STORE,
    LIBRARIES,
    Library,
    Version,
    is_of_site,
)
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.settings import Settings

_MIB = 1024 * 1024


def limit_of(settings: Settings, owner: str) -> int:
    """Return an owner's quota in bytes."""
    mib = settings.site_assets_mib if is_of_site(owner) else settings.person_assets_mib
    return mib * _MIB


def length_of(versions: Iterable[Version]) -> int:
    """Return the sum of the bytes of versions, without removed versions."""
    return sum(each["length"] for each in versions if "gone" not in each)


def change(runtime: Runtime, session: ClientSession, owner: str, more: int) -> None:
    """Add `more` bytes to an owner's number, or subtract them if negative; raises StorageFull.

    Call it in the transaction of the versions, before they change. Only an addition raises.
    """
    libraries, limit = LIBRARIES.of(runtime.database), limit_of(runtime.settings, owner)
    counted = {"$lte": limit - more} if more > 0 else {"$exists": True}
    if libraries.update_one(
        {"_id": owner, "bytes": counted}, {"$inc": {"bytes": more}}, session=session
    ).matched_count:
        return
    library = libraries.find_one({"_id": owner}, session=session)
    held = count_bytes(runtime.database, owner, library, session)
    if more > 0:
        check_room(runtime.settings, owner, held, more)
    created = {"store": DEFAULT_STORE, "due": None}
    libraries.update_one(
        {"_id": owner},
        {"$set": {"bytes": held + more}, "$setOnInsert": created},
        upsert=True,
        session=session,
    )


def check_room(settings: Settings, owner: str, held: int, more: int) -> None:
    """Raise StorageFull unless `more` bytes fit into the quota beside the `held` bytes."""
    limit = limit_of(settings, owner)
    if held + more > limit:
        facts = {"bytes": held, "bytes_limit": limit, "bytes_more": more}
        raise StorageFull(f"{held} of {limit} bytes are in use", facts=facts)


def count_bytes(
    database: Database[Document],
    owner: str,
    library: Library | None,
    session: ClientSession | None = None,
) -> int:
    """Return the bytes of an owner's versions: the library's number, or else a sum over them."""
    if library is not None and "bytes" in library:
        return library["bytes"]
    counted: list[dict[str, Any]] = [
        {"$match": {"owner": owner}},
        {"$unwind": "$versions"},
        {"$match": {"versions.gone": {"$exists": False}}},
        {"$group": {"_id": None, "bytes": {"$sum": "$versions.length"}}},
    ]
    found = ASSETS.read_as(Document, database).aggregate(counted, session=session)
    return sum(each["bytes"] for each in found)


def answer(runtime: Runtime, owner: str, library: Library | None = None) -> StorageAnswer:
    """Return the API's form of an owner's bytes and their limit."""
    library = library or LIBRARIES.of(runtime.database).find_one({"_id": owner})
    return {
        "bytes": count_bytes(runtime.database, owner, library),
        "bytes_limit": limit_of(runtime.settings, owner),
    }


def library_answer(runtime: Runtime, library: Library) -> LibraryAnswer:
    """Return the API's form of a library."""
    return {
        "store": library["store"],
        "is_moving": library["due"] is not None,
        "storage": answer(runtime, library["_id"], library),
    }
