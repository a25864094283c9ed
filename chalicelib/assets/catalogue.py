"""The assets of an owner: finding, listing and deleting them."""

from datetime import datetime, timedelta

from bson.datetime_ms import DatetimeMS
from pymongo import ASCENDING, DESCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.assets import quotas
from chalicelib.assets.errors import AssetInUse, UnknownAsset
from chalicelib.assets.forms import AssetsAnswer, asset_answer
from chalicelib.assets.shapes import (
    ASSETS,
    DEFAULT_STORE,
    LIBRARIES,
    WASTE,
    Asset,
    Library,
    Version,
    Waste,
)
from chalicelib.database import Document, in_transaction
from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors, page_of
from chalicelib.runtime import Runtime

# The longest read of a blob that no version has any more: no function runs longer.
GRACE = timedelta(minutes=15)


def find(database: Database[Document], asset_id: str, owner: str | None = None) -> Asset:
    """Return an asset, with `owner` only of this owner; raises UnknownAsset."""
    found = ASSETS.of(database).find_one({"_id": asset_id})
    if found is None or owner not in {None, found["owner"]}:
        raise UnknownAsset
    return found


def version_of(asset: Asset, number: int) -> Version:
    """Return a version by its number; raises UnknownAsset."""
    if not 1 <= number <= len(asset["versions"]):
        raise UnknownAsset
    return asset["versions"][number - 1]


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
        due = runtime.now() + GRACE
        rows = [waste(asset_id, version, due) for version in asset["versions"]]
        WASTE.of(runtime.database).insert_many(rows, session=session)

    in_transaction(runtime.database, remove)


def waste(asset_id: str, version: Version, due: datetime) -> Waste:
    """Return the row that has a version's blob removed when no reader can be in it."""
    return {"_id": version["blob"], "store": version["store"], "asset": asset_id, "due": due}


def library_of(database: Database[Document], owner: str) -> Library:
    """Return an owner's library: the store of its assets, and a move to it."""
    found = LIBRARIES.of(database).find_one({"_id": owner})
    return found or {"_id": owner, "store": DEFAULT_STORE, "due": None}
