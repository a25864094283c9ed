"""Assets after a restore: versions whose bytes are gone, and files that belong to nothing."""

from collections.abc import Iterator
from typing import NamedTuple

from chalicelib.assets import catalogue
from chalicelib.assets.blobs import BlobGone, store_of
from chalicelib.assets.errors import AssetInUse, UnknownAsset
from chalicelib.assets.shapes import ASSETS, UPLOADS, WASTE, Asset, Version, owner_of_person
from chalicelib.comments.transfers.rows import TRANSFERS
from chalicelib.runtime import LONGEST_RUN, Runtime
from deploy.replay import Deletion, Removal, Replay


class Deleted(NamedTuple):
    """The assets that are deleted again, and the assets that something still shows."""

    deleted: list[str]
    in_use: list[str]


class BucketLacksMost(Exception):
    """The bucket lacks most files of assets: the settings may name that of another deployment."""

    def __init__(self, missing: int, named: int) -> None:
        super().__init__(f"the bucket lacks {missing} of {named} files of assets")


def check_stores(runtime: Runtime, replay: Replay, *, accepts_losses: bool) -> None:
    """Raise StoreUnavailable if the settings lack a store that has assets.

    Raises BucketLacksMost if the bucket lacks over half of the files that no call of the log
    removed, unless the operator accepts that.
    """
    named = list[str]()
    for asset in ASSETS.of(runtime.database).find():
        for version in _present(asset):
            store_of(runtime, version["store"])
            if version["store"] == "s3" and not _is_removed(replay, asset, version):
                named.append(version["blob"])
    if not named or accepts_losses:
        return
    stored = set(store_of(runtime, "s3").names())
    missing = sum(blob not in stored for blob in named)
    if 2 * missing > len(named):
        raise BucketLacksMost(missing, len(named))


def delete_again(runtime: Runtime, replay: Replay) -> Deleted:
    """Delete the assets that were deleted after the point."""
    assets = Deleted([], [])
    for owner, asset in sorted(replay.deletions):
        try:
            catalogue.delete(runtime, owner, asset)
        except UnknownAsset:
            continue
        except AssetInUse:
            assets.in_use.append(asset)
        else:
            assets.deleted.append(asset)
    return assets


def take_down(runtime: Runtime, removal: Removal) -> bool:
    """Remove a version; return False if there is none."""
    try:
        catalogue.take_down(runtime, *removal)
    except UnknownAsset:
        return False
    return True


def missing_versions(runtime: Runtime) -> Iterator[Removal]:
    """Yield the versions whose store no longer has their bytes."""
    for asset in ASSETS.of(runtime.database).find().sort("_id"):
        for version in _present(asset):
            if not _is_stored(runtime, version):
                yield Removal(asset["owner"], asset["_id"], version["n"])


def waste_unnamed_blobs(runtime: Runtime) -> list[str] | None:
    """Schedule the removal of blobs without a reference; return their names. None: no bucket."""
    if not runtime.settings.asset_bucket:
        return None
    stored = list(store_of(runtime, "s3").names())
    # Read names after the listing, so that a new blob does not count as unnamed.
    named, rows = _named_blobs(runtime), WASTE.of(runtime.database)
    unnamed = [blob for blob in stored if blob not in named]
    for blob in unnamed:
        row = {"store": "s3", "asset": "", "due": runtime.now() + LONGEST_RUN}
        rows.update_one({"_id": blob}, {"$setOnInsert": row}, upsert=True)
    # A worker that moves a library may have named one in between. A later one removes the row.
    named = _named_blobs(runtime)
    rows.delete_many({"_id": {"$in": [blob for blob in unnamed if blob in named]}, "asset": ""})
    return [blob for blob in unnamed if blob not in named]


def _present(asset: Asset) -> Iterator[Version]:
    return (version for version in asset["versions"] if "gone" not in version)


def _is_removed(replay: Replay, asset: Asset, version: Version) -> bool:
    """Return whether a call of the log removed a version, its asset or its owner."""
    owner, name = asset["owner"], asset["_id"]
    return (
        Removal(owner, name, version["n"]) in replay.removals
        or Deletion(owner, name) in replay.deletions
        or owner in map(owner_of_person, replay.erasures)
    )


def _is_stored(runtime: Runtime, version: Version) -> bool:
    last = max(version["length"] - 1, 0)
    try:
        store_of(runtime, version["store"]).read(version["blob"], last, version["length"])
    except BlobGone:
        return False
    return True


def _named_blobs(runtime: Runtime) -> set[str]:
    database = runtime.database
    named = {each["blob"] for asset in ASSETS.of(database).find() for each in asset["versions"]}
    for upload in UPLOADS.of(database).find():
        named |= {upload["_id"], upload["clean"] or upload["_id"]}
    for transfer in TRANSFERS.of(database).find({}, {"files": 1}):
        named |= {file["blob"] for file in transfer["files"]}
    return named
