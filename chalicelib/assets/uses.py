"""What other features know of assets: which ones a person may show, and what shows them.

A feature stores `asset:<id>`, counts it in the transaction that stores it, and answers with the
asset's address. While an asset is counted, it cannot be deleted.
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
    """Raise UnknownAsset unless each is a picture that is the caller's own, or of their sites."""
    for asset_id in asset_ids:
        asset = catalogue.find(database, asset_id)
        if asset["owner"] != owner_of_person(by.id) and not edits(by, asset["owner"]):
            raise UnknownAsset
        _check_picture(asset)


def check_of_sites(
    database: Database[Document], asset_ids: frozenset[str], pictures: frozenset[str], by: Principal
) -> None:
    """Raise UnknownAsset unless each is of a site that the caller writes for.

    Those of `pictures` must be pictures, too.
    """
    for asset_id in sorted(asset_ids):
        asset = catalogue.find(database, asset_id)
        # An admin writes for every site, and for no person.
        if not is_of_site(asset["owner"]) or not edits(by, asset["owner"]):
            raise UnknownAsset
        if asset_id in pictures:
            _check_picture(asset)


def use(database: Database[Document], session: ClientSession, asset_ids: Iterable[str]) -> None:
    """Count one more use of each asset; raises UnknownAsset for one that was deleted meanwhile."""
    for asset_id in asset_ids:
        used = {"$inc": {"used_by": 1}}
        if (
            not ASSETS.of(database)
            .update_one({"_id": asset_id}, used, session=session)
            .matched_count
        ):
            raise UnknownAsset


def release(database: Database[Document], session: ClientSession, asset_ids: Iterable[str]) -> None:
    """Count one use less of each asset; one that an erasure has deleted is passed over."""
    for asset_id in asset_ids:
        held = {"_id": asset_id, "used_by": {"$gt": 0}}
        ASSETS.of(database).update_one(held, {"$inc": {"used_by": -1}}, session=session)


def _check_picture(asset: Asset) -> None:
    if catalogue.version_of(asset, asset["current"])["type"] not in IMAGES:
        raise UnknownAsset("This asset is no picture")
