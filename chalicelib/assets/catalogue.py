"""The assets of an owner: finding, listing and deleting them."""

from datetime import datetime

from bson.datetime_ms import DatetimeMS
from pymongo import ASCENDING, DESCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.assets import kinds, quotas
from chalicelib.assets.errors import AssetInUse, UnknownAsset
from chalicelib.assets.forms import AssetsAnswer, asset_answer
from chalicelib.assets.shapes import (
    ASSETS,
    DEFAULT_STORE,
    LIBRARIES,
    UPLOADS,
    WASTE,
    Asset,
    Library,
    Upload,
    Version,
    Waste,
)
from chalicelib.database import Document, in_transaction
from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors, page_of
from chalicelib.runtime import LONGEST_RUN, Runtime


def find(database: Database[Document], asset_id: str, owner: str | None = None) -> Asset:
    """Return an asset; raises UnknownAsset, with `owner` also for an asset of another owner."""
    found = ASSETS.of(database).find_one({"_id": asset_id})
    if found is None or owner not in {None, found["owner"]}:
        raise UnknownAsset
    return found


def version_of(asset: Asset, number: int) -> Version:
    """Return a version by its number, also after its removal; raises UnknownAsset."""
    if not 1 <= number <= len(asset["versions"]):
        raise UnknownAsset
    return asset["versions"][number - 1]


def stored_version_of(asset: Asset, number: int) -> Version:
    """Return a version with bytes; raises UnknownAsset, also after its removal."""
    version = version_of(asset, number)
    if "gone" in version:
        raise UnknownAsset("This version was removed")
    return version


def has_bytes(asset: Asset) -> bool:
    """Return whether the current version of an asset still has its bytes."""
    return "gone" not in asset["versions"][asset["current"] - 1]


def page(runtime: Runtime, owner: str, query: PageQuery) -> AssetsAnswer:
    """Return a page of an owner's assets, newest first."""
    cursors = Cursors(f"assets:{owner}", runtime.settings.signing_keys)
    ranges: list[Document] = [{}]
    if after := cursors.position(query):
        made, last_id = DatetimeMS(after[0]), after[1]
        ranges = [{"made": {"$lt": made}}, {"made": made, "_id": {"$gt": last_id}}]
    where = {"$or": [{"owner": owner, **part} for part in ranges]}
    rows = ASSETS.of(runtime.database).find(where)
    rows = rows.sort([("made", DESCENDING), ("_id", ASCENDING)]).limit(query.limit + 1)
    shown, last = page_of(list(rows), query.limit)
    position = [int(DatetimeMS(last["made"])), last["_id"]] if last else None
    base = runtime.settings.public_url
    return {
        "assets": [asset_answer(base, asset) for asset in shown],
        "storage": quotas.answer(runtime, owner),
        "next": cursors.following(position),
    }


def delete(runtime: Runtime, owner: str, asset_id: str) -> None:
    """Delete an asset that nothing uses; raises UnknownAsset or AssetInUse."""

    def remove(session: ClientSession) -> None:
        asset = ASSETS.of(runtime.database).find_one({"_id": asset_id}, session=session)
        if asset is None or asset["owner"] != owner:
            raise UnknownAsset
        if asset["used_by"]:
            raise AssetInUse(f"Things that show it: {asset['used_by']}")
        quotas.change(runtime, session, owner, -quotas.length_of(asset["versions"]))
        ASSETS.of(runtime.database).delete_one({"_id": asset_id}, session=session)
        due = runtime.now() + LONGEST_RUN
        rows = wastes(asset, due)
        if rows:
            WASTE.of(runtime.database).insert_many(rows, session=session)

    in_transaction(runtime.database, remove)


def take_down(runtime: Runtime, owner: str, asset_id: str, number: int) -> None:
    """Remove a version for good, also while things show the asset; raises UnknownAsset.

    If the version was current, the asset then shows its newest other version of the same kind, or
    nothing. The next run of the schedule deletes the bytes, even in the middle of a download.
    """

    def remove(session: ClientSession) -> None:
        asset = ASSETS.of(runtime.database).find_one({"_id": asset_id}, session=session)
        if asset is None or asset["owner"] != owner:
            raise UnknownAsset
        version = version_of(asset, number)
        if "gone" in version:
            return
        quotas.change(runtime, session, owner, -version["length"])
        now = runtime.now()
        change = {f"versions.{number - 1}.gone": now, "current": _current_without(asset, version)}
        ASSETS.of(runtime.database).update_one({"_id": asset_id}, {"$set": change}, session=session)
        WASTE.of(runtime.database).insert_one(waste(asset_id, version, now), session=session)

    in_transaction(runtime.database, remove)


def _current_without(asset: Asset, removed: Version) -> int:
    """Return the number of the version that an asset shows after a removal."""
    if asset["current"] != removed["n"]:
        return asset["current"]
    kind = kinds.kind_of(removed["type"])
    others = (
        each["n"]
        for each in asset["versions"]
        if each["n"] != removed["n"] and "gone" not in each and kinds.kind_of(each["type"]) == kind
    )
    return max(others, default=removed["n"])


def waste(asset_id: str, version: Version, due: datetime) -> Waste:
    """Return the row that makes the schedule remove a version's blob after `due`."""
    return {"_id": version["blob"], "store": version["store"], "asset": asset_id, "due": due}


def waste_upload(
    database: Database[Document],
    upload: Upload,
    due: datetime,
    session: ClientSession | None = None,
) -> None:
    """Make the blobs of an upload waste, for removal at `due`."""
    rows, row = WASTE.of(database), {"store": upload["store"], "asset": upload["asset"], "due": due}
    for blob in (upload["_id"], upload["clean"]):
        if blob is not None:
            rows.update_one({"_id": blob}, {"$set": row}, upsert=True, session=session)


def wastes(asset: Asset, due: datetime) -> list[Waste]:
    """Return the rows for all blobs of an asset; a removed version has its row already."""
    return [waste(asset["_id"], each, due) for each in asset["versions"] if "gone" not in each]


def unfinished_filter(owner: str, now: datetime) -> Document:
    """Return the filter of an owner's uploads that may still finish."""
    return {"owner": owner, "finished": None, "refused": None, "expires_at": {"$gt": now}}


def delete_upload(database: Database[Document], upload: Upload, due: datetime) -> None:
    """Delete an upload; the blobs of an unfinished upload become waste, for removal at `due`.

    The upload may finish meanwhile: then its blobs are a version's.
    """

    def remove(session: ClientSession) -> None:
        this = {"_id": upload["_id"]}
        removed = UPLOADS.of(database).find_one_and_delete(this, session=session)
        if removed is not None and removed["finished"] is None:
            waste_upload(database, removed, due, session)

    in_transaction(database, remove)


def library_of(database: Database[Document], owner: str) -> Library:
    """Return an owner's library; if none is stored: the store `gridfs`, and no move."""
    found = LIBRARIES.of(database).find_one({"_id": owner})
    return found or {"_id": owner, "store": DEFAULT_STORE, "due": None}
