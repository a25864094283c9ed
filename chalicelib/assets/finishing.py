"""The end of an upload: its bytes are checked, and become a version."""

from typing import NamedTuple

from pymongo.client_session import ClientSession

from chalicelib.assets import catalogue, images, kinds
from chalicelib.assets.blobs import BlobGone, Blobs, hash_of, pieces, write
from chalicelib.assets.errors import (
    PartsMissing,
    TooManyVersions,
    UnknownAsset,
    UnknownUpload,
    WrongContent,
)
from chalicelib.assets.shapes import (
    ASSETS,
    MAX_VERSIONS,
    UPLOADS,
    WASTE,
    Asset,
    Upload,
    Version,
)
from chalicelib.runtime import Runtime

# It is in memory twice, in a function that has 512 MB.
MOST_STRIPPED_BYTES = 64 * 1024 * 1024


class Content(NamedTuple):
    """What a version is going to hold: a blob, and what its bytes say."""

    blob: str
    type: str
    length: int
    sha256: str
    size: images.Size | None


def content_of(blobs: Blobs, upload: Upload) -> Content:
    """Finish the blob, without its metadata if it is to be stripped, and look at its bytes.

    Raises WrongContent, UnreadableImage, and PartsMissing if a sweep was faster.
    """
    blob, length = upload["_id"], upload["length"]
    try:
        blobs.finish(blob, upload["handle"], length)
        head = blobs.read(blob, 0, min(length, kinds.HEAD_BYTES))
        media_type = _type_of(head, upload["type"])
        if upload["clean"] is not None and media_type == "image/jpeg":
            return _stripped(blobs, upload, upload["clean"])
        if blobs.is_checked(length) and hash_of(pieces(blobs, blob, length)) != upload["sha256"]:
            raise WrongContent("Their SHA-256 is another one")
    except BlobGone:
        raise PartsMissing from None
    size = images.size_of(head) if media_type in kinds.IMAGES else None
    return Content(blob, media_type, length, upload["sha256"], size)


def _type_of(head: bytes, claimed: str) -> str:
    """Return the type of a file's first bytes; raises WrongContent for a claim of another."""
    found = kinds.sniffed(head)
    if found != (claimed if kinds.is_shown(claimed) else kinds.ANY):
        raise WrongContent(f"Their type is {found}")
    return found


def _stripped(blobs: Blobs, upload: Upload, clean: str) -> Content:
    """Write a JPEG without its metadata to a blob of its own, the same by every attempt."""
    raw = b"".join(pieces(blobs, upload["_id"], upload["length"]))
    if hash_of([raw]) != upload["sha256"]:
        raise WrongContent("Their SHA-256 is another one")
    jpeg = images.stripped(raw)
    size = images.size_of(jpeg[: kinds.HEAD_BYTES])
    write(blobs, clean, "image/jpeg", [jpeg], len(jpeg))
    return Content(clean, "image/jpeg", len(jpeg), hash_of([jpeg]), size)


def publish(runtime: Runtime, session: ClientSession, upload: Upload, content: Content) -> Asset:
    """Make the content the current version, unless another call has; return the asset.

    Raises UnknownUpload, UnknownAsset and TooManyVersions.
    """
    assets, uploads = ASSETS.of(runtime.database), UPLOADS.of(runtime.database)
    noted = uploads.find_one({"_id": upload["_id"]}, session=session)
    if noted is None:
        raise UnknownUpload
    asset = assets.find_one({"_id": upload["asset"]}, session=session)
    if noted["finished"] is not None and asset is not None:
        return asset
    if noted["finished"] is not None or (asset is None and upload["name"] is None):
        raise UnknownAsset
    asset = _with(runtime, upload, asset, _version(runtime, upload, content, asset))
    assets.replace_one({"_id": asset["_id"]}, asset, upsert=True, session=session)
    done = {"$set": {"finished": asset["current"]}}
    uploads.update_one({"_id": upload["_id"]}, done, session=session)
    if content.blob != upload["_id"]:
        # What was sent, with all that the picture has lost.
        WASTE.of(runtime.database).insert_one(
            {
                "_id": upload["_id"],
                "store": upload["store"],
                "asset": asset["_id"],
                "due": runtime.now() + catalogue.GRACE,
            },
            session=session,
        )
    return asset


def _version(runtime: Runtime, upload: Upload, content: Content, asset: Asset | None) -> Version:
    number = len(asset["versions"]) + 1 if asset else 1
    if number > MAX_VERSIONS:
        raise TooManyVersions
    version: Version = {
        "n": number,
        "blob": content.blob,
        "store": upload["store"],
        "type": content.type,
        "length": content.length,
        "sha256": content.sha256,
        "at": runtime.now(),
        "by": upload["by"],
    }
    if content.size is not None:
        version["width"], version["height"] = content.size
    return version


def _with(runtime: Runtime, upload: Upload, asset: Asset | None, version: Version) -> Asset:
    """Return an asset, or a new one, with a version more."""
    if asset is not None:
        return {**asset, "current": version["n"], "versions": [*asset["versions"], version]}
    return {
        "_id": upload["asset"],
        "owner": upload["owner"],
        "name": upload["name"] or "",
        "current": version["n"],
        "versions": [version],
        "used_by": 0,
        "made": runtime.now(),
    }
