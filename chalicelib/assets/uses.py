"""The uses of assets by other features: the right to show an asset, and the count of its uses.

A feature stores `asset:<id>`, counts the use in the same transaction, and answers with the asset's
address. An asset with uses cannot be deleted.
"""

from collections.abc import Iterable

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.assets import catalogue
from chalicelib.assets.errors import UnknownAsset
from chalicelib.assets.kinds import IMAGES
from chalicelib.assets.shapes import ASSETS, Asset, is_of_site, owner_of_person
from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.sites.permissions import edits


def check_pictures(database: Database[Document], asset_ids: Iterable[str], by: Principal) -> None:
    """Raise UnknownAsset unless each is a picture of the caller, or of a site the caller edits."""
    for asset_id in asset_ids:
        asset = catalogue.find(database, asset_id)
        if asset["owner"] != owner_of_person(by.id) and not _edits_site_of(asset, by):
            raise UnknownAsset
        _check_picture(asset)


def check_of_sites(
    database: Database[Document], asset_ids: frozenset[str], pictures: frozenset[str], by: Principal
) -> None:
    """Raise UnknownAsset unless each belongs to a site that the caller writes for.

    The assets in `pictures` must be pictures, too.
    """
    for asset_id in sorted(asset_ids):
        asset = catalogue.find(database, asset_id)
        if not _edits_site_of(asset, by):
            raise UnknownAsset
        catalogue.stored_version_of(asset, asset["current"])
        if asset_id in pictures:
            _check_picture(asset)


def find_missing(database: Database[Document], asset_ids: Iterable[str]) -> list[str]:
    """Return the ids of assets that are deleted, or have no version left."""
    wanted = sorted(asset_ids)
    found = ASSETS.of(database).find({"_id": {"$in": wanted}}) if wanted else ()
    shown = {asset["_id"] for asset in found if catalogue.has_bytes(asset)}
    return [each for each in wanted if each not in shown]


def use(database: Database[Document], session: ClientSession, asset_ids: Iterable[str]) -> None:
    """Count one more use of each asset; raises UnknownAsset after a deletion meanwhile."""
    for asset_id in asset_ids:
        used = {"$inc": {"used_by": 1}}
        if (
            not ASSETS.of(database)
            .update_one({"_id": asset_id}, used, session=session)
            .matched_count
        ):
            raise UnknownAsset


def release(database: Database[Document], session: ClientSession, asset_ids: Iterable[str]) -> None:
    """Count one use less of each asset; skips assets that an erasure has deleted."""
    for asset_id in asset_ids:
        held = {"_id": asset_id, "used_by": {"$gt": 0}}
        ASSETS.of(database).update_one(held, {"$inc": {"used_by": -1}}, session=session)


def _edits_site_of(asset: Asset, by: Principal) -> bool:
    # An admin writes for every site, and for no person.
    return is_of_site(asset["owner"]) and edits(by, asset["owner"])


def _check_picture(asset: Asset) -> None:
    if catalogue.stored_version_of(asset, asset["current"])["type"] not in IMAGES:
        raise UnknownAsset("This asset is no picture")
